"""Quantities against formulas in NumPy, in states drawn at random."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.errors import ConfigError
from pippin_task import Quantity

from .reached import reached

CLOSE = {"rtol": 2e-5, "atol": 2e-5}
TORSO = 0


def joints_of(terms):
    state = terms.simulation.state
    return state.joint_q.numpy().reshape(3, 15)[:, 7:], state.joint_qd.numpy().reshape(3, 14)[:, 6:]


def limits_of(terms):
    model = terms.simulation.model
    return (each.numpy().reshape(3, 14)[:, 6:] for each in (model.joint_limit_lower, model.joint_limit_upper))


def heading_of(bodies):
    forward = bodies["R"][:, TORSO, :, 0]
    return np.arctan2(forward[:, 1], forward[:, 0])


def test_joint_positions_leave_the_free_root_out(terms):
    q, _ = joints_of(terms)

    np.testing.assert_allclose(terms.measure("joint-positions"), q, **CLOSE)


def test_relative_joint_positions_count_from_those_when_the_term_was_made(terms):
    quantity = terms.make("quantity", "joint-positions", relative=True)
    before, _ = joints_of(terms)
    before = before.copy()
    joint_q = terms.simulation.state.joint_q
    joint_q.assign(joint_q.numpy() + 0.25)

    np.testing.assert_allclose(terms.read(quantity), joints_of(terms)[0] - before, **CLOSE)


def test_normalised_joint_positions_map_the_limits_to_one(terms):
    q, (lower, upper) = joints_of(terms)[0], limits_of(terms)

    measured = terms.measure("joint-positions", normalised=True)

    np.testing.assert_allclose(measured, 2 * (q - lower) / (upper - lower) - 1, **CLOSE)


@pytest.mark.parametrize(("form", "function"), [("cosine", np.cos), ("sine", np.sin)])
def test_a_form_of_joint_positions_is_that_of_the_angle(terms, form, function):
    np.testing.assert_allclose(
        terms.measure("joint-positions", form=form, relative=False), function(joints_of(terms)[0]), **CLOSE
    )


def test_the_action_acceleration_is_the_second_difference_in_each_episode(tasked):
    """Of an action that grows as t²: 2 in each step, once two actions of the episode were before."""
    observations = {"policy": {"a": {"of": "action-acceleration"}, "rate": {"of": "action-rate"}}}
    with tasked(observations=observations, terminations={}) as simulation:
        task, seen = simulation.task, []
        for t in (1, 2, 3, 4, 1, 2, 3):
            if t == 1:
                simulation.reset()
                assert not task.observations["policy"].values.numpy().any()
            task.episodes.action.fill_(float(t * t))
            simulation.step()
            seen.append(task.observations["policy"].values.numpy().copy())

    np.testing.assert_array_equal(np.array(seen)[..., 0].T, [[1, 2, 2, 2, 1, 2, 2]] * 3)
    np.testing.assert_array_equal(np.array(seen)[..., 1].T, [[1, 3, 5, 7, 1, 3, 5]] * 3)


def test_the_remaining_time_is_what_is_left_of_an_episode(tasked):
    left, share = {"of": "remaining-time"}, {"of": {"type": "remaining-time", "share": True}}
    observations = {"policy": {"left": left, "share": share}}
    with tasked(observations=observations, terminations={}, episode_length=0.1) as simulation:
        group, seen, last = simulation.task.observations["policy"], [], []
        simulation.reset()
        for _ in range(6):
            seen.append(group.values.numpy().copy())
            simulation.step()
            last.append(group.final.numpy().copy())

    times = np.array([[0.1, 0.08, 0.06, 0.04, 0.02, 0.1]]).T
    np.testing.assert_allclose(np.array(seen), np.stack([times, 10 * times], axis=-1).repeat(3, axis=1), atol=1e-6)
    np.testing.assert_allclose(last[4], 0.0, atol=1e-7)
    with pytest.raises(ConfigError, match="an episode has no end to count to"):
        tasked(observations=observations)


def test_a_form_has_no_limits_and_is_no_share(terms):
    with pytest.raises((ConfigError, ValueError), match="leave out 'form' or 'normalised'"):
        terms.make("quantity", "joint-positions", form="sine", normalised=True)
    with pytest.raises(ConfigError, match="a sine has no limits"):
        terms.make("quantity", "joint-positions", form="sine").limits("soft_limits")


def test_joint_velocities_are_those_of_the_state(terms):
    ankles = terms.measure("joint-velocities", joints=("ankle_.*",))

    np.testing.assert_allclose(ankles, joints_of(terms)[1][:, 1::2], **CLOSE)


def test_joint_efforts_are_what_the_actuators_applied(terms):
    applied = terms.simulation.actuators["legs"].applied_effort.numpy()

    np.testing.assert_allclose(terms.measure("joint-efforts", joints=("hip_.*",)), applied[:, ::2], **CLOSE)


def test_joint_power_is_the_size_of_effort_times_velocity(terms):
    applied, (_, qd) = terms.simulation.actuators["legs"].applied_effort.numpy(), joints_of(terms)

    np.testing.assert_allclose(terms.measure("joint-power"), np.abs(applied * qd), **CLOSE)


@pytest.mark.parametrize("frame", ["world", "reference", "yaw"])
def test_a_relative_position_is_of_points_of_two_bodies(terms, bodies, frame):
    offset, beside, other = np.array([0.1, -0.2, 0.3]), np.array([0.2, 0.0, -0.1]), 3
    name = terms.simulation.model.body_label[other].rpartition("/")[2]
    point = bodies["p"][:, other] + bodies["R"][:, other] @ offset
    apart = point - bodies["p"][:, TORSO] - bodies["R"][:, TORSO] @ beside
    if frame == "reference":
        apart = np.einsum("wij,wi->wj", bodies["R"][:, TORSO], apart)
    if frame == "yaw":
        c, s = np.cos(heading_of(bodies)), np.sin(heading_of(bodies))
        apart = np.stack([c * apart[:, 0] + s * apart[:, 1], c * apart[:, 1] - s * apart[:, 0], apart[:, 2]], axis=1)
    torso = terms.simulation.model.body_label[TORSO].rpartition("/")[2]

    measured = terms.measure(
        "relative-position",
        body=name,
        offset=tuple(offset),
        reference=torso,
        reference_offset=tuple(beside),
        frame=frame,
    )

    np.testing.assert_allclose(measured, apart, **CLOSE)


def test_a_relative_position_without_a_reference_is_beside_a_point_of_the_world(terms, bodies):
    measured = terms.measure("relative-position", reference_offset=(1.0, 2.0, 3.0))

    np.testing.assert_allclose(measured, bodies["p"][:, TORSO] - [1.0, 2.0, 3.0], **CLOSE)


def test_the_mass_centre_is_the_mean_by_mass(terms, bodies):
    mass = terms.simulation.model.body_mass.numpy().reshape(3, 9)
    centres = bodies["p"] + np.einsum("wbij,wbj->wbi", bodies["R"], bodies["com"])

    expected = (mass[..., None] * centres).sum(axis=1) / mass.sum(axis=1, keepdims=True)

    np.testing.assert_allclose(terms.measure("mass-centre"), expected, **CLOSE)


def test_the_angular_momentum_is_that_about_the_centre_of_mass(terms, bodies):
    """Of all bodies: about the moving centre, so that a speed of the whole adds nothing."""
    model = terms.simulation.model
    mass = model.body_mass.numpy().reshape(3, 9, 1)
    inertia = model.body_inertia.numpy().reshape(3, 9, 3, 3)
    centres = bodies["p"] + np.einsum("abij,abj->abi", bodies["R"], bodies["com"])
    middle, drift = (
        (mass * each).sum(axis=1, keepdims=True) / mass.sum(axis=1, keepdims=True) for each in (centres, bodies["v"])
    )
    spins = np.einsum("abij,abjk,ablk,abl->abi", bodies["R"], inertia, bodies["R"], bodies["w"])
    expected = (spins + mass * np.cross(centres - middle, bodies["v"] - drift)).sum(axis=1)

    np.testing.assert_allclose(terms.measure("angular-momentum"), expected, rtol=1e-4, atol=1e-4)


def test_root_height_and_position_are_of_the_origin(terms, bodies):
    position = terms.measure("root-position")

    np.testing.assert_allclose(position, bodies["p"][:, TORSO], **CLOSE)
    np.testing.assert_allclose(terms.measure("root-height"), position[:, 2:], **CLOSE)


def test_body_positions_stand_side_by_side(terms, bodies):
    feet = terms.measure("body-positions", bodies=(".*_foot",))

    np.testing.assert_allclose(feet, bodies["p"][:, 2::2].reshape(3, 12), **CLOSE)


def test_root_orientation_has_w_above_zero(terms, bodies):
    q = bodies["quaternion"][:, TORSO]
    unique = q * np.where(q[:, 3:] < 0, -1, 1)
    assert (q[:, 3] < 0).any()

    np.testing.assert_allclose(terms.measure("root-orientation"), unique, **CLOSE)
    np.testing.assert_allclose(terms.measure("root-orientation", order="wxyz"), np.roll(unique, 1, axis=1), **CLOSE)


def test_root_orientation_can_be_left_as_it_is(terms, bodies):
    q = bodies["quaternion"][:, TORSO]

    measured = terms.measure("root-orientation", order="wxyz", unique=False)

    np.testing.assert_allclose(measured, np.roll(q, 1, axis=1), **CLOSE)


@pytest.mark.parametrize("name", ["root-linear-velocity", "root-angular-velocity"])
def test_a_root_velocity_is_told_in_three_frames(terms, bodies, name):
    v = bodies["v" if "linear" in name else "w"][:, TORSO]
    angle = heading_of(bodies)
    c, s = np.cos(angle), np.sin(angle)
    turned = np.stack([c * v[:, 0] + s * v[:, 1], c * v[:, 1] - s * v[:, 0], v[:, 2]], axis=1)

    np.testing.assert_allclose(terms.measure(name), v, **CLOSE)
    np.testing.assert_allclose(terms.measure(name, frame="yaw"), turned, **CLOSE)
    inside = np.einsum("wji,wj->wi", bodies["R"][:, TORSO], v)
    np.testing.assert_allclose(terms.measure(name, frame="body"), inside, **CLOSE)


def test_the_velocity_of_the_origin_lacks_the_turning_about_it(terms, bodies):
    """The foot's centre of mass is not at its origin."""
    foot, lever = 2, np.einsum("wij,wj->wi", bodies["R"][:, 2], bodies["com"][:, 2])
    expected = bodies["v"][:, foot] - np.cross(bodies["w"][:, foot], lever)
    assert np.abs(lever).max() > 0.01

    measured = terms.measure("root-linear-velocity", body="front_left_foot", point="origin")

    np.testing.assert_allclose(measured, expected, **CLOSE)


