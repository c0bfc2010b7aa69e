"""What Isaac Sim's `test_articulation` checks, by the names of its tests, on robots of the same topology."""

import newton
import numpy as np
import pytest
import warp as wp
from pippin.views import DofType

LINKS = [
    *("torso", "head", "left_upper_arm", "left_lower_arm", "left_hand", "lower_waist", "pelvis"),
    *("left_thigh", "left_shin", "left_foot", "right_thigh", "right_shin", "right_foot"),
    *("right_upper_arm", "right_lower_arm", "right_hand"),
]

LIMITS = {
    "left_upper_arm:0": (-90, 70),
    "left_upper_arm:1": (-90, 70),
    "left_elbow": (-90, 50),
    "lower_waist:0": (-45, 45),
    "lower_waist:1": (-75, 30),
    "abdomen_x": (-35, 35),
    "left_thigh:0": (-45, 15),
    "left_thigh:1": (-120, 45),
    "left_thigh:2": (-60, 35),
    "left_knee": (-160, 2),
    "left_foot:0": (-50, 50),
    "left_foot:1": (-50, 50),
    "right_thigh:0": (-45, 15),
    "right_thigh:1": (-120, 45),
    "right_thigh:2": (-60, 35),
    "right_knee": (-160, 2),
    "right_foot:0": (-50, 50),
    "right_foot:1": (-50, 50),
    "right_upper_arm:0": (-90, 70),
    "right_upper_arm:1": (-90, 70),
    "right_elbow": (-90, 50),
}
"""Degrees of freedom of the humanoid in order, with the range of each [deg]."""


def cartpole(builder, path, x):
    """Add a rail that is fixed to the world, a cart that slides on it, and a pole that hangs from the cart."""
    inertia = wp.diag(wp.vec3(0.05))
    rail, cart, pole = (
        builder.add_link(label=f"{path}/{name}", mass=mass, inertia=inertia)
        for name, mass in (("rail", 5.0), ("cart", 2.0), ("pole", 1.0))
    )
    builder.body_com[pole] = wp.vec3(0.0, 0.0, -0.5)
    place = wp.transform(wp.vec3(x, 0.0, 2.0), wp.quat_identity())
    drive = {"target_ke": 100.0, "target_kd": 10.0}
    joints = [
        builder.add_joint_fixed(-1, rail, parent_xform=place, label=f"{path}/rootJoint"),
        builder.add_joint_prismatic(rail, cart, axis=(0.0, 1.0, 0.0), label=f"{path}/cartJoint", **drive),
        builder.add_joint_revolute(cart, pole, axis=(1.0, 0.0, 0.0), label=f"{path}/poleJoint", **drive),
    ]
    builder.add_articulation(joints, label=path)


@pytest.fixture(scope="module")
def cartpole_sim(simulate):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    for env in range(4):
        cartpole(builder, f"/envs/env{env}/cartpole", 3.0 * env)
    return simulate(builder)


@pytest.fixture(scope="module")
def cartpoles(cartpole_sim):
    return cartpole_sim.view.create_articulation_view("/envs/*/cartpole")


@pytest.fixture(scope="module")
def humanoids(simulate):
    """Two humanoids of Newton's file, in worlds of their own."""
    simulation = simulate(worlds=2, assets=[{"path": "pkg:newton/examples/assets/humanoid.usda"}])
    return simulation.view.create_articulation_view("/*/torso")


@pytest.fixture
def ant_view(ants):
    """The ants, a step after their start."""
    ants.reset()
    ants.step()
    return ants.view.create_articulation_view("/ant")


def test_articulation_view_counts(cartpoles):
    assert (cartpoles.count, cartpoles.max_links, cartpoles.max_dofs) == (4, 3, 2)
    assert cartpoles.is_homogeneous


def test_articulation_view_metatype(cartpoles):
    metatype = cartpoles.shared_metatype

    assert [metatype.link_indices[name] for name in ("rail", "cart", "pole")] == [0, 1, 2]
    assert [metatype.dof_indices[name] for name in ("cartJoint", "poleJoint")] == [0, 1]
    assert metatype.fixed_base


def test_articulation_view_paths(cartpoles):
    assert cartpoles.prim_paths == [f"/envs/env{env}/cartpole" for env in range(4)]


