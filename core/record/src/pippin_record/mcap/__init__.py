"""Recordings in MCAP, for robot tools."""
