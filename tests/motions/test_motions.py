"""Every built-in motion keeps the contract, and its values are those of its formula."""

import math

import numpy as np
import pippin
import pippin_conformance as conformance
import pytest

from .scenes import BOX, PLATE, simulate

ARM = {
    "type": "body",
    "motion": "kinematic",
    "shapes": [{"type": "box", "size": [0.1, 0.1, 0.6], "position": [0.0, 0.0, -0.3]}],
    "joint": {"type": "revolute", "axis": [0.0, 1.0, 0.0]},
}
SETTINGS = {
    "keyframes": {"times": [0.0, 0.01, 0.02], "values": [3.0, -5.0, 8.0]},
    "random": {"low": -5.0, "high": 5.0},
    "rate": {"rate": 100.0},
    "sine": {"amplitude": 5.0, "frequency": 20.0},
}


SUITES = [conformance.Conformance("motion", kind, config=keys) for kind, keys in SETTINGS.items()]


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES, ids=SETTINGS)
def test_it_keeps_the_contract(suite):
    results = [suite.run(check) for check in suite.checks]

    assert not [each for each in results if each.outcome == "failed"]


def read(motion, times, dt=0.01, worlds=1, **keys):
    """Return values and rates of a motion of the plate at some times, shape [times, 2, components]."""
    found, steps = [], np.round(np.array(times) / dt).astype(int)
    motion = {"bodies": {"of": "plate"}, **motion}
    with simulate(motion, simulation={"dt": dt, "substeps": 1}, scene={"worlds": worlds}, **keys) as simulation:
        for count in np.diff(steps, prepend=0).tolist():
            simulation.step(count)
            moved = simulation.motions["moved"]
            found.append([moved.values.numpy()[-1].copy(), moved.rates.numpy()[-1].copy()])
    return np.array(found)


def test_keyframes_are_met_and_joined_by_straight_lines():
    keys = {"type": "keyframes", "times": [0.1, 0.3], "values": [1.0, 2.0], "along": [0.0, 0.0, 1.0]}

    found = read(keys, [0.05, 0.15, 0.3, 0.4])

    np.testing.assert_allclose(found[:, 0, 0], [1.0, 1.25, 2.0, 2.0], atol=1e-5)
    np.testing.assert_allclose(found[:2, 1, 0], [0.0, 5.0], atol=1e-4)
    assert found[3, 1, 0] == 0.0


def test_smooth_keyframes_start_and_end_at_rest():
    """The law 3 u² − 2 u³ of the share u; at the middle, one and a half times the mean speed."""
    keys = {"type": "keyframes", "times": [0.0, 0.2], "values": [[0.0, 0.0, 0.0], [1.0, 0.0, 2.0]]}

    found = read({**keys, "interpolation": "smooth"}, [0.05, 0.1, 0.2])

    np.testing.assert_allclose(found[:, 0, 2], [2 * (3 / 16 - 2 / 64), 1.0, 2.0], atol=1e-5)
    np.testing.assert_allclose(found[:, 1, 0], [5 * 6 * 0.25 * 0.75, 7.5, 0.0], atol=1e-3)


def test_keyframes_that_repeat_are_a_triangle_wave():
    keys = {"type": "keyframes", "times": [0.0, 0.1, 0.2], "values": [0.0, 1.0, 0.0], "along": [0.0, 0.0, 1.0]}

    found = read({**keys, "repeat": True}, [0.05, 0.15, 0.27, 0.65])

    np.testing.assert_allclose(found[:, 0, 0], [0.5, 0.5, 0.7, 0.5], atol=1e-4)
    np.testing.assert_allclose(found[:, 1, 0], [10.0, -10.0, 10.0, 10.0], rtol=1e-4)


def test_orientations_turn_evenly_by_the_shorter_way():
    half = math.sqrt(0.5)
    poses = [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0, 0.0, -half, -half]]  # a quarter turn about z

    found = read({"type": "keyframes", "times": [0.0, 0.2], "values": poses}, [0.1])

    np.testing.assert_allclose(found[0, 0], [0.5, 0, 1, 0, 0, math.sin(math.pi / 8), math.cos(math.pi / 8)], atol=1e-6)
    np.testing.assert_allclose(found[0, 1, :6], [5.0, 0.0, 0.0, 0.0, 0.0, math.pi / 2 / 0.2], atol=1e-4)


