"""Laws against formulas in NumPy, in states drawn at random, under their names here and in Isaac Lab."""

import numpy as np
import pytest
import warp as wp
from pippin.errors import ConfigError

CLOSE = {"rtol": 2e-5, "atol": 2e-5}
JOINTS = {"type": "joint-positions", "joints": ("hip_.*",)}
FEET = {"type": "body-positions", "bodies": (".*_foot",)}


def mask(*worlds):
    return wp.array([world in worlds for world in range(4)], dtype=bool, device="cpu")


def lands(term, terms, in_contact, last_air_time):
    """Return the reward after readings of the feet."""
    terms.set("in_contact", np.array(in_contact))
    terms.set("last_air_time", np.array(last_air_time))
    return terms.judge(term)


@pytest.fixture
def x(terms):
    return terms.measure(**JOINTS)


@pytest.mark.parametrize(
    ("type", "keys", "formula"),
    [
        ("value", {}, lambda x: x.sum(axis=1)),
        ("value", {"target": 0.5}, lambda x: (x - 0.5).sum(axis=1)),
        ("l1", {}, lambda x: np.abs(x).sum(axis=1)),
        ("l1", {"target": (0.1, 0.2, 0.3, 0.4)}, lambda x: np.abs(x - [0.1, 0.2, 0.3, 0.4]).sum(axis=1)),
        ("l2", {}, lambda x: (x**2).sum(axis=1)),
        ("l2", {"clip": (-0.2, 0.1)}, lambda x: (x.clip(-0.2, 0.1) ** 2).sum(axis=1)),
        ("l2", {"target": -3.0, "wrap": True}, lambda x: (((x + 3.0 + np.pi) % (2 * np.pi) - np.pi) ** 2).sum(axis=1)),
        ("norm", {}, lambda x: np.sqrt((x**2).sum(axis=1))),
        ("norm", {"target": 0.5}, lambda x: np.linalg.norm(x - 0.5, axis=1)),
        ("tanh", {"std": 0.5}, lambda x: 1.0 - np.tanh(np.linalg.norm(x, axis=1) / 0.5)),
        ("tanh", {"target": 0.5, "std": 2.0}, lambda x: 1.0 - np.tanh(np.linalg.norm(x - 0.5, axis=1) / 2.0)),
        ("exp", {"std": 0.5}, lambda x: np.exp(-(x**2).sum(axis=1) / 0.25)),
        (
            "exp",
            {"std": 2.0, "target": 6.0, "wrap": True},
            lambda x: np.exp(-((x + 2 * np.pi - 6.0) ** 2).sum(1) / 4.0),
        ),
        (
            "exp",
            {"std": {"hip_[12]": 0.5, "hip_[34]": 2.0}},
            lambda x: np.exp(-((x / [0.5, 0.5, 2.0, 2.0]) ** 2).sum(axis=1)),
        ),
        (
            "exp",
            {"std": {"hip_[12]": 0.5, "hip_[34]": 2.0}, "mean": True},
            lambda x: np.exp(-((x / [0.5, 0.5, 2.0, 2.0]) ** 2).mean(axis=1)),
        ),
        ("outside", {"low": -0.2}, lambda x: np.maximum(-0.2 - x, 0.0).sum(axis=1)),
        (
            "outside",
            {"low": -0.2, "high": 0.1, "target": 0.1},
            lambda x: (np.maximum(-0.1 - x, 0.0) + np.maximum(x - 0.2, 0.0)).sum(axis=1),
        ),
        ("inside", {"low": -0.9, "high": 0.7}, lambda x: ((x >= -0.9) & (x <= 0.7)).all(axis=1)),
        ("beyond", {"low": -0.9, "high": 0.7}, lambda x: ((x < -0.9) | (x > 0.7)).any(axis=1)),
    ],
)
def test_a_reward_over_a_quantity_is_its_formula(terms, x, type, keys, formula):
    np.testing.assert_allclose(terms.evaluate(type, of=JOINTS, **keys), formula(x), **CLOSE)


