"""Joints that yield: the note says how far they give way, and they do, or that springs diverge."""

import re

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.quaternions import conjugate, product, rotated


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


def weld(inertia=1e-4, has_arm=True):
    """A light body welded to the world, and on request a heavy one on a welded arm of 0.3 m."""
    builder, parent, joints = newton.ModelBuilder(up_axis=newton.Axis.Z), -1, []
    for name, mass, moment, x in (("light", 0.1, inertia, 0.0), ("heavy", 1.5, 0.003, 0.3))[: 1 + has_arm]:
        body = builder.add_link(mass=mass, inertia=wp.mat33(*(moment * np.eye(3)).ravel()), label=name)
        place = wp.transform(wp.vec3(x, 0.0, 0.0), wp.quat_identity())
        joints.append(builder.add_joint_fixed(parent, body, parent_xform=place, label=f"of {name}"))
        builder.body_q[body] = place
        parent = body
    builder.add_articulation(joints)
    return builder


@pytest.mark.parametrize("iterations", [2, 40])
def test_iterations_hold_welds_as_well_as_their_note_says(iterations, configure):
    with pippin.Simulation(configure({"type": "xpbd", "iterations": iterations}), prototype=weld()) as simulation:
        notes = [note for note in simulation.notes["solver"] if "iterations of a substep" in note]
        gap = turn = 0.0
        for _ in range(150):
            simulation.step()
            (light, heavy), arm = simulation.state.body_q.numpy().astype(float), (0.3, 0.0, 0.0)
            gap = max(gap, 1e3 * np.linalg.norm(heavy[:3] - light[:3] - rotated(light[3:], np.array(arm))))
            turn = max(turn, 2e3 * np.arcsin(np.linalg.norm(product(conjugate(light[3:]), heavy[3:])[:3])))

    (said,) = (re.search(r"'of heavy' by up to ([\d.]+) mm and ([\d.]+) mrad", note) for note in notes)
    assert float(said[1]) == pytest.approx(gap, rel=0.5)
    assert float(said[2]) == pytest.approx(turn, rel=0.5)


@pytest.mark.parametrize(("substeps", "needed"), [(128, None), (64, 128), (10, 160)])
def test_springs_that_diverge_are_told_with_the_substeps_that_they_need(substeps, needed, configure):
    """Steps of 18.5 us are the longest for 10 000 N·m/rad and 1 N·m·s/rad on 1e-5 kg·m²: 108 in 2 ms."""
    config = configure("semi-implicit", dt=2e-3, substeps=substeps)
    joint = weld(inertia=1e-5, has_arm=False)
    joint.body_com[0] = wp.vec3(0.001, 0.0, 0.0)
    with pippin.Simulation(config, prototype=joint) as simulation:
        notes = [note for note in simulation.notes.get("solver", ()) if "diverge" in note]
        simulation.step(20)
        if needed:
            with pytest.raises(pippin.PippinError):
                simulation.raise_errors()
        else:
            simulation.raise_errors()

    assert len(notes) == bool(needed)
    assert all(f"'of light' diverge with substeps of {2e-3 / substeps:.2g} s" in note for note in notes)
    assert all(f"set simulation.substeps to {needed}," in note for note in notes)
    assert (speed_in_newton(joint, 2e-3 / substeps) > 100.0) == bool(needed)


def speed_in_newton(builder, dt):
    """Return how fast Newton's solver turns the body of a joint after 300 steps, from 1 rad/s."""
    model = builder.finalize(device="cpu")
    solver, state, following = newton.solvers.SolverSemiImplicit(model), model.state(), model.state()
    state.body_qd.assign(np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]))
    for _ in range(300):
        state.clear_forces()
        solver.step(state, following, model.control(), None, dt)
        state, following = following, state
    return np.nan_to_num(np.abs(state.body_qd.numpy()).max(), nan=np.inf)


@pytest.mark.parametrize(("damping", "needed"), [(1.0, None), (50.0, 8)])
def test_dampers_that_diverge_are_told(damping, needed, configure):
    """On 0.01 kg·m², steps of 0.4 ms are the longest for 50 N·m·s/rad: 5 in 2 ms."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    body = builder.add_link(mass=0.1, inertia=wp.mat33(*(0.01 * np.eye(3)).ravel()), label="door")
    builder.add_articulation([builder.add_joint_revolute(-1, body, axis=newton.Axis.Z, damping=damping, label="h")])
    builder.joint_qd[0] = 1.0
    config = configure("semi-implicit", dt=2e-3, substeps=2)
    with pippin.Simulation(config, prototype=builder) as simulation:
        notes = [note for note in simulation.notes.get("solver", ()) if "diverge" in note]
        simulation.step(20)
        speed = np.abs(simulation.state.joint_qd.numpy()[0])

    assert (speed > 1e3) == bool(needed)
    assert ["'h' diverge" in note and f"substeps to {needed}," in note for note in notes] == [True] * bool(needed)
