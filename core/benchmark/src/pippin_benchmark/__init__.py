"""Benchmarks of solvers: the error in scenes with a reference, against its cost."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .scene import BenchmarkScene, SceneMotion

__all__ = ["BenchmarkScene", "SceneMotion"]

__getattr__ = late(__name__, dict.fromkeys(__all__, ".scene"))