FORMS = {
    "gaussian": lambda s: 0.1 ** (s * s),
    "linear": lambda s: np.maximum(1.0 - 0.9 * s, 0.0),
    "quadratic": lambda s: np.maximum(1.0 - 0.9 * s * s, 0.0),
    "long-tail": lambda s: 1.0 / (9.0 * s * s + 1.0),
}
"""What `dm_control.utils.rewards.tolerance` is at a distance of s margins."""


@pytest.mark.parametrize("form", FORMS)
def test_a_tolerance_falls_with_the_distance_from_its_range(terms, x, form):
    """1 in the range, 0.1 at the margin, and less beyond it; of several numbers the length of the distances counts."""
    one, law = {**JOINTS, "joints": ("hip_1",)}, {"form": form, "margin": 0.25}
    apart = np.linalg.norm(np.maximum(-0.2 - x, 0.0) + np.maximum(x - 0.1, 0.0), axis=1)
    for distance, value in ((-0.1, 1.0), (0.0, 1.0), (0.25, 0.1), (0.5, FORMS[form](2.0))):
        low = float(x[1, 0]) + distance
        found = terms.evaluate("tolerance", of=one, low=low, **law)
        np.testing.assert_allclose(found[1], value, rtol=1e-4, atol=1e-6)

    found = terms.evaluate("tolerance", of=JOINTS, low=-0.2, high=0.1, form=form, margin=float(apart[1]) + 0.01)
    np.testing.assert_allclose(found, FORMS[form](apart / (apart[1] + 0.01)), **CLOSE)
    found = terms.evaluate("tolerance", of=one, target=0.5, **law)
    np.testing.assert_allclose(found, FORMS[form](np.abs(x[:, 0] - 0.5) / 0.25), **CLOSE)


def test_inside_is_true_and_false_in_these_states(terms, x):
    """The test above would hold as well for a reward that is always the same."""
    held = terms.evaluate("inside", of=JOINTS, low=-0.9, high=np.sort(x.max(axis=1))[1])

    assert set(held) == {0.0, 1.0}


def test_soft_limits_are_a_share_of_the_range_about_its_middle(terms, x):
    model = terms.simulation.model
    low, high = (each.numpy().reshape(3, 14)[:, 6::2] for each in (model.joint_limit_lower, model.joint_limit_upper))
    middle, half = (low + high) / 2, 0.4 * (high - low) / 2
    expected = np.maximum(middle - half - x, 0.0) + np.maximum(x - middle - half, 0.0)
    assert expected.sum() > 0.1

    np.testing.assert_allclose(terms.evaluate("outside", of=JOINTS, soft_limits=0.4), expected.sum(axis=1), **CLOSE)


def test_joint_deviation_counts_from_the_positions_when_the_task_was_made(terms):
    """Isaac Lab's `joint_deviation_l1`, and the `posture` of mjlab."""
    of = {"type": "joint-positions", "relative": True}
    deviation, posture = terms.make("reward", "l1", of=of), terms.make("reward", "exp", of=of, std=0.3)
    q = terms.simulation.state.joint_q.numpy().reshape(3, 15)
    change = np.random.default_rng(9).uniform(-0.3, 0.3, (3, 8))
    q[:, 7:] += change
    terms.simulation.state.joint_q.assign(q)

    np.testing.assert_allclose(terms.judge(deviation), np.abs(change).sum(axis=1), rtol=1e-4)
    np.testing.assert_allclose(terms.judge(posture), np.exp(-(change**2).sum(axis=1) / 0.09), rtol=1e-4)


def test_a_target_may_be_a_command_whose_numbers_belong_to_the_axes(terms, bodies):
    target = terms.commands["target"].value.numpy()
    expected = (bodies["v"][:, 0, 1] - target[:, 1]) ** 2

    measured = terms.evaluate("l2", of="root-linear-velocity", axes="y", target="target")

    np.testing.assert_allclose(measured, expected, **CLOSE)


