"""Changes of the values of sensors before they are read: errors and latency."""