def test_projected_gravity_points_down_in_the_body(terms, bodies):
    down = np.einsum("wji,j->wi", bodies["R"][:, TORSO], [0.0, 0.0, -1.0])

    np.testing.assert_allclose(terms.measure("projected-gravity"), down, **CLOSE)


def test_heading_to_is_the_angle_from_the_forward_axis(terms, bodies):
    way = np.array([3.0, -2.0]) - bodies["p"][:, TORSO, :2]
    angle = np.arctan2(way[:, 1], way[:, 0]) - heading_of(bodies)

    measured = terms.measure("heading-to", target=(3.0, -2.0))

    np.testing.assert_allclose(measured, np.stack([np.cos(angle), np.sin(angle)], axis=1), **CLOSE)


def test_actions_are_read_with_their_change(terms):
    worlds = terms.simulation.task.episodes
    action, last = worlds.action.numpy(), worlds.last_action.numpy()

    np.testing.assert_allclose(terms.measure("last-action"), action, **CLOSE)
    np.testing.assert_allclose(terms.measure("action-rate"), action - last, **CLOSE)


def test_a_command_is_read_with_its_labels_and_unit(terms):
    quantity = terms.make("quantity", "command", command="target")

    assert (tuple(quantity.labels), quantity.unit) == (("x", "y", "yaw"), "m/s, m/s, rad/s")
    np.testing.assert_allclose(terms.read(quantity), terms.commands["target"].value.numpy())


