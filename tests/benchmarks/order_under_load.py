"""Whether `pippin benchmark` ranks solvers alike on an idle and on a loaded machine: `order_under_load.py [SOLVER...]`.

Each solver runs twice in turn, once as the machine is, and once beside as many busy processes as it has cores, so that
a drift of the machine meets both. In each problem, two solvers are compared at every error that both reach, by the
cheapest run of each that is no worse. Pairs whose costs differ by less than 1.5 times are ties, and do not count.
"""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from pippin_benchmark.benchmark import benchmark
from pippin_benchmark.result import BenchmarkRow

TIE = 1.5
"""Ratio of costs from which two solvers have an order."""


SOLVERS = ("featherstone", "mujoco-native", "semi-implicit", "steel", "vbd", "xpbd")
PROBLEMS, STEPS = ("driven-arm", "hanging-cloth", "large-pendulum", "sliding-block"), (0.005, 0.002)
"""What runs by default: cheap solvers and problems, as a run takes its time twice."""

SPIN = "import numpy as np\nvalues = np.ones(4_000_000)\nwhile True: values = np.sqrt(values + 1.0)"
"""A program that computes on more memory than a cache has, until it is ended."""


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep some processes busy."""
    processes = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def cost_at(rows: Sequence[BenchmarkRow], error: float) -> float | None:
    """Return the least cost [s] of runs with at most an error; None if there is none."""
    costs = [row.cost for row in rows if row.cost and row.error is not None and row.error <= error]
    return min(costs, default=None)


def ratios(idle: Sequence[BenchmarkRow], loaded: Sequence[BenchmarkRow]) -> list[tuple[float, float]]:
    """Return the costs of one solver by those of another at equal error: without and with the load."""
    found = []
    for problem in dict.fromkeys(row.problem for row in idle):
        by_name = [_by_name([row for row in rows if row.problem == problem]) for rows in (idle, loaded)]
        for one, other in itertools.combinations(sorted(by_name[0]), 2):
            errors = {row.error for name in (one, other) for row in by_name[0][name] if row.error is not None}
            for error in sorted(errors):
                costs = [cost_at(rows[name], error) for rows in by_name for name in (one, other)]
                if None not in costs:
                    found.append((costs[0] / costs[1], costs[2] / costs[3]))
    return found


def _by_name(rows: Sequence[BenchmarkRow]) -> dict[str, list[BenchmarkRow]]:
    return {name: [row for row in rows if row.name == name] for name in {row.name for row in rows}}


def kept(found: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """Return how many pairs with an order keep it, and how many have one."""
    ordered = [(first, second) for first, second in found if abs(math.log(first)) >= math.log(TIE)]
    return sum((first > 1.0) == (second > 1.0) for first, second in ordered), len(ordered)


def measured(solvers: Sequence[str], problems: Sequence[str], steps: Sequence[float]) -> list[tuple[float, float]]:
    """Return the ratios of all pairs of some solvers in some problems."""
    rows: tuple[list[BenchmarkRow], list[BenchmarkRow]] = ([], [])
    with tempfile.TemporaryDirectory() as folder:
        for solver in solvers:
            for own, count in zip(rows, (0, os.cpu_count() or 1), strict=True):
                with busy(count):
                    out = Path(folder, f"{solver}-{count}")
                    quick = {"is_quick": True, "worlds": [1], "patience": 1.0, "out": out}
                    own += benchmark([solver], problems, dt=steps, **quick).rows
    return ratios(*rows)


if __name__ == "__main__":
    results = measured(sys.argv[1:] or SOLVERS, PROBLEMS, STEPS)
    same, counted = kept(results)
    slower = np.median([abs(math.log(second / first)) for first, second in results])
    print(f"{same} of {counted} pairs with an order keep it; {len(results) - counted} pairs are ties")
    print(f"the ratio of two costs changes by {100 * (math.exp(slower) - 1):.0f} % in the median")