def test_humanoid_metatype_names(humanoids):
    assert (humanoids.count, humanoids.max_links, humanoids.max_dofs) == (2, 16, 21)
    assert list(humanoids.shared_metatype.link_names) == LINKS
    assert list(humanoids.shared_metatype.dof_names) == list(LIMITS)


def test_humanoid_dof_types(humanoids):
    types = np.asarray(humanoids.get_dof_types())

    assert types.dtype == np.uint8
    assert (types == DofType.ROTATION).all()


def test_humanoid_dof_limits(humanoids):
    limits = np.degrees(humanoids.get_dof_limits().numpy())

    np.testing.assert_allclose(limits, [list(LIMITS.values())] * 2, atol=5e-5)


def round_trip(view, devices, name, all_rows, first_row):
    """Set a quantity of all rows, then other values of which only those of the first row count."""
    read = getattr(view, f"get_{name}")
    write = getattr(view, f"set_{name}")
    values = np.array(np.broadcast_to(all_rows, view.shape_of(name)), dtype=np.float32)

    write(devices.array(values), devices.indices(view.count))
    np.testing.assert_allclose(read().numpy(), values, rtol=1e-6)

    changed = np.array(np.broadcast_to(first_row, values.shape), dtype=np.float32)
    write(devices.array(changed), devices.indices(1))
    values[0] = changed[0]
    np.testing.assert_allclose(read().numpy(), values, rtol=1e-6)


def test_dof_limits(humanoids, devices):
    round_trip(humanoids, devices, "dof_limits", (-0.1, 0.1), (-0.2, 2.0))


def test_dof_stiffness(humanoids, devices):
    round_trip(humanoids, devices, "dof_stiffnesses", 100.0, 50.0)


def test_dof_damping(humanoids, devices):
    round_trip(humanoids, devices, "dof_dampings", 100.0, 50.0)


def test_dof_max_forces(humanoids, devices):
    round_trip(humanoids, devices, "dof_max_forces", 1000.0, 2000.0)


def test_dof_max_velocities(humanoids, devices):
    round_trip(humanoids, devices, "dof_max_velocities", 1000.0 * np.arange(42).reshape(2, 21), 2000.0)


def test_dof_armature(humanoids, devices):
    round_trip(humanoids, devices, "dof_armatures", 1.0, 0.0)


def check_set(view, devices, name, change, count=None):
    """Add to a quantity of the first rows, by default of all: theirs is what was set, that of others as it was."""
    read, write = getattr(view, f"get_{name}"), getattr(view, f"set_{name}")
    count = view.count if count is None else count
    before = read().numpy().copy()

    write(devices.array(before + np.asarray(change)), devices.indices(count))

    after = read().numpy()
    np.testing.assert_allclose(after[:count], before[:count] + change, atol=1e-5)
    np.testing.assert_array_equal(after[count:], before[count:])


UP = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
"""A meter, in a pose."""


def test_get_set_dof_positions(ant_view, devices):
    assert (ant_view.count, ant_view.max_links, ant_view.max_dofs) == (4, 9, 8)
    check_set(ant_view, devices, "dof_positions", 0.5)


def test_get_set_dof_positions_subset(ant_view, devices):
    check_set(ant_view, devices, "dof_positions", 0.5, 2)


def test_get_set_dof_velocities(ant_view, devices):
    check_set(ant_view, devices, "dof_velocities", 0.5)


def test_get_set_dof_position_targets(ant_view, devices):
    check_set(ant_view, devices, "dof_position_targets", 0.5)


def test_get_set_dof_velocity_targets(ant_view, devices):
    check_set(ant_view, devices, "dof_velocity_targets", 1.0)


def test_get_set_dof_actuation_forces(ant_view, devices):
    before = ant_view.get_dof_actuation_forces().numpy().copy()

    ant_view.set_dof_actuation_forces(devices.array(before + 10.0), devices.indices(ant_view.count))

    np.testing.assert_allclose(ant_view.get_dof_actuation_forces().numpy(), before + 10.0, atol=1e-5)
    ant_view.set_dof_actuation_forces(devices.array(before))


def test_get_set_root_transforms(ant_view, devices):
    check_set(ant_view, devices, "root_transforms", UP)


