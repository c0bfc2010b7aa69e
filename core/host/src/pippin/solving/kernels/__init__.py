"""Kernels of loops, of efforts of ball joints, and of joints in the columns of an engine."""
