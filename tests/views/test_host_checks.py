"""Values that nothing can have are refused: on the host at once and by name, on the device by `check`."""

from types import SimpleNamespace

import newton
import numpy as np
import pytest
import warp as wp
from pippin import SimulationError
from pippin.views import ARTICULATION, RIGID_BODY, ViewError
from pippin.views.rules import RULES

WORLDS = 3
NAN, INF = float("nan"), float("inf")
UNIT = [0.0, 0.0, 0.0, 1.0]
WRONG = {
    "finite": [NAN, INF, -INF],
    "non-negative": [NAN, INF, -1e-3],
    "non-negative or infinite": [NAN, -1.0],
    "interval": [[1.0, -1.0], [NAN, 1.0], [-1.0, NAN], [INF, INF], [-INF, -INF]],
    "coordinate": [NAN, INF],
    "pose": [[0.0] * 7, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0], [NAN, 0.0, 0.0, *UNIT], [0.0, INF, 0.0, *UNIT], [NAN] * 7],
    "position": [[NAN, 0.0, 0.0, *UNIT], [0.0, 0.0, 0.0, 0.0, 0.6, 0.0, 0.8], [0.0] * 7],
    "inertia": [
        [NAN, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0],
        [1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        [1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0],
    ],
    "mark": [2],
}
"""Values of one element that each rule refuses."""
RIGHT = {
    "non-negative": [0.0, 1e-30],
    "non-negative or infinite": [0.0, INF],
    "interval": [[-INF, INF], [0.5, 0.5]],
    "pose": [[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0005]],
    "inertia": [
        [0.0] * 9,
        [1e-9, 0.0, 0.0, 0.0, 1e-9, 0.0, 0.0, 0.0, 1e-9],
        [2.0, 0.5, 0.0, 0.5, 2.0, 0.0, 0.0, 0.0, 1.0],
    ],
    "mark": [0, 1],
}
"""Values at the edge of a rule that it allows."""
CASES = [(table, name) for table in (ARTICULATION, RIGID_BODY) for name, each in table.items() if each.is_settable]
IDS = [f"{'articulation' if table is ARTICULATION else 'body'}-{name}" for table, name in CASES]


@pytest.fixture(scope="module")
def robots(walker, build):
    with build("mujoco-native", walker(), WORLDS) as simulation:
        yield simulation


@pytest.fixture
def view(robots):
    return robots.view.articulations("walker")


def chosen(robots, table):
    return robots.view.articulations("walker") if table is ARTICULATION else robots.view.rigid_bodies("ball")


def reading(view, name):
    return getattr(view, f"get_{name}")().numpy().copy()


def with_element(values, value):
    """Return values whose last element of row 1 is another one."""
    values = values.copy()
    row = values.reshape(len(values), -1, np.size(value))[1]
    row[-1] = value
    return values


@pytest.mark.parametrize(("table", "name"), CASES, ids=IDS)
def test_host_and_device_refuse_the_same_values(robots, table, name):
    view, where = chosen(robots, table), f"set_{name}"
    before = reading(view, name)
    for value in WRONG[table[name].valid]:
        wrong = with_element(before, value)
        with pytest.raises(
            ViewError, match=rf"{where}: row 1, .* of world 1.*: expected .*, got .*; nothing was written"
        ):
            getattr(view, where)(wrong)
        np.testing.assert_array_equal(reading(view, name), before)

        getattr(view, where)(wp.array(wrong, dtype=getattr(wp, table[name].dtype)))
        np.testing.assert_array_equal(reading(view, name), before)
        with pytest.raises(ViewError, match=rf"{where}: 1 values on the device were not allowed, such as in row 1, "):
            robots.raise_errors()
        robots.raise_errors()


def test_a_mark_has_no_half(view):
    with pytest.raises(ViewError, match=r"set_disable_gravities: row 0.*: expected 0 or 1, got 0\.5"):
        view.set_disable_gravities(0.5)


@pytest.mark.parametrize("valid", RIGHT)
def test_values_at_the_edge_are_taken(robots, valid):
    table, name = next((table, name) for table, name in CASES if table[name].valid == valid)
    view = chosen(robots, table)
    before = reading(view, name)
    for value in RIGHT[valid]:
        right = with_element(before, value)
        for data in (right, wp.array(right, dtype=getattr(wp, table[name].dtype))):
            getattr(view, f"set_{name}")(data)
            np.testing.assert_array_equal(reading(view, name), right)
    getattr(view, f"set_{name}")(before)
    robots.raise_errors()


