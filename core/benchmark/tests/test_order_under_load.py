"""The order of solvers in a benchmark on a loaded machine, as `tests/benchmarks/order_under_load.py` measures it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from pippin_benchmark.result import BenchmarkRow

SCRIPT = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "benchmarks" / "order_under_load.py"))


def rows(costs):
    return [
        BenchmarkRow(solver=solver, problem="s", dt=dt, outcome="finished", error=error, cost=cost)
        for solver, own in costs.items()
        for dt, error, cost in own
    ]


def test_solvers_are_compared_at_the_errors_that_both_reach():
    idle = rows({"a": [(0.01, 0.2, 1.0), (0.005, 0.1, 2.0)], "b": [(0.01, 0.15, 4.0), (0.005, 0.01, 8.0)]})
    loaded = rows({"a": [(0.01, 0.2, 9.0), (0.005, 0.1, 9.0)], "b": [(0.01, 0.15, 8.0), (0.005, 0.01, 16.0)]})

    # At 0.1 `b` needs its second step; at 0.15 `a` needs its second; at 0.2 both take their first; 0.01 has `b` alone.
    assert SCRIPT["ratios"](idle, loaded) == [(2 / 8, 9 / 16), (2 / 4, 9 / 8), (1 / 4, 9 / 8)]
    assert SCRIPT["kept"](SCRIPT["ratios"](idle, loaded)) == (1, 3)
    assert SCRIPT["kept"]([(1.4, 0.9)]) == (0, 0), "a tie"


@pytest.mark.slow
def test_a_loaded_machine_does_not_change_the_order_of_solvers():
    solvers, problems = ("featherstone", "mujoco-native", "steel"), ("large-pendulum", "sliding-block")
    same, counted = SCRIPT["kept"](SCRIPT["measured"](solvers, problems, (0.005, 0.002)))

    assert counted >= 6
    assert same >= 0.95 * counted