def test_a_sensor_gives_vectors_side_by_side_and_flags_as_numbers(terms):
    forces = terms.set("net_force", np.random.default_rng(1).normal(size=(3, 4, 3)))
    flags = terms.set("in_contact", np.random.default_rng(2).random((3, 4)) < 0.5)
    quantity = terms.make("quantity", "sensor", sensor="feet", output="net_force")

    assert quantity.unit == "N"
    assert [label.rpartition("/")[2] for label in quantity.labels] == list("xyz") * 4
    np.testing.assert_allclose(terms.read(quantity), forces.reshape(3, 12), **CLOSE)
    np.testing.assert_array_equal(terms.measure("sensor", sensor="feet", output="in_contact"), flags)


def test_a_sensor_of_one_body_has_axes(terms):
    quantity = terms.make("quantity", "sensor", sensor="torso", output="angular_velocity")

    assert tuple(quantity.labels) == ("x", "y", "z")


def test_a_view_gives_any_of_its_quantities(terms, bodies):
    masses = terms.measure("view", name="masses", pattern="**", rows="articulations")
    poses = terms.make("quantity", "view", name="transforms", pattern="**/*_foot", rows="rigid-bodies")

    np.testing.assert_allclose(masses, terms.simulation.model.body_mass.numpy().reshape(3, 9), **CLOSE)
    assert poses.labels[6] == "front_left_foot/qw"
    np.testing.assert_allclose(terms.read(poses).reshape(3, 4, 7)[..., :3], bodies["p"][:, 2::2], **CLOSE)