def test_alive_and_terminated_are_each_other_s_rest(terms):
    np.testing.assert_array_equal(terms.evaluate("alive"), [0.0, 1.0, 1.0])
    np.testing.assert_array_equal(terms.evaluate("terminated"), [1.0, 0.0, 0.0])


def test_a_weight_that_counts_once_is_not_multiplied_by_the_control_step(terms):
    """The task multiplies by 0.02 s, because its weights are per second."""
    np.testing.assert_allclose(terms.evaluate("terminated", once=True), [50.0, 0.0, 0.0])


def test_air_time_counts_feet_that_land(terms):
    term = terms.make("reward", "air-time", sensor="feet", threshold=0.5)
    down, up = [[True] * 4] * 3, [[False, False, True, True]] * 3
    times = [[0.7, 0.4, 0.9, 0.9]] * 3

    standing = lands(term, terms, down, times)
    flying = lands(term, terms, up, times)
    landing = lands(term, terms, down, times)
    after = lands(term, terms, down, times)

    np.testing.assert_array_equal([standing, flying, after], np.zeros((3, 3)))
    np.testing.assert_allclose(landing, [0.7 + 0.4 - 2 * 0.5] * 3, **CLOSE)


def test_air_time_forgets_the_flight_of_a_reset_world(terms):
    term = terms.make("reward", "air-time", sensor="feet")
    lands(term, terms, [[False] * 4] * 3, np.zeros((3, 4)))
    term.reset(mask(1))

    landing = lands(term, terms, [[True] * 4] * 3, np.ones((3, 4)))

    np.testing.assert_allclose(landing, [2.0, 0.0, 2.0])


def test_air_time_counts_only_with_a_command_of_some_size(terms):
    """The first world's command has a size of 0.05 m/s, besides its yaw rate."""
    term = terms.make("reward", "air-time", sensor="feet", command="target")
    lands(term, terms, [[False] * 4] * 3, np.zeros((3, 4)))

    landing = lands(term, terms, [[True] * 4] * 3, np.ones((3, 4)))

    np.testing.assert_allclose(landing, [0.0, 2.0, 2.0])


def test_slip_is_the_level_speed_of_feet_in_contact(terms, bodies):
    touches = terms.set("in_contact", np.random.default_rng(5).random((3, 4)) < 0.5)
    speeds = np.linalg.norm(bodies["v"][:, 2::2, :2], axis=2)
    assert touches.any()

    np.testing.assert_allclose(terms.evaluate("slip", sensor="feet"), (speeds * touches).sum(axis=1), **CLOSE)


def test_the_speed_of_a_foot_may_be_that_of_a_point_of_it(terms, bodies):
    """A rigid body turns: v + w × r, with r from its centre of mass."""
    touches = terms.set("in_contact", np.random.default_rng(5).random((3, 4)) < 0.5)
    arms = np.einsum("abij,abj->abi", bodies["R"], np.array([0.1, 0.2, -0.3]) - bodies["com"])
    velocities = (bodies["v"] + np.cross(bodies["w"], arms))[:, 2::2]
    squares = (velocities[..., :2] ** 2).sum(axis=2)

    slip = terms.evaluate("slip", sensor="feet", offset=(0.1, 0.2, -0.3), squared=True)

    np.testing.assert_allclose(slip, (squares * touches).sum(axis=1), **CLOSE)


def test_clearance_weighs_a_wrong_height_by_the_speed(terms, bodies):
    speeds = np.linalg.norm(bodies["v"][:, 2::2, :2], axis=2)
    heights = bodies["p"][:, 2::2, 2]

    cost = terms.evaluate("clearance", of=FEET, axes="z", target=0.1, bodies=FEET["bodies"])

    np.testing.assert_allclose(cost, (np.abs(heights - 0.1) * speeds).sum(axis=1), **CLOSE)


