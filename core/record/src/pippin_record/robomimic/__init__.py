"""Demonstrations in robomimic's layout of HDF5."""
