"""Each measure of a state against its formula, on bodies whose answer is known."""

from functools import partial
from types import SimpleNamespace

import newton
import numpy as np
import pytest
import warp as wp
from pippin.measuring import measures

G = 9.81
ABOUT_Y = wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), 0.7)


def new_builder():
    return newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=(0.0, 0.0, -G))


def in_worlds(prototype, count=2):
    builder = new_builder()
    builder.replicate(prototype, count)
    model = builder.finalize(device="cpu")
    return model, model.state()


def link(builder, **options):
    return builder.add_link(mass=2.0, inertia=wp.diag(wp.vec3(0.1, 0.2, 0.3)), **options)


@pytest.fixture
def top():
    """A free body whose centre of mass is 0.5 m beside its origin, turned and spinning; in world 1 alone."""
    builder = new_builder()
    body = link(builder, label="top", com=wp.vec3(0.5, 0.0, 0.0))
    builder.add_articulation([builder.add_joint_free(body)])
    model, state = in_worlds(builder)
    state.body_q.assign([wp.transform(wp.vec3(0.0), wp.quat_identity()), wp.transform((1.0, 0.0, 3.0), ABOUT_Y)])
    spin = wp.quat_rotate(ABOUT_Y, wp.vec3(1.0, 2.0, 3.0))
    state.body_qd.assign(np.array([[0.0] * 6, [3.0, 0.0, 4.0, *spin]]))
    return model, state


def test_kinetic_energy_is_that_of_the_centre_of_mass_and_of_the_rotation_about_it(top):
    expected = 0.5 * 2.0 * (3.0**2 + 4.0**2) + 0.5 * (0.1 * 1.0**2 + 0.2 * 2.0**2 + 0.3 * 3.0**2)

    np.testing.assert_allclose(measures.kinetic_energy(*top), [0.0, expected], rtol=1e-6)


