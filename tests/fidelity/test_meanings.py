"""A statement of a robot file acts on each solver as it does in MuJoCo, or a note or an error tells of it.

The test command takes the rows of FAST on two solvers; slow tests take every row of `meanings/*.toml` on every solver.
"""

import pytest

from .meanings import ROWS, SOLVERS, verdict

FAST = (
    "joint, ball: stiffness",
    "joint, free: damping",
    "joint, hinge: range, flag limit disabled",
    "joint, hinge: all passive disabled by flags",
    "position: forcerange",
    "position: ctrlrange",
    "position: flag actuation disabled",
    "position: actuatorgroupdisable",
    "geom: condim 1 of both",
    "geom: priority",
    "geom: friction, larger of two",
    "pair: friction",
    "option, dropped ball: flag contact disabled",
    "geom: static sphere",
    "geom: static sphere with a margin",
    "joint, urdf: floating, origin turned",
    "joint, urdf chain: mimic with an offset",
    "gazebo, urdf chain: spring of a joint",
    "drake, urdf: friction",
    "usd hinge: limits",
    "usd hinge: drive of acceleration",
    "usd body: disableGravity",
    "usd body: linearDamping",
    "usd contact: frictionCombineMode min",
    "usd mimic: physxMimicJoint",
    "usd arc: drive in an instance",
    "usd scene: metersPerUnit",
)
"""Names of rows in the test command."""

FAST_SOLVERS = ("featherstone", "xpbd")


def cases():
    for solver in SOLVERS:
        for row in ROWS:
            is_fast = row.name in FAST and solver in FAST_SOLVERS
            yield pytest.param(row, solver, id=f"{solver}: {row.name}", marks=() if is_fast else pytest.mark.slow)


def test_every_row_has_a_name_of_its_own():
    names = [row.name for row in ROWS]

    assert sorted(names) == sorted(set(names))
    assert set(FAST) <= set(names)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("row", "solver"), list(cases()))
def test_what_a_file_states_is_not_lost_in_silence(row, solver):
    found = verdict(row, solver)

    assert found.word != "SILENT", f"{found.error:.3g} apart, where the statement makes {found.effect:.3g}"
