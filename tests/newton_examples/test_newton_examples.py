"""Newton's examples from files, judged by Newton's own checks.

What takes a CPU more than some minutes waits for a GPU. `PIPPIN_EXAMPLES=all` lets a CPU run what has passed on one.
"""

import os
import tomllib
from pathlib import Path

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.config.files import find_file

from .cases import CASES
from .judge import FILES, ON_CPU, Case, judge, judge_optimised, refuse_open

PARAMETERS = [
    pytest.param(
        case,
        solver,
        id=f"{case.name}-{solver}" if solver else case.name,
        marks=[getattr(pytest.mark, mark) for mark in case.marks_with(solver)],
    )
    for case in CASES
    for solver in case.solvers or (None,)
]


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(("case", "solver"), PARAMETERS)
def test_an_example_passes_newtons_check(case: Case, solver: str | None):
    is_patient = case.has_passed == ON_CPU and os.environ.get("PIPPIN_EXAMPLES") == "all"
    if "cuda" in case.marks and not wp.is_cuda_available() and not is_patient:
        pytest.skip("no CUDA device")
    if case.asset is not None:
        try:
            find_file(case.asset, "path")
        except pippin.ConfigError as error:
            pytest.skip(str(error))

    judge_optimised(case) if case.is_optimised else judge(case, solver)


def test_an_open_joint_is_refused():
    links = {
        "type": "body",
        "label": "link",
        "position": [0.0, 0.0, 1.0],
        "shapes": [{"type": "sphere", "radius": 0.1}],
    }
    links |= {"joint": {"type": "revolute", "axis": [0.0, 1.0, 0.0], "child_position": [0.0, 0.0, 0.5]}}
    tables = {"simulation": {"device": "cpu"}, "scene": {"objects": [links]}, "solver": {"type": "featherstone"}}
    with pippin.Simulation(tables) as simulation:
        simulation.step(20)
        refuse_open(simulation)

        simulation.state.body_q.assign(simulation.state.body_q.numpy() + np.array([0.006, 0, 0, 0, 0, 0, 0]))
        with pytest.raises(AssertionError, match=r"is open by 0\.006 m"):
            refuse_open(simulation)


def test_the_table_has_the_examples_of_the_installed_newton():
    needs = tomllib.loads((Path(__file__).parent / "needs.toml").read_text(encoding="utf-8"))["needs"]
    examples = Path(newton.__file__).parent / "examples"

    installed = {f"{file.parent.name}/{file.stem.removeprefix('example_')}" for file in examples.glob("*/example_*.py")}
    assert {f"{group}/{name}" for group, names in needs.items() for name in names} == installed
    assert {case.module.replace(".example_", "/") for case in CASES} <= installed
    assert {case.name for case in CASES} == {file.stem for file in FILES.glob("*.toml")}