def test_a_landing_costs_its_force_and_a_wrong_height_of_the_swing(terms, bodies):
    """The height counts since the foot left the ground, and a landing once."""
    forces = terms.set("net_force", np.random.default_rng(5).normal(size=(3, 4, 3)))
    hard = terms.make("reward", "landing", sensor="feet")
    swing = terms.make("reward", "swing-height", sensor="feet", of=FEET, axes="z", target=0.5)
    peaks = np.maximum(bodies["p"][:, 2::2, 2], 0.0)
    up, down = [[False, False, True, True]] * 3, [[True] * 4] * 3

    found = [(lands(hard, terms, touch, np.zeros((3, 4))), terms.judge(swing)) for touch in (down, up, down, down)]

    np.testing.assert_array_equal([found[0], found[1], found[3]], np.zeros((3, 2, 3)))
    np.testing.assert_allclose(found[2][0], np.linalg.norm(forces, axis=2)[:, :2].sum(axis=1), **CLOSE)
    np.testing.assert_allclose(found[2][1], ((peaks / 0.5 - 1.0) ** 2)[:, :2].sum(axis=1), **CLOSE)


def test_a_swing_of_a_reset_world_is_forgotten(terms):
    swing = terms.make("reward", "swing-height", sensor="feet", of=FEET, axes="z", target=0.5)
    lands(swing, terms, [[False] * 4] * 3, np.zeros((3, 4)))
    swing.reset(mask(1))

    landing = lands(swing, terms, [[True] * 4] * 3, np.zeros((3, 4)))

    assert landing[1] == 0.0
    assert (landing[[0, 2]] > 0.0).all()