def test_potential_energy_is_that_of_the_height_of_the_centre_of_mass(top):
    # Turned by 0.7 rad about y, x points down by sin 0.7.
    height = 3.0 - 0.5 * np.sin(0.7)

    np.testing.assert_allclose(measures.potential_energy(*top), [0.0, 2.0 * G * height], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(measures.positions(*top)[1], [1.0 + 0.5 * np.cos(0.7), 0.0, height], rtol=1e-6)


def test_gravity_is_each_worlds_own(top):
    model, state = top
    state.body_q.assign([wp.transform((0.0, 0.0, 1.0), wp.quat_identity())] * 2)
    model.set_gravity((0.0, 0.0, -1.0), world=0)

    np.testing.assert_allclose(measures.potential_energy(model, state), [2.0 * 1.0, 2.0 * G], rtol=1e-6)


def test_rotors_have_half_their_inertia_times_the_square_of_the_joint_velocity():
    builder = new_builder()
    body = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
    builder.add_articulation([builder.add_joint_revolute(-1, body, armature=0.3)])
    model, state = in_worlds(builder)
    state.joint_qd.assign([0.0, 4.0])

    np.testing.assert_allclose(measures.kinetic_energy(model, state), [0.0, 0.5 * 0.3 * 4.0**2], rtol=1e-6)
    assert measures.kinetic_energy(model, state, has_rotors=False).tolist() == [0.0, 0.0]


def test_particles_have_the_energy_of_points():
    builder = new_builder()
    builder.add_particle((0.0, 0.0, 2.0), (3.0, 0.0, 0.0), 0.5)
    model, state = in_worlds(builder)

    np.testing.assert_allclose(measures.kinetic_energy(model, state), 0.5 * 0.5 * 3.0**2)
    np.testing.assert_allclose(measures.potential_energy(model, state), 0.5 * G * 2.0, rtol=1e-6)


@pytest.fixture
def mechanism():
    """A slider along x with limits, that carries a hinge about y with limits, that carries a free-turning hinge."""
    builder = new_builder()
    carriage, arm, wheel = link(builder), link(builder), link(builder)
    joints = [
        builder.add_joint_prismatic(-1, carriage, axis=(1.0, 0.0, 0.0), limit_lower=-0.2, limit_upper=0.3),
        builder.add_joint_revolute(
            carriage,
            arm,
            axis=(0.0, 1.0, 0.0),
            parent_xform=wp.transform((0.0, 0.0, 0.1), wp.quat_identity()),
            limit_lower=-1.0,
            limit_upper=0.5,
        ),
        builder.add_joint_revolute(
            arm, wheel, axis=(0.0, 1.0, 0.0), parent_xform=wp.transform((0.0, 0.0, 0.4), wp.quat_identity())
        ),
    ]
    builder.add_articulation(joints)
    return in_worlds(builder)


def posed(mechanism, q):
    model, state = mechanism
    state.joint_q.assign(np.ravel(q))
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    return model, state


def test_limits_are_violated_by_what_is_beyond_them_angles_and_lengths_apart(mechanism):
    model, state = posed(mechanism, [[0.35, -1.25, 9.0], [-0.1, 0.4, -9.0]])

    np.testing.assert_allclose(measures.limit_violation(model, state, "m"), [0.05, 0.0], atol=1e-6)
    np.testing.assert_allclose(measures.limit_violation(model, state, "rad"), [0.25, 0.0], atol=1e-6)


def test_joints_that_are_together_have_no_gap_wherever_they_are(mechanism):
    model, state = posed(mechanism, [[0.35, -1.25, 9.0], [-0.1, 0.4, -9.0]])

    np.testing.assert_allclose(measures.joint_gap(model, state), 0.0, atol=1e-6)


def test_a_joint_has_the_gap_that_its_child_was_moved_by_but_not_along_its_slide(mechanism):
    model, state = posed(mechanism, np.zeros((2, 3)))
    poses = state.body_q.numpy()
    poses[2, :3] += [0.03, 0.0, 0.04]  # the wheel of world 0
    poses[3:, :3] += [0.2, 0.0, 0.01]  # all of world 1, along the slide and out of it
    state.body_q.assign(poses)

    np.testing.assert_allclose(measures.joint_gap(model, state), [0.05, 0.01], rtol=1e-5)


def test_where_there_are_no_joints_to_hold_nothing_is_measured(top):
    model, state = top

    assert measures.joint_gap(model, state) is None
    assert measures.limit_violation(model, state, "rad") is None


def test_a_sphere_penetrates_the_ground_by_its_radius_less_its_height():
    prototype = new_builder()
    prototype.add_shape_sphere(prototype.add_body(), radius=0.1)
    builder = new_builder()
    builder.replicate(prototype, 3)
    builder.add_ground_plane()
    model = builder.finalize(device="cpu")
    state = model.state()
    state.body_q.assign([wp.transform((0.0, 0.0, height), wp.quat_identity()) for height in (0.08, 0.1005, 2.0)])

    depth = measures.PenetrationProbe(model).depth(state)

    np.testing.assert_allclose(depth, [0.02, 0.0, 0.0], atol=1e-6)


def test_states_of_many_samples_are_measured_as_each_alone(mechanism):
    model, state = mechanism
    samples = []
    for q in (np.zeros((2, 3)), [[0.35, -1.25, 9.0], [-0.1, 0.6, -9.0]]):
        posed(mechanism, q)
        state.body_q.assign(
            state.body_q.numpy() + np.float32(0.01) * np.arange(7 * model.body_count).reshape(-1, 7) % 3
        )
        state.body_qd.assign(state.body_q.numpy()[:, :6])
        names = ("body_q", "body_qd", "joint_q", "joint_qd")
        samples.append({name: getattr(state, name).numpy().copy() for name in names})
    together = SimpleNamespace(**{name: np.array([sample[name] for sample in samples]) for name in samples[0]})
    limits = [partial(measures.limit_violation, unit=unit) for unit in ("rad", "m")]

    for measure in (
        measures.kinetic_energy,
        measures.potential_energy,
        measures.positions,
        measures.joint_gap,
        *limits,
    ):
        alone = [measure(model, SimpleNamespace(**sample)) for sample in samples]
        np.testing.assert_allclose(measure(model, together), alone, rtol=1e-12)
        assert not np.array_equal(alone[0], alone[1])