def test_get_set_root_transforms_subset(ant_view, devices):
    check_set(ant_view, devices, "root_transforms", UP, 2)


def test_get_set_root_velocities(ant_view, devices):
    check_set(ant_view, devices, "root_velocities", 0.5)


def test_get_set_root_velocities_subset(ant_view, devices):
    check_set(ant_view, devices, "root_velocities", 1.0, 2)


def test_body_masses(humanoids, devices):
    masses = np.full((2, 16), 100.0, dtype=np.float32)

    humanoids.set_masses(devices.array(masses), devices.indices(2))

    np.testing.assert_array_equal(humanoids.get_masses().numpy(), masses)
    np.testing.assert_allclose(humanoids.get_inv_masses().numpy(), 0.01, rtol=1e-6)


def test_body_inv_masses_shape(humanoids):
    assert humanoids.get_inv_masses().shape == (2, 16)


def test_body_coms(humanoids, devices):
    coms = humanoids.get_coms().numpy().copy()
    coms[:, :, 0] += 0.1

    humanoids.set_coms(devices.array(coms), devices.indices(2))

    assert coms.shape == (2, 16, 7)
    np.testing.assert_allclose(humanoids.get_coms().numpy(), coms, rtol=1e-6)


def test_body_inertias(humanoids, devices):
    inertias = humanoids.get_inertias().numpy().copy()
    inertias[:, :, [0, 4, 8]] += 0.1

    humanoids.set_inertias(devices.array(inertias), devices.indices(2))

    np.testing.assert_allclose(humanoids.get_inertias().numpy(), inertias, rtol=1e-6)
    products = humanoids.get_inertias().numpy().reshape(2, 16, 3, 3) @ humanoids.get_inv_inertias().numpy().reshape(
        2, 16, 3, 3
    )
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(3), (2, 16, 3, 3)), atol=1e-4)


def test_body_inv_inertias_shape(humanoids):
    assert humanoids.get_inv_inertias().shape == (2, 16, 9)


@pytest.fixture
def undriven(cartpole_sim, cartpoles, devices):
    """The cartpoles at rest, with drives that do nothing."""
    cartpole_sim.reset()
    cartpoles.set_dof_stiffnesses(0.0)
    cartpoles.set_dof_dampings(0.0)
    cartpoles.set_dof_velocities(devices.array(np.zeros((4, 2))))
    yield cartpoles
    cartpoles.set_dof_actuation_forces(0.0)


def push(simulation, cartpoles, devices, efforts, step_count):
    for _ in range(step_count):
        cartpoles.set_dof_actuation_forces(devices.array([efforts] * 4), devices.indices(4))
        simulation.step()


def test_effort_causes_velocity_change(cartpole_sim, undriven, devices):
    """50 N on 2 kg and a pole of 1 kg below it: 16.7 to 25 m/s², as the pole lags behind."""
    push(cartpole_sim, undriven, devices, (50.0, 0.0), 5)

    speeds = undriven.get_dof_velocities().numpy()[:, 0]
    assert (speeds > 50.0 / 3.0 * 5 / 60).all()
    assert (speeds < 50.0 / 2.0 * 5 / 60).all()


def test_effort_causes_position_change(cartpole_sim, undriven, devices):
    push(cartpole_sim, undriven, devices, (0.0, 20.0), 10)

    assert (undriven.get_dof_positions().numpy()[:, 1] > 0.1).all()


def test_zero_effort_no_extra_motion(cartpole_sim, undriven):
    """The pole hangs and the rail is level: without effort nothing moves. Theirs allows for 5 rad."""
    before = undriven.get_dof_positions().numpy().copy()

    cartpole_sim.step(5)

    np.testing.assert_allclose(undriven.get_dof_positions().numpy(), before, atol=1e-6)


def test_create_simulation_view(cartpole_sim):
    assert cartpole_sim.view.is_valid
    assert cartpole_sim.view is cartpole_sim.view


def test_set_get_gravity(cartpole_sim):
    cartpole_sim.view.set_gravity((0.0, 0.0, -10.0))

    assert cartpole_sim.view.get_gravity().numpy().tolist() == [[0.0, 0.0, -10.0]]
