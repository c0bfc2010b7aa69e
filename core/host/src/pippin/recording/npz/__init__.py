"""Recordings in npz files of NumPy."""
