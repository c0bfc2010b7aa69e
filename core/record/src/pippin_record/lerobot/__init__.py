"""Datasets of LeRobot, format v3, written by pyarrow and PyAV."""