def test_units_are_those_of_the_quantities(terms):
    names = ["joint-positions", "joint-velocities", "joint-accelerations", "joint-efforts", "joint-power"]

    units = [terms.make("quantity", name).unit for name in names]

    assert units == ["rad", "rad/s", "rad/s²", "N·m", "W"]


def position(state):
    return state.body_q.numpy().reshape(3, 9, 7)[:, TORSO, :3].copy()


def nearness(state, *target):
    return -np.linalg.norm(np.array(target) - position(state)[:, : len(target)], axis=1, keepdims=True)


def mask(*worlds):
    return wp.array([world in worlds for world in range(4)], dtype=bool, device="cpu")


@pytest.mark.parametrize(
    ("name", "keys", "read"),
    [
        ("joint-accelerations", {}, lambda state: state.joint_qd.numpy().reshape(3, 14)[:, 6:].copy()),
        ("displacement-rate", {}, position),
        ("progress", {"target": (5.0, 1.0)}, lambda state: nearness(state, 5.0, 1.0)),
        ("progress", {"target": (5.0, 1.0, 2.0)}, lambda state: nearness(state, 5.0, 1.0, 2.0)),
    ],
)
def test_a_rate_is_the_change_over_a_control_step_and_begins_anew_in_a_reset_world(ants, name, keys, read):
    simulation = ants.simulation
    simulation.reset()
    simulation.state.joint_qd.fill_(0.3)
    simulation.invalidate("joints")
    quantity = ants.make("quantity", name, **keys)
    quantity.reset(mask(0, 1, 2))
    at_start, start = ants.read(quantity), read(simulation.state)
    simulation.step()
    first, middle = ants.read(quantity), read(simulation.state)
    again = ants.read(quantity)
    simulation.step()
    simulation.reset([1])
    quantity.reset(mask(1))

    second, end = ants.read(quantity), read(simulation.state)

    close = {"atol": 1e-6 * max(np.abs(end).max() / 0.02, 1.0)}
    assert (np.abs(first).max(axis=1) > 0.01).all()
    np.testing.assert_array_equal(at_start, 0.0)
    np.testing.assert_allclose(first, (middle - start) / 0.02, **close)
    np.testing.assert_array_equal(again, first)
    np.testing.assert_array_equal(second[1], 0.0)
    np.testing.assert_allclose(second[[0, 2]], ((end - middle) / 0.02)[[0, 2]], **close)


def test_a_rate_resumes_from_a_file_as_if_nothing_had_been_saved(ball, configure, tmp_path):
    task = {"rewards": {"rate": {"type": "value", "of": "displacement-rate", "axes": "z", "weight": 1.0}}}
    config = configure("xpbd", dt=0.01, task=task)
    with pippin.Simulation(config, prototype=ball(height=5.0)) as simulation:
        simulation.step(3)
        simulation.save(tmp_path / "file")
        simulation.step()
        rates = simulation.task.episodes.reward_terms.numpy().copy()
    with pippin.Simulation.load(tmp_path / "file", prototype=ball(height=5.0)) as simulation:
        simulation.step()

        np.testing.assert_array_equal(simulation.task.episodes.reward_terms.numpy(), rates)
        np.testing.assert_allclose(rates, -9.81 * 0.04, rtol=1e-3)


class Labelled(Quantity):
    """A quantity of which only the labels matter."""

    labels = ()

    def __init__(self, labels):
        self.labels = labels

    def measure(self, state, out):
        pass


def test_axes_are_chosen_of_each_vector():
    labels = [f"{foot}/{axis}" for foot in ("left", "right") for axis in "xyz"]

    assert Labelled(labels).chosen_columns("zx") == [2, 0, 5, 3]
    assert Labelled(["x", "y", "z"]).chosen_columns("xy") == [0, 1]
    with pytest.raises(ConfigError, match="not the axes x, y, z; leave `axes` out"):
        Labelled(["hip", "knee"]).chosen_columns("x")


