"""Recordings in HDF5."""
