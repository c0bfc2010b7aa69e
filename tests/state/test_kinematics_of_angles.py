"""Angles under solvers that move bodies: they go on beyond a turn, and start anew from what a user writes."""

import math

import newton
import numpy as np
import pippin
import pytest
import warp as wp

SPEED, DT = 5.0, 0.005


def wheel(axis_count=1):
    """Return a wheel of 1 kg·m² on a hinge, or on a D6 joint with a slide before its axes of rotation."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
    if axis_count == 1:
        joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label="hub", armature=0.0)
    else:
        slide, *turns = (newton.ModelBuilder.JointDofConfig(axis=axis, armature=0.0) for axis in np.eye(3)[:axis_count])
        joint = builder.add_joint_d6(-1, link, linear_axes=[slide], angular_axes=turns, label="hub")
    builder.add_articulation([joint])
    return builder


UNDAMPED = {"type": "xpbd", "angular_damping": 0.0}

pytestmark = pytest.mark.simulation(dt=DT, gravity=0.0, prototype=wheel, solver=UNDAMPED)


def spin(simulation, dof=0, speed=SPEED):
    speeds = np.zeros(simulation.model.joint_dof_count, dtype=np.float32)
    speeds[dof] = speed
    simulation.state.joint_qd.assign(speeds)
    simulation.invalidate("joints")


@pytest.mark.parametrize(
    ("solver", "speed", "count"),
    [("xpbd", 5.0, 400), ("semi-implicit", 5.0, 400), ("vbd", 5.0, 400), ("kamino", 40.0, 50)],
)
def test_a_wheel_turns_beyond_a_turn(simulate, solver, speed, count):
    """A free wheel at 5 rad/s is at 10 rad after 2 s; Kamino's steps are slow, so it turns faster."""
    with simulate(solver={**UNDAMPED, "type": solver} if solver in ("xpbd", "semi-implicit") else solver) as simulation:
        spin(simulation, speed=speed)
        simulation.step(count)
        angle, end = simulation.state.joint_q.numpy()[0], simulation.state.joint_qd.numpy()[0]

    assert angle > 1.4 * 2.0 * math.pi
    assert angle == pytest.approx(speed * count * DT, rel=0.05)
    assert end == pytest.approx(speed, rel=0.1)


@pytest.mark.parametrize(("substeps", "decimation", "speed"), [(1, 3, 5.0), (2, 1, 5.0), (2, 2, 5.0), (1, 3, 300.0)])
def test_angles_continue_whichever_state_holds_the_last_ones(simulate, substeps, decimation, speed):
    """At 300 rad/s, the wheel makes 0.6 turns in a control step: the velocity tells how many.

    XPBD turns by 2 atan(ω h / 2) in a substep h.
    """
    with simulate(substeps=substeps, decimation=decimation) as simulation:
        spin(simulation, speed=speed)
        simulation.step(100)

        turn = 2.0 * math.atan(speed * DT / substeps / 2.0)
        expected = 100 * decimation * substeps * turn
        assert simulation.state.joint_q.numpy()[0] == pytest.approx(expected, rel=1e-3)


def test_the_axes_of_a_d6_joint_continue(simulate):
    with simulate(wheel(3)) as simulation:
        spin(simulation, dof=2)
        simulation.step(300)

        assert simulation.state.joint_q.numpy()[2] == pytest.approx(7.5, rel=1e-2)


def test_written_and_reset_angles_are_where_the_next_ones_continue_from(simulate):
    with simulate(worlds=3) as simulation:
        simulation.state.joint_q.assign([9.0, 9.0, 9.0])
        simulation.invalidate("joints")
        simulation.step()
        simulation.reset([1])
        simulation.invalidate("bodies", [2])
        simulation.step()

        kept, reset, anew = simulation.state.joint_q.numpy()
        assert (kept, reset) == (pytest.approx(9.0, abs=1e-4), pytest.approx(0.0, abs=1e-4))
        assert abs(anew) < 2.0 * math.pi
        assert math.remainder(anew - 9.0, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-4)


def test_a_checkpoint_carries_the_turns(simulate, tmp_path):
    with simulate() as simulation:
        spin(simulation)
        simulation.step(300)
        simulation.save(tmp_path / "turned")
        simulation.step()
        expected = simulation.state.joint_q.numpy().copy()

    with pippin.Simulation.load(tmp_path / "turned", prototype=wheel()) as loaded:
        loaded.step()
        np.testing.assert_array_equal(loaded.state.joint_q.numpy(), expected)
    assert expected[0] > 2.0 * math.pi


def test_a_rollout_continues_and_has_the_derivative_of_the_angle(simulate):
    with simulate(solver={**UNDAMPED, "type": "semi-implicit"}, requires_grad=True, decimation=2) as simulation:
        simulation.state.joint_q.assign([3.1])
        spin(simulation, speed=10.0)
        with wp.Tape() as tape:
            states = simulation.rollout(2)
        tape.backward(grads={states[-1].joint_q: wp.ones(1, dtype=float, device="cpu")})
        speeds = states[0].joint_qd.grad.numpy(), states[0].body_qd.grad.numpy()

        assert states[-1].joint_q.numpy()[0] == pytest.approx(3.1 + 4 * DT * 10.0, rel=1e-3)
        assert np.abs(speeds[1]).max() == pytest.approx(4 * DT, rel=1e-2)  # dq/dω, at the start bodies are the state