def test_a_sine_has_its_mean_amplitude_frequency_and_phase():
    keys = {"type": "sine", "mean": 0.5, "amplitude": 2.0, "frequency": 3.0, "phase": 0.7, "about": [1.0, 0.0, 0.0]}

    found = read(keys, [0.13])

    angle = 2 * math.pi * 3.0 * 0.13 + 0.7
    np.testing.assert_allclose(found[0, :, 0], [0.5 + 2 * math.sin(angle), 12 * math.pi * math.cos(angle)], rtol=1e-4)


def test_a_motion_waits_for_its_start_and_stands_still_at_its_end():
    keys = {"type": "rate", "rate": 2.0, "along": [0.0, 0.0, 1.0], "start": 0.1, "end": 0.2}

    found = read(keys, [0.05, 0.15, 0.5])

    np.testing.assert_allclose(found[:, 0, 0], [0.0, 0.1, 0.2], atol=1e-6)


@pytest.mark.parametrize("suffix", ["csv", "npy", "npz"])
def test_a_file_holds_times_and_values(suffix, tmp_path):
    path, rows = tmp_path / f"lift.{suffix}", np.array([[0.0, 9.0, 0.0], [0.1, 9.0, 1.0]])
    if suffix == "npz":
        np.savez(path, times=rows[:, 0], values=rows[:, 1:])
    elif suffix == "npy":
        np.save(path, rows)
    else:
        np.savetxt(path, rows, delimiter=",", header="time, unused, height")

    found = read({"type": "file", "path": str(path), "columns": [2], "along": [0.0, 0.0, 1.0]}, [0.05])

    np.testing.assert_allclose(found[0, :, 0], [0.5, 10.0], rtol=1e-5)


def recorded(tmp_path, suffix):
    """Return the path of a recording of two plates, of which the second rises by 2 m/s from 3 m, in two worlds."""
    path, plates = tmp_path / f"run.{suffix}", [{**PLATE, "label": f"plate_{number}"} for number in range(2)]
    plates[1]["position"] = [0.0, 0.0, 3.0]
    rising = {"type": "rate", "bodies": {"of": "plate_1"}, "rate": [0.0, 0.0, 2.0]}
    recorder = {"type": {"h5": "hdf5"}.get(suffix, suffix), "path": str(path), "series": ["body_q"], "worlds": "1:2"}
    with simulate(rising, *plates, scene={"worlds": 2}, recorders={"log": recorder}) as simulation:
        simulation.step(10)
    return path


