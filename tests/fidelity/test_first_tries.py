"""Bare URDF files run for a second at the first try; `python -m tests.fidelity.first_tries` runs more of them."""

import pytest

from .first_tries import FILES, SOLVERS, first_try, paths

NAMES = ("newton/examples/assets/cartpole.urdf", "newton/examples/assets/quadruped.urdf")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("solver", [solver for solver in SOLVERS if solver != "kamino"])  # 0.2 s for each step
def test_a_bare_urdf_runs_for_a_second(name, solver):
    found = first_try(str(paths()[name]), FILES[name], solver)

    assert found["said"] == "runs"
    assert found["time"] == pytest.approx(1.0)