def test_the_first_contact_of_an_episode_may_be_a_landing(terms):
    """As for Isaac Lab and mjlab; a body that goes on touching does not land again."""
    down, times = [[True] * 4] * 3, np.ones((3, 4))
    never = terms.make("reward", "air-time", sensor="feet", threshold=0.0)
    once = terms.make("reward", "air-time", sensor="feet", threshold=0.0, first=True)

    np.testing.assert_array_equal(lands(never, terms, down, times), [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(lands(once, terms, down, times), [4.0, 4.0, 4.0])
    np.testing.assert_array_equal(lands(once, terms, down, times), [0.0, 0.0, 0.0])
    once.reset(mask(2))
    np.testing.assert_array_equal(lands(once, terms, down, times), [0.0, 0.0, 4.0])


def test_the_slip_of_a_sensor_of_shapes_names_the_bodies_that_move(terms):
    touches = np.random.default_rng(5).random((3, 4)) < 0.5
    terms.set("in_contact", touches)
    named = terms.evaluate("slip", sensor="feet", bodies=(".*_foot",), squared=True)

    np.testing.assert_allclose(named, terms.evaluate("slip", sensor="feet", squared=True), **CLOSE)
    with pytest.raises(ConfigError, match="bodies: 1 for 4 of 'feet'; give one each"):
        terms.make("reward", "slip", sensor="feet", bodies=("torso",))


def test_a_tolerance_may_fall_to_another_number_than_zero(terms, x):
    """dm_control's (4 + control) / 5 in a product."""
    keys = {"of": JOINTS, "margin": 0.5, "form": "quadratic"}
    plain = terms.evaluate("tolerance", **keys)

    np.testing.assert_allclose(terms.evaluate("tolerance", least=0.8, **keys), (4.0 + plain) / 5.0, **CLOSE)
    assert plain.min() < 0.9


def test_contacts_are_counted_or_weighed_above_a_threshold(terms):
    sizes = np.linalg.norm(terms.set("net_force", np.random.default_rng(5).normal(size=(3, 4, 3))), axis=2)

    counted = terms.evaluate("contacts", sensor="feet", threshold=1.5)
    weighed = terms.evaluate("contacts", sensor="feet", threshold=1.5, excess=True)

    assert 0 < (sizes > 1.5).sum() < 12
    np.testing.assert_array_equal(counted, (sizes > 1.5).sum(axis=1))
    np.testing.assert_allclose(weighed, np.maximum(sizes - 1.5, 0.0).sum(axis=1), **CLOSE)


def test_contacts_with_history_take_the_largest_reading(terms):
    forces = terms.set("net_force_history", np.random.default_rng(6).normal(size=(3, 4, 2, 3)))
    sizes = np.linalg.norm(forces, axis=3).max(axis=2)

    counted = terms.evaluate("contacts", sensor="feet", threshold=2.0, history=True)

    np.testing.assert_array_equal(counted, (sizes > 2.0).sum(axis=1))


def of(type, **keys):
    return {"of": {"type": type, **keys}}


ISAAC = {
    "lin_vel_z_l2": ("l2", of("root-linear-velocity", frame="body") | {"axes": "z"}, lambda d: d["v"][:, 2] ** 2),
    "ang_vel_xy_l2": (
        "l2",
        of("root-angular-velocity", frame="body") | {"axes": "xy"},
        lambda d: (d["w"][:, :2] ** 2).sum(axis=1),
    ),
    "flat_orientation_l2": (
        "l2",
        of("projected-gravity") | {"axes": "xy"},
        lambda d: (d["g"][:, :2] ** 2).sum(axis=1),
    ),
    "base_height_l2": ("l2", of("root-height") | {"target": 0.4}, lambda d: (d["p"][:, 2] - 0.4) ** 2),
    "joint_torques_l2": ("l2", of("joint-efforts"), lambda d: (d["t"] ** 2).sum(axis=1)),
    "joint_vel_l1": ("l1", of("joint-velocities"), lambda d: np.abs(d["qd"]).sum(axis=1)),
    "joint_vel_l2": ("l2", of("joint-velocities"), lambda d: (d["qd"] ** 2).sum(axis=1)),
    "joint_pos_target_l2": (
        "l2",
        of("joint-positions") | {"target": 3.0, "wrap": True},
        lambda d: (((d["q"] - 3.0 + np.pi) % (2 * np.pi) - np.pi) ** 2).sum(axis=1),
    ),
    "action_l2": ("l2", of("last-action"), lambda d: (d["a"] ** 2).sum(axis=1)),
    "action_rate_l2": ("l2", of("action-rate"), lambda d: ((d["a"] - d["a'"]) ** 2).sum(axis=1)),
    "track_lin_vel_xy_exp": (
        "exp",
        of("root-linear-velocity", frame="body") | {"axes": "xy", "target": "target", "std": 0.5},
        lambda d: np.exp(-((d["v"][:, :2] - d["target"][:, :2]) ** 2).sum(axis=1) / 0.25),
    ),
    "track_ang_vel_z_exp": (
        "exp",
        of("root-angular-velocity", frame="body") | {"axes": "z", "target": "target", "std": 0.5},
        lambda d: np.exp(-((d["w"][:, 2] - d["target"][:, 2]) ** 2) / 0.25),
    ),
    "energy": ("l1", of("joint-power"), lambda d: (np.abs(d["qd"]) * np.abs(d["t"])).sum(axis=1)),
}


@pytest.mark.parametrize("name", ISAAC)
def test_a_reward_of_isaac_lab_has_a_form_here(terms, bodies, name):
    type, keys, formula = ISAAC[name]
    simulation, worlds, turn = terms.simulation, terms.simulation.task.episodes, bodies["R"][:, 0]
    state = simulation.state
    data = {
        "p": bodies["p"][:, 0],
        "v": np.einsum("wji,wj->wi", turn, bodies["v"][:, 0]),
        "w": np.einsum("wji,wj->wi", turn, bodies["w"][:, 0]),
        "g": -turn[:, 2],
        "q": state.joint_q.numpy().reshape(3, 15)[:, 7:],
        "qd": state.joint_qd.numpy().reshape(3, 14)[:, 6:],
        "t": simulation.actuators["legs"].applied_effort.numpy(),
        "a": worlds.action.numpy(),
        "a'": worlds.last_action.numpy(),
        "target": terms.commands["target"].value.numpy(),
    }

    np.testing.assert_allclose(terms.evaluate(type, **keys), formula(data), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("type", "keys", "text"),
    [
        ("l2", of("joint-positions") | {"axes": "x"}, "axes: the quantity has .*leave `axes` out"),
        ("l2", of("root-position") | {"axes": "xw"}, "axes: got 'xw'"),
        ("l2", of("root-position") | {"target": (1.0, 2.0)}, "target: expected 1 or 3 numbers, got 2"),
        ("l2", of("root-position") | {"target": "velocity"}, "target: there is no command 'velocity'"),
        ("l2", of("root-height", body="tail"), "of.body: no body matches 'tail'"),
        ("exp", of("joint-positions") | {"std": {"hip_.*": 1.0}}, "std: no pattern matches number .*ankle_1"),
        ("outside", of("root-height") | {"soft_limits": 0.9}, "soft_limits: 'root-height' has no limits; give `low`"),
        (
            "clearance",
            {"of": FEET, "bodies": (".*_foot",)},
            "of: 12 numbers for 4 bodies; choose a quantity of one for",
        ),
        ("swing-height", {"sensor": "feet", "of": FEET, "axes": "z"}, "target: expected heights that are not zero"),
        ("slip", {"sensor": "soles"}, "sensor: 'soles' senses no bodies; give it `bodies`, not `shapes`"),
        ("slip", {"sensor": "torso"}, "sensor: 'torso' has no output 'in_contact'; choose a sensor of type 'contact'"),
        ("contacts", {"sensor": "toes", "history": True}, "sensor: 'toes' .*'net_force_history'; give it a `history`"),
        (
            "air-time",
            {"sensor": "feet", "command": "traget"},
            "command: there is no command 'traget'; did you mean 'target'",
        ),
    ],
)
def test_a_bad_choice_is_named_with_its_key_and_a_cure(ants, type, keys, text):
    with pytest.raises(ConfigError, match=text):
        ants.make("reward", type, **keys)


@pytest.mark.parametrize(
    ("type", "keys", "text"),
    [
        ("inside", {}, "'low' and 'high' must make a range"),
        ("outside", {"low": 1.0, "high": 0.0}, "must make a range with low < high, got 1.0 and 0.0"),
        ("outside", {"low": 1.0, "soft_limits": 0.5}, "'soft_limits' stands in place of"),
        ("exp", {"std": 0.0}, "'std' must be > 0"),
        ("l2", {"clip": (1.0, 1.0)}, "'clip' must be a range"),
    ],
)
def test_numbers_that_make_no_law_are_refused(ants, type, keys, text):
    with pytest.raises(ValueError, match=text):
        ants.make("reward", type, of="root-height", **keys)


def test_an_ant_that_is_dropped_is_paid_for_its_flight_when_its_feet_land(ants):
    simulation, paid = ants.simulation, []
    feet = simulation.sensors["feet"]
    simulation.reset()
    term = ants.make("reward", "air-time", sensor="feet", threshold=0.1)
    was_down, expected = np.zeros((3, 4), dtype=bool), []
    for _ in range(60):
        simulation.step()
        down, times = feet["in_contact"].numpy().copy(), feet["last_air_time"].numpy()
        expected.append(((times - 0.1) * (down & ~was_down)).sum(axis=1))
        was_down = down
        paid.append(ants.judge(term))

    np.testing.assert_allclose(paid, expected, **CLOSE)
    assert np.max(paid) > 0.05
