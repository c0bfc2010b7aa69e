"""What the host does before the first step: it compiles, tries the solver's claim and tells of changes, unnoticed."""

from contextlib import suppress

import newton
import pippin
import pytest
import warp as wp

BOX = {"type": "box", "size": [0.2, 0.1, 0.1]}
HINGE = {"type": "revolute", "axis": [0.0, 1.0, 0.0], "child_position": [-0.1, 0.0, 0.0]}
BODIES = [
    {"type": "body", "label": "arm", "position": [0.1, 0.0, 0.0], "shapes": [BOX], "joint": HINGE},
    {"type": "body", "label": "load", "position": [0.3, 0.0, 0.0], "shapes": [BOX], "joint": {"type": "free"}},
]
WRIST = {"type": "ball", "parent": "arm", "child": "load", "child_position": [-0.1, 0.0, 0.0]}
ENTRIES = {
    "rigid": {"bodies": ["arm"], "solver": {"type": "mujoco"}},
    "other": {"bodies": ["load"], "solver": {"type": "vbd"}},
}
STANDS_THERE = {"joint_proximal_bodies": True, "joint_proximal_destination_entries": ["rigid"]}


def of_state(simulation):
    """Return the bits of the state."""
    arrays = {name: each for name, each in vars(simulation.state).items() if isinstance(each, wp.array) and each.size}
    return {name: each.numpy().tobytes() for name, each in arrays.items()}


def told_and_bare(build):
    """Return the state after two steps of a simulation that is told of changes that are none, and of a bare one.

    The bare one calls the operations of a step, and nothing else of the host.
    """
    with build() as told, build() as bare:
        for flag in newton.ModelFlags:
            with suppress(pippin.ConfigError):  # what the solver does not take over
                told.notify_model_changed(flag)
        told.step(2)
        for operation in 2 * bare.program.operations:
            operation.run()
        return of_state(told), of_state(bare)


@pytest.mark.first_cases(3)
def test_a_first_step_is_the_one_that_a_new_solver_takes(suited):
    told, bare = told_and_bare(lambda: suited.build(capture="off"))

    assert told == bare


@pytest.mark.slow
@pytest.mark.parametrize("coupling", [{"admm": {"gamma": 0.1, **STANDS_THERE}}, {"admm": {}}], ids=["gamma", "plain"])
def test_a_first_step_of_coupled_solvers_is_the_one_that_new_ones_take(coupling, simulate):
    """With `gamma`, Newton's coupling adds masses: it must not count them once more when it is told of changes."""
    solver = {"type": "coupled", "entries": ENTRIES, **coupling}

    told, bare = told_and_bare(lambda: simulate(objects=BODIES, joints=[WRIST], solver=solver, dt=0.002, capture="off"))

    assert told == bare
