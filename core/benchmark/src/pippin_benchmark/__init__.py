"""Benchmarks of solvers: the error in problems with a reference, against its cost; and comparisons on one file."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .comparison import Comparison, compare
    from .problem import BenchmarkProblem, ProblemMotion

__all__ = ["BenchmarkProblem", "Comparison", "ProblemMotion", "compare"]

__getattr__ = late(__name__)