@pytest.mark.parametrize("suffix", ["npz", "h5", "mcap"])
def test_a_recording_moves_what_it_has_recorded(suffix, tmp_path):
    path = recorded(tmp_path, suffix)
    keys = {"type": "recording", "path": str(path), "channel": "body_q", "labels": ["plate_1"], "world": 1}

    found = read(keys, [0.045, 0.1, 0.2], dt=0.005)

    np.testing.assert_allclose(found[:, 0, 2], [3.09, 3.2, 3.2], atol=1e-5)
    np.testing.assert_allclose(found[0, 0, 3:], [0.0, 0.0, 0.0, 1.0], atol=1e-6)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"channel": "body_qq"}, r"path: .*no channel 'body_qq'; did you mean 'body_q'"),
        ({"labels": ["plate_2"]}, r"motions\.moved\.labels: 'body_q' has no 'plate_2'; did you mean"),
        ({"world": 0}, r"motions\.moved\.world: 0 was not recorded; worlds: 1"),
    ],
)
def test_a_recording_without_what_is_asked_is_refused(keys, message, tmp_path):
    motion = {"type": "recording", "path": str(recorded(tmp_path, "npz")), "channel": "body_q", "world": 1}
    with pytest.raises(pippin.ConfigError, match=message):
        simulate({"bodies": {"of": "plate"}, **motion, **keys})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"type": "rate", "rate": 1.0}, r"a value has 1 components; give it 3 or 7, or add 'along' or 'about'"),
        (
            {"type": "rate", "rate": [1.0, 2.0], "along": [1, 0, 0]},
            r"moved\.bodies: a value has 2 components; give it 1",
        ),
        ({"type": "rate", "rate": 1.0, "along": [0, 0, 0]}, r"along: must be a direction"),
        ({"type": "rate", "rate": 1.0, "along": [1, 0, 0], "about": [1, 0, 0]}, r"along: stands beside 'about'"),
        ({"type": "rate", "rate": 1.0, "along": [1, 0, 0], "point": [1, 0, 0]}, r"point: needs 'about'"),
        ({"type": "rate", "rate": 1.0, "start": 2.0, "end": 1.0}, r"end: must be later than 'start' \(2\): 1"),
        ({"type": "rate", "rate": 1.0, "joints": ["hinge"]}, r"expected one of .* got 'bodies' and 'joints'"),
        ({"type": "keyframes", "times": [0.0, 0.0], "values": [1.0, 2.0]}, r"times: must ascend"),
        ({"type": "keyframes", "times": [0.0, 1.0], "values": [1.0]}, r"values: must be one value for each of the 2"),
        (
            {"type": "sine", "amplitude": [1, 1, 1], "frequency": 1.0, "mean": [1, 1]},
            r"mean: has 2 components, and others have 3",
        ),
        ({"type": "random", "low": -1.0, "high": 1.0}, r"bodies cannot jump"),
        ({"type": "sine", "amplitude": 1.0, "frequency": 201.0, "along": [1, 0, 0]}, r"frequency: 201 Hz is above 200"),
        (
            {"type": "keyframes", "times": [0.0, 1e-9], "values": [0.0, 1.0], "along": [1, 0, 0], "repeat": True},
            r"repeat: begins again after 1e-09 s, less than the 0\.0025 s",
        ),
        (
            {"type": "keyframes", "times": [0.0, 1.0], "values": [[0.0] * 6 + [1.0], [0.0] * 7]},
            r"values: the quaternion of row 1, .* has length 0, not 1",
        ),
        (
            {"type": "keyframes", "times": [0.0], "values": [[0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0]]},
            r"values: the quaternion of row 0, .* has length 5, not 1",
        ),
        ({"type": "rate", "rate": 1.0, "from_start": False}, r"from_start: needs"),
        ({"type": "file", "path": "none.csv"}, r"motions\.moved\.path: .*none\.csv"),
    ],
)
def test_a_wrong_table_is_refused(keys, message):
    with pytest.raises(pippin.ConfigError, match=message):
        simulate({"bodies": {"of": "plate"}, **keys})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"low": 1.0, "high": -1.0}, r"motions\.moved\.low: 1\.0 is above 'high', -1\.0"),
        ({"low": [0.0, 1.0, 0.0], "high": 0.5}, r"motions\.moved\.low: \(0\.0, 1\.0, 0\.0\) is above 'high', 0\.5"),
        ({"low": -1.0, "high": 1.0, "period": 1e-12}, r"motions\.moved\.period: 1e-12 s is below the 0\.0025 s"),
    ],
)
def test_random_values_that_cannot_be_are_refused(keys, message):
    with pytest.raises(pippin.ConfigError, match=message):
        simulate({"type": "random", "force_on": {"of": "box"}, **keys}, BOX)


def test_derivatives_are_refused():
    with pytest.raises(pippin.ConfigError, match=r"motions\.moved\.bodies: a motion has no derivatives"):
        simulate(
            {"type": "rate", "rate": 1.0, "bodies": {"of": "plate"}, "along": [1, 0, 0]},
            solver="semi-implicit",
            simulation={"requires_grad": True},
        )


DAY7 = 7 * 86400.0
LAWS = {
    "sine": ({"type": "sine", "amplitude": 2.0, "frequency": 7.3, "phase": 0.4, "mean": 0.1}, 1e-5),
    "rate": ({"type": "rate", "rate": 2.5}, 0.1),
    "keyframes": ({"type": "keyframes", "times": [DAY7, DAY7 + 0.5, DAY7 + 1.0], "values": [1.0, 3.0, 2.0]}, 1e-5),
    "repeat": ({"type": "keyframes", "times": [0.0, 0.3, 0.7], "values": [0.0, 1.0, 0.0], "repeat": True}, 1e-5),
}


def law(kind, t):
    """Return the value of a motion of `LAWS` at a time, in double precision."""
    if kind == "sine":
        return 0.1 + 2.0 * math.sin(2.0 * math.pi * ((7.3 * t) % 1.0) + 0.4)
    keys, _ = LAWS[kind]
    return 2.5 * t if kind == "rate" else np.interp(t % 0.7 if kind == "repeat" else t, keys["times"], keys["values"])


