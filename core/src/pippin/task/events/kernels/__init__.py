"""Kernels of events."""