def test_a_wrong_value_leaves_the_others_to_be_written(robots, view):
    velocities = np.ones(view.shape_of("dof_velocities"), dtype=np.float32)
    view.set_dof_velocities(0.0)
    velocities[1, 2] = NAN
    view.set_dof_velocities(wp.array(velocities, dtype=float), indices=wp.array([1, 2], dtype=int))

    expected = np.ones_like(velocities)
    expected[0], expected[1, 2] = 0.0, 0.0
    np.testing.assert_array_equal(reading(view, "dof_velocities"), expected)
    with pytest.raises(ViewError, match="set_dof_velocities: 1 values on the device"):
        view.raise_errors()


def test_an_error_names_setter_row_element_and_value(view):
    gains = np.zeros(view.shape_of("dof_stiffnesses"), dtype=np.float32)
    gains[2, 1] = -4.0
    message = (
        "set_dof_stiffnesses: row 2, 'walker' of world 2, DOF 'left_knee': expected a finite number >= 0, got -4.0"
    )
    with pytest.raises(ViewError, match=message):
        view.set_dof_stiffnesses(gains)
    with pytest.raises(ViewError, match=r"set_masses: row 0, .* link 'base': .* got -1; nothing was written"):
        view.set_masses(-1)


def test_rows_that_are_not_written_may_hold_anything(view):
    values = np.full(view.shape_of("dof_forces"), NAN, dtype=np.float32)
    values[1] = 2.0
    for options in ({"indices": [1]}, {"mask": [False, True, False]}, {"indices": wp.array([1], dtype=int)}):
        view.set_dof_forces(0.0)
        view.set_dof_forces(values, **options)
        np.testing.assert_array_equal(reading(view, "dof_forces")[:, 0], [0.0, 2.0, 0.0])
    view.raise_errors()


def test_forces_and_gravity_are_finite(robots):
    view = robots.view.rigid_bodies("ball")
    forces = np.zeros((WORLDS, 3), dtype=np.float32)
    forces[1, 2] = NAN
    for name in ("forces", "torques"):
        with pytest.raises(ViewError, match=f"apply_forces: {name}: row 1, 'ball' of world 1: .* got .*nan"):
            view.apply_forces(**{name: forces})
    with pytest.raises(ViewError, match="set_gravity: world 1: expected a finite number"):
        robots.view.set_gravity(forces)
    view.apply_forces(wp.array(forces, dtype=float))
    robots.view.set_gravity(wp.array(forces, dtype=float))

    assert (robots.state.body_f.numpy() == 0.0).all()
    assert np.isfinite(robots.view.gravity).all()
    with pytest.raises(ViewError, match="set_gravity: 1 values on the device"):
        robots.raise_errors()
    with pytest.raises(ViewError, match="apply_forces: 1 values on the device"):
        robots.raise_errors()


def test_quaternions_of_ball_joints_are_unit(build):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    links = [builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for _ in range(2)]
    joints = [builder.add_joint_revolute(-1, links[0], label="hinge")]
    joints.append(builder.add_joint_ball(links[0], links[1], label="shoulder"))
    builder.add_articulation(joints, label="arm")
    with build("xpbd", builder, 2) as simulation:
        view = simulation.view.articulations("arm")
        coords = reading(view, "joint_coords")
        wrong = coords.copy()
        wrong[1, 1:] *= 2.0
        with pytest.raises(ViewError, match=r"set_joint_coords: row 1, .* joint 'shoulder': expected .* quaternion"):
            view.set_joint_coords(wrong)
        view.set_joint_coords(wp.array(wrong, dtype=float))
        np.testing.assert_array_equal(reading(view, "joint_coords"), coords)
        with pytest.raises(ViewError, match="set_joint_coords: 4 values"):
            view.raise_errors()

        positions = wp.array(np.full((2, 4), [0.0, NAN, 0.0, 0.0], dtype=np.float32))
        view.set_dof_positions(positions)
        np.testing.assert_array_equal(reading(view, "joint_coords"), coords)
        with pytest.raises(ViewError, match="set_dof_positions: 2 values"):
            view.raise_errors()


