"""Benchmarks of solvers: the error in scenes with a reference, against its cost; and comparisons on one file."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .comparison import Comparison
    from .run_compare import compare
    from .scene import BenchmarkScene, SceneMotion

__all__ = [
    "BenchmarkScene",
    "Comparison",
    "SceneMotion",
    "compare",
]

__getattr__ = late(
    __name__,
    {
        "BenchmarkScene": ".scene",
        "Comparison": ".comparison",
        "SceneMotion": ".scene",
        "compare": ".run_compare",
    },
)
