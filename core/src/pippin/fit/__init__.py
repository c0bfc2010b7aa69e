"""Parameters of a robot from its logs: `pippin fit`."""
