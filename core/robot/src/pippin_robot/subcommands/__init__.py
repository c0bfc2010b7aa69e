"""The commands of robots."""
