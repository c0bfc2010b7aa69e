"""Benchmarks of solvers: the error in scenes with a reference, against its cost."""

from .scene import BenchmarkScene, Motion

__all__ = ["BenchmarkScene", "Motion"]