class Closed:
    """An array of a library that does not hand out its memory, as one with gradients."""

    def __dlpack__(self, **options):
        raise BufferError("cannot export an array that requires gradients")

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (True, "expected float32 .*, got bool"),
        (np.ones(4, dtype=bool), "expected float32 .*, got bool"),
        (1j, "expected float32 .*, got complex128"),
        (np.zeros(4, dtype=np.complex64), "expected float32 .*, got complex64"),
        (np.zeros(4, dtype=np.int64), "expected float32 .*, got int64"),
        (np.zeros((1, WORLDS, 4), dtype=np.float32), r"got float32 of shape \[1, 3, 4\]"),
        (np.zeros((WORLDS, 3), dtype=np.float32), r"got float32 of shape \[3, 3\]"),
        ([[1.0, 2.0], [3.0]], "lists of them of equal lengths"),
        (["a", "b"], "got <U1"),
        (Closed(), "memory of this Closed cannot be read: .*gradients"),
        (wp.zeros((1, WORLDS, 4), dtype=float), r"got \[1, 3, 4\]"),
        (wp.zeros(4, dtype=wp.float64), "expected float32, got float64"),
        ([1e300] * 4, r"got 1e\+300"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_is_not_a_float32_of_the_shape_is_refused(view, data, message):
    view.set_dof_forces(0.0)
    with pytest.raises(ViewError, match=f"set_dof_forces: .*{message}"):
        view.set_dof_forces(data)

    assert (reading(view, "dof_forces") == 0.0).all()


@pytest.mark.parametrize("out", [np.zeros((), dtype=np.float32), Closed(), [0.0], 1.0])
def test_an_out_that_cannot_be_written_is_refused(view, out):
    with pytest.raises(ViewError, match="get_masses: out: "):
        view.get_masses(out)


class OnlyDLPack:
    """An array of another library."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("shape", [(), (4,), (1, 4), (WORLDS, 1), (WORLDS, 4)])
def test_arrays_of_every_library_broadcast_alike(view, shape):
    values = np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    expected = np.broadcast_to(values, (WORLDS, 4))
    for data in (values, OnlyDLPack(values), values.tolist(), *([wp.array(values, dtype=float)] if shape else [])):
        view.set_dof_forces(0.0)
        view.set_dof_forces(data)
        np.testing.assert_array_equal(reading(view, "dof_forces"), expected)


def test_a_jointed_body_is_refused_only_if_its_row_is_written(robots):
    view = robots.view.rigid_bodies(["ball", "left_shin"], worlds=[0])
    before = reading(view, "transforms")
    moved = before.copy()
    moved[:, 0] += 1.0
    for options in ({"indices": [0]}, {"mask": [True, False]}):
        view.set_transforms(moved, **options)
        view.set_velocities(0.5, **options)
        np.testing.assert_allclose(reading(view, "transforms"), [moved[0], before[1]], atol=1e-6)
    with pytest.raises(ViewError, match="set_transforms: row 1, 'left_shin' is held by a joint"):
        view.set_transforms(moved)

    view.set_velocities(wp.zeros((2, 6), dtype=float), indices=wp.array([1], dtype=int))
    with pytest.raises(ViewError, match="1 bodies on the device are held by joints, such as in row 1, "):
        view.raise_errors()


def test_a_pose_is_set_through_frames_that_are_reported_anew(build):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_body(label="ball", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    with build("xpbd", builder, 2) as simulation:
        view = simulation.view.rigid_bodies("ball")
        view.set_transforms([1.0, 2.0, 3.0, *UNIT])
        frames = simulation.model.joint_X_p.numpy()
        frames[:, :3] = [0.0, 0.0, 5.0]
        simulation.model.joint_X_p.assign(frames)
        simulation.notify_model_changed(newton.ModelFlags.JOINT_PROPERTIES)
        view.set_transforms([1.0, 2.0, 3.0, *UNIT])

        np.testing.assert_allclose(reading(view, "transforms")[:, :3], [[1.0, 2.0, 3.0]] * 2, atol=1e-6)
        np.testing.assert_allclose(simulation.state.joint_q.numpy()[2::7], -2.0, atol=1e-6)


def test_a_closed_simulation_is_read_and_not_set(build):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_body(label="ball", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    with build("xpbd", builder, 1) as simulation:
        view, whole = simulation.view.rigid_bodies("ball"), simulation.view
    calls = SimpleNamespace(
        setter=lambda: view.set_masses(1.0),
        pose=lambda: view.set_transforms([0.0] * 6 + [1.0]),
        attribute=lambda: view.set_attribute("body_qd", 0.0),
        force=lambda: view.apply_forces(1.0),
        gravity=lambda: whole.set_gravity(0.0),
    )
    for call in vars(calls).values():
        with pytest.raises(SimulationError, match="the simulation is closed"):
            call()

    assert reading(view, "masses").tolist() == [1.0]
    whole.invalidate()
    with pytest.raises(SimulationError, match="gravity: the simulation's view was invalidated"):
        _ = whole.gravity


def test_every_rule_is_tried():
    used = {table[name].valid for table, name in CASES}

    assert used == set(WRONG)
    assert used | {"number"} == set(RULES)
