"""Joints or bodies that a user writes between steps: the others follow, in those worlds alone, before they are used."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

pytestmark = pytest.mark.simulation(dt=0.002, worlds=3, accept_unsupported=["armature"], prototype="chain")


def write(array, rows, values):
    host = array.numpy()
    host[rows] = values
    array.assign(host)


def test_bodies_follow_written_joints_in_those_worlds_alone(simulate, solver):
    with simulate(solver=solver) as simulation:
        simulation.step(3)
        before = simulation.state.body_q.numpy().copy()
        write(simulation.state.joint_q, [2, 3], [0.7, -0.2])
        simulation.invalidate("joints", [1])

        after = simulation.state.body_q.numpy()
        expected = simulation.model.state()
        newton.eval_fk(simulation.model, simulation.state.joint_q, simulation.state.joint_qd, expected)

    np.testing.assert_array_equal(after[2:4], expected.body_q.numpy()[2:4])
    np.testing.assert_array_equal(after[[0, 1, 4, 5]], before[[0, 1, 4, 5]])


def test_joints_follow_written_bodies_and_the_solver_continues_from_there(simulate, solver):
    """A chain that is put where another one is, swings as that one does: also where a solver reads joints alone."""
    with simulate(solver=solver) as simulation:
        simulation.step(5)
        state = simulation.state
        bodies, speeds = state.body_q.numpy(), state.body_qd.numpy()
        bodies[4:6], speeds[4:6] = bodies[0:2], speeds[0:2]
        write(state.joint_q, [4, 5], np.nan)  # what a reduced solver would read, were it not computed
        state.body_q.assign(bodies)
        state.body_qd.assign(speeds)
        simulation.invalidate("bodies", np.array([False, False, True]))
        simulation.step(3)

        q = simulation.state.joint_q.numpy().reshape(3, 2)
    np.testing.assert_allclose(q[2], q[0], atol=2e-5)


def test_a_step_settles_once_and_a_mask_may_live_on_the_device(simulate):
    with simulate(solver="mujoco") as simulation:
        simulation.step()
        write(simulation.state.joint_q, slice(0, 2), 0.5)
        simulation.invalidate("joints", wp.array([True, False, False], dtype=bool, device=simulation.device))
        simulation.invalidate("joints", [1])
        simulation.step()

        q = simulation.state.joint_q.numpy().reshape(3, 2)
    assert abs(q[0, 0] - 0.5) < 0.01
    np.testing.assert_array_equal(q[1], q[2])


def test_only_joints_or_bodies_can_be_written(simulate):
    with simulate(solver="xpbd") as simulation:
        with pytest.raises(pippin.ConfigError, match="expected 'joints', 'bodies' or 'particles', got 'body'"):
            simulation.invalidate("body")
        with pytest.raises(pippin.ConfigError, match="3 is not a world"):
            simulation.invalidate("joints", [3])
