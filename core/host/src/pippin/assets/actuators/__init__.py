"""Actuators of the assets themselves: those of MJCF files, and the actuator prims of USD."""