@pytest.mark.parametrize(
    ("type", "keys", "text"),
    [
        (
            "sensor",
            {"sensor": "feat", "output": "net_force"},
            r"sensor: there is no sensor 'feat'; did you mean 'feet'",
        ),
        ("sensor", {"sensor": "feet", "output": "force"}, r"output: 'feet' has no output 'force'.*net_force"),
        ("command", {"command": "velocity"}, r"command: there is no command 'velocity'; labels: target"),
        ("joint-efforts", {"actuators": ("arms",)}, r"actuators: there is no actuator 'arms'"),
        ("joint-efforts", {"joints": ("knee",)}, r"joints: no joint matches 'knee'"),
        ("joint-positions", {"joints": ("knee",)}, r"joints: no joint matches 'knee'"),
        ("root-height", {"body": ".*_foot"}, r"body: '.\*_foot' matches 4 bodies: .*; choose one"),
        ("body-positions", {"bodies": ("tail",)}, r"bodies: no body matches 'tail'"),
        (
            "view",
            {"name": "dof_position", "pattern": "**"},
            r"name: 'dof_position' is not a number of articulations; did you",
        ),
        ("view", {"name": "masses", "pattern": "bee"}, r"pattern: .*bee"),
    ],
)
def test_a_bad_choice_is_named_with_its_key_and_a_cure(ants, type, keys, text):
    with pytest.raises(ConfigError, match=text):
        ants.make("quantity", type, **keys)


def test_a_sensor_of_some_worlds_is_refused(ants):
    sensor = ants.simulation.sensors["toes"]
    whole, sensor.worlds = sensor.worlds, np.array([0, 2])

    try:
        with pytest.raises(ConfigError, match="sensor: 'toes' is in 2 of 3 worlds; a task needs all"):
            ants.make("quantity", "sensor", sensor="toes", output="net_force")
    finally:
        sensor.worlds = whole


def test_positions_that_are_both_relative_and_normalised_are_refused(ants):
    with pytest.raises(ValueError, match="exclude each other"):
        ants.choose("quantity", "joint-positions", relative=True, normalised=True)


def test_a_rate_in_a_task_starts_anew_where_an_episode_ends_within_the_step(ball, configure):
    """The height from which the next step starts is in `values`."""
    rate = {"type": "value", "of": "displacement-rate", "axes": "z", "weight": 1.0}
    task = {
        "reward_rate": "step",
        "rewards": {"rate": rate},
        "observations": {"policy": {"z": {"of": "root-height"}, "rate": {"of": "displacement-rate", "axes": "z"}}},
        "terminations": {"low": {"type": "outside", "of": "root-height", "low": 4.98}},
    }
    config = configure("xpbd", dt=0.01, scene={"worlds": 2}, capture="require", task=task)
    ended = []
    with pippin.Simulation(config, prototype=ball(height=5.0)) as simulation:
        simulation.state.joint_qd[8:9].fill_(-0.3)
        simulation.invalidate("joints")
        task, seen = simulation.task, simulation.task.observations["policy"]
        for _ in range(15):
            before = seen.values.numpy()[:, 0].copy()
            simulation.step()
            ended.append(task.episodes.terminated.numpy().copy())

            expected = (reached(task)[:, 0] - before) / 0.01
            np.testing.assert_allclose(task.episodes.reward.numpy(), expected, atol=1e-3)
            np.testing.assert_allclose(seen.values.numpy()[:, 1], np.where(ended[-1], 0.0, expected), atol=1e-3)

    assert (np.sum(ended, axis=0) > 1).all()
    assert any(one != two for one, two in ended)


def test_a_velocity_may_be_that_of_a_point_such_as_an_imu(terms, bodies):
    offset = np.array([0.1, -0.2, 0.3])
    arm = np.einsum("wij,wj->wi", bodies["R"][:, TORSO], offset - bodies["com"][:, TORSO])
    velocity = bodies["v"][:, TORSO] + np.cross(bodies["w"][:, TORSO], arm)

    measured = terms.measure("root-linear-velocity", offset=tuple(offset), frame="body")

    np.testing.assert_allclose(measured, np.einsum("wji,wj->wi", bodies["R"][:, TORSO], velocity), **CLOSE)
    with pytest.raises(ValueError, match="'offset' counts from the origin, and stands in place of 'point'"):
        terms.make("quantity", "root-linear-velocity", offset=(0.0, 0.0, 0.1), point="origin")


