"""Recorders: what a run keeps, step by step."""