@pytest.mark.parametrize("kind", LAWS)
def test_a_motion_has_the_value_of_its_formula_after_a_week(kind):
    """By its count, as a checkpoint sets it, along a skew direction; float32 times would be 31 ms apart."""
    (keys, tolerance), dt = LAWS[kind], 1.0 / 60.0
    motion = {"bodies": {"of": "plate"}, "along": [1.0, 2.0, 2.0], **keys}
    with simulate(motion, simulation={"dt": dt, "substeps": 1}, scene={"worlds": 2}) as simulation:
        moved, start = simulation.motions["moved"], np.array([0.0, round(DAY7 / dt)])
        simulation.step(1)
        moved.counts.assign(start.astype(np.int64) + 1)
        simulation.step(17)
        found = moved.values.numpy()[:, 0]
        places = simulation.state.body_q.numpy()[:, :3]

    wanted = [law(kind, (count + 18) * dt) for count in start]
    np.testing.assert_allclose(found, wanted, atol=tolerance)
    ways = np.outer(wanted, [1 / 3, 2 / 3, 2 / 3])
    np.testing.assert_allclose(places - np.array([0.0, 0.0, 1.0]), ways, atol=tolerance + 1e-5)


@pytest.mark.parametrize("first", [0, 36_288_000])
def test_random_values_are_drawn_once_in_each_period(first):
    """At 60 Hz from the start and after a week: each step has a value of its own, and a period of three steps one."""
    motion = {"type": "random", "low": -1.0, "high": 1.0, "force_on": {"of": "box"}, "along": [1, 0, 0]}
    motions = {"each": {**motion, "period": 1.0 / 60.0}, "third": {**motion, "period": 0.05}}
    with simulate(motions, BOX, simulation={"dt": 1.0 / 60.0, "substeps": 1}) as simulation:
        for moved in simulation.motions.values():
            moved.counts.fill_(first)
        found = []
        for _ in range(30):
            simulation.step(1)
            found.append([moved.values.numpy()[0, 0] for moved in simulation.motions.values()])

    each, third = np.array(found).T
    assert len(np.unique(each)) == 30
    np.testing.assert_array_equal(third, np.repeat(third[::3], 3))
    assert len(np.unique(third)) == 10


def test_seven_numbers_of_joints_are_no_pose():
    """Numbers of seven axes go straight from key to key; the last four of a pose would be those of a quaternion."""
    arms = [
        {**ARM, "label": f"arm_{i}", "position": [float(i), 0.0, 2.0], "joint": {**ARM["joint"], "label": f"hinge_{i}"}}
        for i in range(7)
    ]
    turn = {"type": "keyframes", "joints": ["hinge_.*"], "times": [0.0, 0.2]}
    turn |= {"values": [[0.0] * 7, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]]}
    with simulate(turn, *arms) as simulation:
        simulation.step(10)

        np.testing.assert_allclose(simulation.state.joint_q.numpy(), 0.05 * np.arange(1, 8), atol=1e-6)
        np.testing.assert_allclose(simulation.state.joint_qd.numpy(), 0.5 * np.arange(1, 8), atol=1e-5)


MOTION = '''
import attrs
import numpy as np
from pippin.motions import Motion, MotionConfig

class Swing(Motion):
    def build(self, binding, element_count):
        return 1
    def evaluate(self):
        times = self.times.numpy()
        self.values.assign(np.sin(5.0 * times)[:, None].astype(np.float32))
        self.rates.assign((RATES)[:, None].astype(np.float32))

@attrs.frozen(kw_only=True)
class SwingConfig(MotionConfig):
    """A swing."""
    implementation = "Swing"
'''
DERIVATIVE = "5.0 * np.cos(5.0 * times)"


@pytest.mark.parametrize("rates", [DERIVATIVE, f"-{DERIVATIVE}", f"2.0 * {DERIVATIVE}", "0.0 * times"])
def test_the_kit_finds_rates_that_are_not_the_derivative(tmp_path, rates):
    (tmp_path / "swing.py").write_text(MOTION.replace("RATES", rates))
    result = conformance.Conformance("motion", f"{tmp_path / 'swing.py'}:SwingConfig").run("rates")

    assert (result.outcome == "passed") == (rates == DERIVATIVE)
    assert rates == DERIVATIVE or "write the derivative of values" in result.reason