@pytest.mark.parametrize("order", ["columns", "rows"])
def test_bodies_may_be_told_in_the_frame_of_another_one(terms, bodies, order):
    chosen = {"bodies": ("front_left_foot", "right_back_foot"), "reference": "torso"}
    names = [label.rpartition("/")[2] for label in terms.simulation.model.body_label[:9]]
    rows = [names.index(name) for name in chosen["bodies"]]
    back = np.swapaxes(bodies["R"][:, TORSO], 1, 2)[:, None]
    places = (back @ (bodies["p"][:, rows] - bodies["p"][:, [TORSO]])[..., None])[..., 0]
    matrices = (back @ bodies["R"][:, rows])[..., :2]
    numbers = matrices if order == "rows" else np.swapaxes(matrices, 2, 3)

    np.testing.assert_allclose(terms.measure("body-positions", **chosen), places.reshape(3, 6), **CLOSE)
    rotations = terms.make("quantity", "body-rotations", order=order, **chosen)
    np.testing.assert_allclose(terms.read(rotations), numbers.reshape(3, 12), **CLOSE)
    assert [label.rpartition("/")[2] for label in rotations.labels[1:3]] == (
        ["xy", "yx"] if order == "rows" else ["yx", "zx"]
    )
    np.testing.assert_allclose(
        terms.measure("body-rotations", bodies=("torso",), order="rows"),
        bodies["R"][:, TORSO, :, :2].reshape(3, 6),
        **CLOSE,
    )


def test_a_command_tells_how_much_it_asks(terms):
    x, y, yaw = terms.commands["target"].value.numpy().T

    speed = terms.measure("command", command="target", form="speed")

    np.testing.assert_allclose(speed[:, 0], np.hypot(x, y) + np.abs(yaw), **CLOSE)


def test_forces_may_be_told_by_their_logarithm(terms):
    forces = terms.set("net_force", 50.0 * np.random.default_rng(8).normal(size=(3, 4, 3)))
    flat = forces.reshape(3, 12)

    measured = terms.measure("sensor", sensor="feet", output="net_force", form="signed-log")

    np.testing.assert_allclose(measured, np.sign(flat) * np.log1p(np.abs(flat)), **CLOSE)
    with pytest.raises(ConfigError, match="form: 'in_contact' of 'feet' is true or false; leave 'form' out"):
        terms.make("quantity", "sensor", sensor="feet", output="in_contact", form="signed-log")


@pytest.mark.parametrize("reduction", ["mean", "least", "most"])
def test_a_height_over_a_step_is_one_number_of_its_rays(reduction):
    """The rays of a grid meet the ground, and a plate of 0.1 m."""
    builder = newton.ModelBuilder(up_axis="Z")
    inertia = wp.diag(wp.vec3(0.1))
    builder.add_body(label="box", mass=1.0, inertia=inertia, xform=wp.transform((0.0, 0.0, 1.0), wp.quat_identity()))
    builder.add_shape_box(-1, xform=wp.transform((0.5, 0.0, 0.0), wp.quat_identity()), hx=0.45, hy=1.0, hz=0.1)
    height = {"of": {"type": "height-over-ground", "sensor": "below", "reduction": reduction}}
    scan, low = ({"of": {**height["of"], **keys}} for keys in ({"type": "height-scan"}, {"clip": [0.0, 0.95]}))
    scan["of"].pop("reduction")
    grid = {"size": [0.4, 0.0], "resolution": 0.1}
    tables = {
        "simulation": {"device": "cpu"},
        "scene": {"worlds": 2, "ground": True},
        "solver": {"type": "xpbd"},
        "sensors": {"below": {"type": "ray-caster", "body": "box", "align": "world", "grid": grid}},
        "task": {"observations": {"one": {"h": height}, "all": {"h": scan}, "low": {"h": low}}},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        found = {name: group.values.numpy().copy() for name, group in simulation.task.observations.items()}

    rays = found["all"]
    np.testing.assert_allclose([rays.min(), rays.max()], [0.9, 1.0], atol=1e-5)
    wanted = {"mean": rays.mean(axis=1), "least": rays.min(axis=1), "most": rays.max(axis=1)}[reduction]
    np.testing.assert_allclose(found["one"][:, 0], wanted, atol=1e-6)
    np.testing.assert_allclose(found["low"][:, 0], np.clip(wanted, 0.0, 0.95), atol=1e-6)
