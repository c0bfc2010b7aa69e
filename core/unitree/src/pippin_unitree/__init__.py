"""Robots of Unitree by their low-level topics: the settings."""
