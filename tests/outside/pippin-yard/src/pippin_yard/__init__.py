"""Robots from SDF files, and a yard of rubble."""
