"""Joints that are springs: the note says how far they give way, and they do."""

import re

import newton
import numpy as np
import pippin
import pytest
import warp as wp


def hanging(mass=2.0):
    """A body below a ball joint, and a second one of the same mass below it."""
    builder, parent, joints = newton.ModelBuilder(up_axis=newton.Axis.Z), -1, []
    for name in ("upper", "lower"):
        body = builder.add_link(mass=mass, inertia=wp.mat33(*(0.01 * np.eye(3)).ravel()), label=name)
        place = wp.transform(wp.vec3(0.0, 0.0, -0.2 if parent >= 0 else 0.0), wp.quat_identity())
        joints.append(builder.add_joint_ball(parent, body, parent_xform=place, label=f"of {name}"))
        parent = body
    builder.add_articulation(joints)
    return builder


@pytest.mark.parametrize(
    ("solver", "dt", "sag"),
    [({"type": "semi-implicit"}, 2e-4, 3.9), ({"type": "vbd", "rigid_joint_linear_ke": 1e4}, 2e-3, 3.9)],
    ids=["semi-implicit", "vbd"],
)
def test_joints_give_way_as_their_note_says(solver, dt, sag, configure):
    config = configure(solver, dt=dt)
    with pippin.Simulation(config, prototype=hanging()) as simulation:
        (note,) = (note for note in simulation.notes["solver"] if "springs" in note)
        simulation.step(round(1.0 / dt))
        found = -1e3 * simulation.state.body_q.numpy()[0, 2]

    assert re.search(r"of 10000 N/m, which give way: 'of upper' by up to 3\.9 mm under the weight", note)
    assert found == pytest.approx(sag, rel=0.2)


@pytest.mark.parametrize("solver", ["featherstone", {"type": "vbd", "rigid_joint_linear_ke": 1e7}])
def test_joints_that_hold_have_no_note(solver, configure):
    with pippin.Simulation(configure(solver), prototype=hanging()) as simulation:
        assert not any("springs" in note for note in simulation.notes.get("solver", ()))
