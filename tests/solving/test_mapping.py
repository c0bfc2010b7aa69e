"""Joints in the columns of an engine: there and back, beside the velocities of points and the power of forces."""

import itertools

import newton
import numpy as np
import pytest
import warp as wp
from pippin.quaternions import rotated
from pippin.solving import EngineFrames, JointMap

CHOICES = {
    "quaternion": ("xyzw", "wxyz"),
    "pose": ("joint", "body"),
    "ball": ("joint", "body"),
    "place": ("first", "last"),
    "linear": ("first", "last"),
    "point": ("com", "origin"),
    "linear_axes": ("outer", "inner"),
    "angular_axes": ("outer", "inner"),
}
ALL = [EngineFrames(**dict(zip(CHOICES, each, strict=True))) for each in itertools.product(*CHOICES.values())]


@pytest.fixture(scope="module")
def model():
    """Two worlds with a free body in turned frames, a hinge and a slider on it, a fixed link, and a ball joint."""
    rng = np.random.default_rng(1)

    def frame():
        return wp.transform(wp.vec3(*rng.normal(size=3)), wp.normalize(wp.quat(*rng.normal(size=4))))

    builder = newton.ModelBuilder()
    links = [builder.add_link(mass=1.0, com=rng.normal(size=3), inertia=np.eye(3)) for _ in range(5)]
    joints = [
        builder.add_joint_free(links[0], parent=-1, parent_xform=frame(), child_xform=frame()),
        builder.add_joint_revolute(links[0], links[1], axis=(0.0, 0.6, 0.8)),
        builder.add_joint_fixed(links[1], links[2]),
        builder.add_joint_ball(links[2], links[3], parent_xform=frame(), child_xform=frame()),
        builder.add_joint_prismatic(links[3], links[4], axis=(1.0, 0.0, 0.0)),
    ]
    builder.add_articulation(joints)
    worlds = newton.ModelBuilder()
    worlds.replicate(builder, 2)
    return worlds.finalize(device="cpu")


def drawn(model, seed=0):
    """Return a state with random joints, whose bodies are where these put them."""
    rng = np.random.default_rng(seed)
    state = model.state()
    q = rng.normal(size=model.joint_coord_count).reshape(2, -1)
    for turn in (slice(3, 7), slice(8, 12)):
        q[:, turn] /= np.linalg.norm(q[:, turn], axis=1, keepdims=True)
    state.joint_q.assign(q.ravel().astype(np.float32))
    state.joint_qd.assign(rng.normal(size=model.joint_dof_count).astype(np.float32))
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    return state


def engine_of(model, frames, state):
    found = JointMap(model, frames)
    q, qd = np.zeros((2, found.q_start[-1])), np.zeros((2, found.qd_start[-1]))
    found.read(state, np.ones(2, dtype=bool), q, qd)
    return found, q, qd


@pytest.mark.parametrize("frames", ALL[::13], ids=str)
def test_what_is_read_is_written_back(model, frames):
    state, back = drawn(model), model.state()
    found, q, qd = engine_of(model, frames, state)
    found.write(q, qd, back)

    np.testing.assert_allclose(back.joint_q.numpy(), state.joint_q.numpy(), atol=1e-6)
    np.testing.assert_allclose(back.joint_qd.numpy(), state.joint_qd.numpy(), atol=1e-6)


def test_a_free_body_has_its_pose_and_the_velocity_of_its_origin(model):
    """MuJoCo's columns: the place of the body, w first, the velocity of the origin in the world, and the own spin."""
    state = drawn(model)
    of_mujoco = EngineFrames(quaternion="wxyz", pose="body", point="origin", angular_axes="inner")
    _, q, qd = engine_of(model, of_mujoco, state)
    pose, twist = state.body_q.numpy()[[0, 5]], state.body_qd.numpy()[[0, 5]]
    com = model.body_com.numpy()[0]

    np.testing.assert_allclose(q[:, :3], pose[:, :3], atol=1e-6)
    np.testing.assert_allclose(np.abs(q[:, 3:7]), np.abs(np.roll(pose[:, 3:], 1, axis=1)), atol=1e-6)
    origin = twist[:, :3] - np.cross(twist[:, 3:], rotated(pose[:, 3:], com))
    np.testing.assert_allclose(qd[:, :3], origin, atol=2e-6)
    np.testing.assert_allclose(rotated(pose[:, 3:], qd[:, 3:6]), twist[:, 3:], atol=2e-6)


@pytest.mark.parametrize("frames", ALL[::11], ids=str)
def test_efforts_have_the_power_of_newton_s(model, frames):
    state, control = drawn(model), model.control()
    control.joint_f.assign(np.random.default_rng(2).normal(size=model.joint_dof_count).astype(np.float32))
    found, q, qd = engine_of(model, frames, state)
    power = (found.efforts(control, q) * qd).sum(axis=1)

    f, speed = (array.numpy().reshape(2, -1) for array in (control.joint_f, state.joint_qd))
    bodies = state.body_qd.numpy()[[0, 5]]  # of a free joint, the force acts in the world's axes
    expected = (f[:, :6] * bodies).sum(axis=1) + (f[:, 6:] * speed[:, 6:]).sum(axis=1)
    np.testing.assert_allclose(power, expected, rtol=1e-5, atol=1e-5)


def test_only_the_masked_worlds_are_read(model):
    found = JointMap(model)
    q, qd = np.zeros((2, found.q_start[-1])), np.zeros((2, found.qd_start[-1]))
    found.read(drawn(model), np.array([False, True, True]), q, qd)

    assert not q[0].any()
    assert q[1].all()
    assert qd[1].all()


def test_an_engine_has_an_order_of_its_own(model):
    state = drawn(model)
    found = JointMap(model, joints=[4, 1])
    q, qd = np.zeros((2, 2)), np.zeros((2, 2))
    found.read(state, np.ones(2, dtype=bool), q, qd)

    joint_q = state.joint_q.numpy().reshape(2, -1)
    np.testing.assert_allclose(q, joint_q[:, [12, 7]])
    assert (found.q_start, found.qd_start) == ([0, 1, 2], [0, 1, 2])


def test_a_word_that_is_no_frame_is_refused():
    with pytest.raises(ValueError, match="'quaternion' must be in"):
        EngineFrames(quaternion="zyxw")
