"""Recordings in formats of others: HDF5, MCAP, datasets of LeRobot and demonstrations of robomimic."""
