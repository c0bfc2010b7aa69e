"""What all sensors have in common: periods, stages, times and resets; on a sensor of positions made here."""

from __future__ import annotations

import attrs
import numpy as np
import pippin
import pytest
import warp as wp
from pippin import sensing

SPEED = 2.0


@attrs.frozen(kw_only=True)
class PositionsConfig(sensing.SensorConfig):
    """Nothing of its own."""


@wp.kernel
def read_positions(poses: wp.array[wp.transform], positions: wp.array2d[wp.vec3], read_count: wp.array[int]):
    world, body = wp.tid()
    positions[world, body] = wp.transform_get_translation(poses[world * positions.shape[1] + body])
    if world == 0 and body == 0:
        read_count[0] += 1


class Positions(sensing.Sensor):
    """Positions of all bodies, and how often they were read."""

    def build_outputs(self, binding):
        simulation = binding.simulation
        shape = (simulation.world_count, simulation.model.body_count // simulation.world_count)
        self.positions = wp.zeros(shape, dtype=wp.vec3, device=simulation.device)
        self.poses = wp.zeros(shape, dtype=wp.transform, device=simulation.device)
        self.read_count = wp.zeros(1, dtype=int, device=simulation.device)
        return {
            "position": sensing.Output(data=self.positions, unit="m", frame="world"),
            "pose": sensing.Output(data=self.poses, unit="1", frame="world"),
        }

    def measure(self, state, contacts, observables, dt):
        wp.copy(self.poses.flatten(), state.body_q)
        wp.launch(read_positions, self.positions.shape, [state.body_q, self.positions, self.read_count])


class Weightless(Positions):
    """One that pretends to need what the solver reports of a step."""

    observables = frozenset({"body_qdd"})


@pytest.fixture
def fly(ball, configure):
    """Return a function that simulates balls flying along x, with a control step of 0.01 s, and a sensor of them."""

    def build(*stages, worlds=2, period=None, kind=Positions, solver="semi-implicit", more=None, **options):
        given = [{"output": "position", **stage} for stage in stages]
        asked = pippin.structure({"sensors": {"any": {"type": "imu", "body": "x", "stages": given}}})
        sensor = kind(PositionsConfig(period=period, stages=asked.sensors["any"].config.stages))
        prototype = ball(height=1.0)
        prototype.joint_qd[0] = SPEED
        options = {"dt": 0.005, "decimation": 2, "capture": "require", **options}
        config = configure(solver, scene={"worlds": worlds, "gravity": [0.0, 0.0, 0.0]}, **options)
        return pippin.Simulation(config, plugins={"eyes": sensor, **(more or {})}, prototype=prototype), sensor

    return build


def along_x(sensor):
    return sensor["position"].numpy()[:, 0, 0].copy()


@pytest.mark.parametrize("capture", ["off", "require"])
def test_a_period_reads_in_due_steps_only_and_says_when(fly, capture):
    simulation, sensor = fly(period=0.03, capture=capture)
    with simulation:
        seen = []
        for _ in range(7):
            simulation.step()
            seen.append((along_x(sensor)[0], sensor.times[0]))

    due = np.array([0, 0, 3, 3, 3, 6, 6]) * 0.01
    np.testing.assert_allclose(seen, np.stack([SPEED * due, due], axis=1), atol=1e-6)


def test_many_steps_at_once_keep_the_period(fly):
    simulation, sensor = fly(period=0.03)
    with simulation:
        simulation.step(10)
        before = sensor.read_count.numpy()[0]
        simulation.step(12)

        assert simulation.program.is_captured
        assert sensor.read_count.numpy()[0] - before == 4
        np.testing.assert_allclose(along_x(sensor), SPEED * 0.21, atol=1e-6)


def test_sensors_of_different_periods_are_each_read_at_their_own(fly):
    other = Positions(PositionsConfig(period=0.02))
    simulation, sensor = fly(period=0.03, more={"other": other})
    with simulation:
        seen = []
        for _ in range(6):
            simulation.step()
            seen.append((along_x(sensor)[0], along_x(other)[0]))

    due = np.array([[0, 0], [0, 2], [3, 2], [3, 4], [3, 4], [6, 6]]) * 0.01
    np.testing.assert_allclose(seen, SPEED * due, atol=1e-6)


@pytest.mark.parametrize(
    ("period", "message"),
    [
        (0.025, r"0\.025 s is not a whole number of control steps of 0\.01 s; the nearest are 0\.02 s or 0\.03 s"),
        (0.004, r"0\.004 s is shorter than a control step of 0\.01 s"),
    ],
)
def test_a_period_that_is_not_a_whole_number_of_steps_is_refused(fly, period, message):
    with pytest.raises(pippin.ConfigError, match=rf"plugins\.eyes\.period: {message}"):
        fly(period=period)


def test_a_wrapper_beside_a_period_is_refused(fly):
    class Wrapper:
        @pippin.hookimpl(wrapper=True)
        def update_sensors(self, state):
            return (yield)

    with pytest.raises(pippin.PluginError, match="wraps update_sensors, which would call plugins:eyes in every step"):
        fly(period=0.03, more={"wrapper": Wrapper()})


def test_noise_has_its_deviation_is_drawn_anew_and_leaves_the_clean_value(fly):
    """With 4 000 numbers, deviations are within 5 % by four standard errors."""
    simulation, sensor = fly({"type": "noise", "std": 0.1}, worlds=2000)
    with simulation:
        simulation.step()
        first = sensor["position"].numpy() - sensor.outputs["position"].clean.numpy()
        simulation.step()
        second = sensor["position"].numpy() - sensor.outputs["position"].clean.numpy()

        np.testing.assert_allclose(sensor.outputs["position"].clean.numpy()[:, 0, 0], SPEED * 0.02, atol=1e-6)
    for errors in (first, second):
        np.testing.assert_allclose(errors.std(), 0.1, rtol=0.05)
        np.testing.assert_allclose(errors.mean(), 0.0, atol=0.006)
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.06


def test_random_numbers_come_from_the_seed(fly):
    def read(**options):
        simulation, sensor = fly({"type": "noise", "std": 0.1}, {"type": "drift", "rate": 1.0}, **options)
        with simulation:
            simulation.step(5)
            return sensor["position"].numpy().copy()

    same, again, eager, other = read(), read(), read(capture="off"), read(seed=1)

    np.testing.assert_array_equal(same, again)
    np.testing.assert_array_equal(same, eager)
    assert not np.isclose(same, other).any()


def test_a_bias_stays_until_its_world_is_reset(fly):
    simulation, sensor = fly({"type": "bias", "mean": 1.0, "std": 0.2}, worlds=2000)

    def errors():
        return sensor["position"].numpy() - sensor.outputs["position"].clean.numpy()

    with simulation:
        simulation.step()
        first = errors()
        simulation.step()
        np.testing.assert_allclose(errors(), first, atol=1e-6)

        simulation.reset(range(1000))
        np.testing.assert_allclose(errors()[1000:], first[1000:], atol=1e-6)
        assert np.abs(errors()[:1000] - first[:1000]).max() > 0.2

    np.testing.assert_allclose([first.mean(), first.std()], [1.0, 0.2], rtol=0.05)


@pytest.mark.parametrize("time_constant", [None, 0.05])
def test_a_drift_spreads_as_its_formula_says(fly, time_constant):
    """After n readings of dt: rate² n dt, or rate² τ / 2 (1 − exp(−2 n dt / τ)); 2 % is four standard errors."""
    options = {} if time_constant is None else {"time_constant": time_constant}
    simulation, sensor = fly({"type": "drift", "rate": 0.5, **options}, worlds=5000)
    with simulation:
        simulation.step(10)
        errors = sensor["position"].numpy() - sensor.outputs["position"].clean.numpy()
        simulation.reset()
        after = sensor["position"].numpy() - sensor.outputs["position"].clean.numpy()

    variance = 0.5**2 * 0.1
    if time_constant is not None:
        variance = 0.5**2 * time_constant / 2.0 * (1.0 - np.exp(-2.0 * 0.1 / time_constant))
    np.testing.assert_allclose(errors.std(), np.sqrt(variance), rtol=0.03)
    np.testing.assert_array_equal(after, 0.0)


def test_quantised_values_are_multiples_of_the_step(fly):
    simulation, sensor = fly({"type": "quantisation", "step": 0.03})
    with simulation:
        simulation.step(2)

        np.testing.assert_allclose(along_x(sensor), 0.03, atol=1e-7)
        np.testing.assert_allclose(sensor["position"].numpy()[:, 0, 2], 0.99, atol=1e-6)


def test_stages_act_in_their_order(fly):
    simulation, sensor = fly({"type": "bias", "mean": 0.02}, {"type": "quantisation", "step": 0.03})
    with simulation:
        simulation.step(2)

        np.testing.assert_allclose(along_x(sensor), 0.06, atol=1e-7)


@pytest.mark.parametrize(
    ("delay", "period", "expected"),
    [
        ({"readings": 2}, None, [0.0, 0.0, 0.02, 0.04]),
        ({"time": 0.02}, None, [0.0, 0.0, 0.02, 0.04]),
        ({"time": 0.02}, 0.02, [0.0, 0.0, 0.0, 0.04]),
    ],
)
def test_late_readings_are_those_of_earlier_times(fly, delay, period, expected):
    """At 2 m/s a ball moves 0.02 m in a control step; the first reading holds until another one arrives."""
    simulation, sensor = fly({"type": "latency", **delay}, period=period)
    with simulation:
        seen = []
        for _ in expected:
            simulation.step()
            seen.append(along_x(sensor)[0].copy())

        np.testing.assert_allclose(np.ravel(seen), expected, atol=1e-6)
        clean = sensor.outputs["position"].clean.numpy()[0, 0, 0]
        assert clean == pytest.approx(0.02 * len(expected), abs=1e-6)


@pytest.mark.parametrize("readings", [1, 2, 5])
def test_a_ring_of_late_readings_has_no_end(fly, readings):
    """Its count stays small, and no number of readings overflows it."""
    simulation, sensor = fly({"type": "latency", "readings": readings})
    with simulation:
        for step in range(1, 4 * readings + 6):
            simulation.step()
            late = 0.02 * max(step - 1 - readings, 0) + 0.02 * (step > readings)
            np.testing.assert_allclose(along_x(sensor)[0], late, atol=1e-6)
        (latency, _), *_ = sensor._readings._stages

        assert latency.written.numpy().max() <= 2 * readings


def test_a_reset_forgets_the_late_readings_of_its_worlds(fly):
    simulation, sensor = fly({"type": "latency", "readings": 3}, worlds=2)
    with simulation:
        simulation.step(6)
        simulation.reset([1])
        simulation.step()

        np.testing.assert_allclose(along_x(sensor).ravel(), [0.08, 0.0], atol=1e-6)


def test_late_readings_resume_from_a_checkpoint(fly, tmp_path, ball):
    simulation, sensor = fly({"type": "latency", "readings": 2})
    with simulation:
        simulation.step(5)
        simulation.save(tmp_path / "late")
        simulation.step()
        expected = sensor["position"].numpy().copy()
    again = Positions(sensor.config)
    with pippin.Simulation.load(tmp_path / "late", plugins={"eyes": again}, prototype=ball()) as loaded:
        loaded.step()
        np.testing.assert_array_equal(again["position"].numpy(), expected)


def test_poses_arrive_late_although_they_take_no_noise(fly):
    simulation, sensor = fly({"type": "latency", "readings": 1, "output": "pose"})
    with simulation:
        simulation.step(3)

        np.testing.assert_allclose(sensor["pose"].numpy()[0, 0, 0], 0.04, atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(sensor["pose"].numpy()[0, 0, 3:]), 1.0, atol=1e-6)


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        ({"type": "latency", "readings": 2**31}, r"stages\.0\.readings: .*<= 100000"),
        ({"type": "latency", "time": 1e9}, r"stages\.0\.time: 1e\+09 s are \d+ readings, more than 100000; use less"),
        ({"type": "latency"}, r"stages\.0\.readings: or 'time' must be given, got none"),
        ({"type": "latency", "readings": 1, "time": 0.01}, r"stages\.0\.readings: .*got both"),
        ({"type": "latency", "readings": 0}, r"stages\.0\.readings: .*>= 1"),
        (
            {"type": "latency", "time": 0.015},
            r"stages\.0\.time: 0\.015 s is not a whole .* of 0\.01 s; write 0\.02",
        ),
        ({"type": "noise", "std": 1.0, "output": "pos"}, r"stages\.0\.output: 'pos' is not an output.*position"),
        (
            {"type": "noise", "std": 1.0, "output": "pose"},
            r"stages\.0\.output: 'pose' is not made of separate numbers",
        ),
        ({"type": "noise", "std": -1.0}, r"sensors\.any\.stages\.0\.std: .*>= 0"),
        ({"type": "quantisation", "step": 0.0}, r"sensors\.any\.stages\.0\.step: .*> 0"),
        ({"type": "nois", "std": 1.0}, r"sensors\.any\.stages\.0\.type: .*'noise'"),
        ({"type": "noise"}, r"sensors\.any\.stages\.0\.std: "),
    ],
)
def test_stages_that_make_no_sense_are_refused(fly, stage, message):
    with pytest.raises(pippin.PippinError, match=message):
        fly(stage)


@pytest.mark.parametrize("period", [None, 0.03])
def test_a_reset_measures_its_worlds_anew_and_no_other(fly, period):
    simulation, sensor = fly({"type": "noise", "std": 1e-3}, period=period)
    with simulation:
        simulation.step(5)
        before = sensor["position"].numpy().copy()
        simulation.reset([1])
        after = sensor["position"].numpy()

        np.testing.assert_array_equal(after[0], before[0])
        np.testing.assert_allclose(after[1, 0], [0.0, 0.0, 1.0], atol=6e-3)
        np.testing.assert_allclose(sensor.times, [0.05 if period is None else 0.03, 0.05])


class Sparing(Positions):
    """One that skips the worlds that it need not measure, and notes which those are."""

    def build_outputs(self, binding):
        self.seen = []
        return super().build_outputs(binding)

    def measure(self, state, contacts, observables, dt):
        self.seen.append(self.measured_worlds.numpy().tolist())
        super().measure(state, contacts, observables, dt)


def test_a_reset_says_which_worlds_it_measures_and_a_step_measures_all(fly):
    simulation, sensor = fly(kind=Sparing, capture="off")
    with simulation:
        simulation.step()
        simulation.reset([1])
        simulation.step()
        assert [seen[:-1] for seen in sensor.seen[-3:]] == [[True, True], [False, True], [True, True]]


def test_a_reset_clears_what_needs_a_step_to_be_measured(fly):
    simulation, sensor = fly({"type": "noise", "std": 1e-3}, kind=Weightless, solver="mujoco")
    with simulation:
        simulation.step(5)
        before = sensor["position"].numpy().copy()
        simulation.reset([1])
        after = sensor["position"].numpy()

        np.testing.assert_array_equal(after[0], before[0])
        np.testing.assert_array_equal(after[1], 0.0)
        simulation.step()
        np.testing.assert_allclose(along_x(sensor), [SPEED * 0.06, SPEED * 0.01], atol=6e-3)


def test_outputs_are_valid_before_the_first_step(fly):
    simulation, sensor = fly()
    with simulation:
        np.testing.assert_allclose(sensor["position"].numpy()[:, 0], [[0.0, 0.0, 1.0]] * 2)


def test_a_run_that_resumes_from_a_file_reads_the_same(fly, ball, tmp_path):
    stages = ({"type": "noise", "std": 0.1}, {"type": "bias", "std": 0.1}, {"type": "drift", "rate": 1.0})
    simulation, sensor = fly(*stages, period=0.03)
    with simulation:
        simulation.step(4)
        simulation.reset([1])
        simulation.save(tmp_path / "half.npz")
        simulation.step(4)
        whole, times = sensor["position"].numpy().copy(), sensor.times

    another = Positions(sensor.config)
    with pippin.Simulation.load(tmp_path / "half.npz", {"eyes": another}, ball(height=1.0)) as simulation:
        np.testing.assert_array_equal(another.times, [0.03, 0.04])
        simulation.step(4)

        np.testing.assert_array_equal(another["position"].numpy(), whole)
        np.testing.assert_array_equal(another.times, times)


def test_an_output_that_does_not_exist_is_named_with_the_nearest(fly):
    simulation, sensor = fly()
    with simulation, pytest.raises(pippin.ConfigError, match=r"'positon' is not an output.*'position'"):
        sensor["positon"]
    with pytest.raises(KeyError, match="outputs: none is labelled 'positon'; did you mean 'position'"):
        sensor.outputs["positon"]


@pytest.mark.not_in_lane("copies", reason="only on the CPU")
def test_numpy_sees_an_output_without_a_copy(fly):
    simulation, sensor = fly()
    with simulation:
        seen = np.asarray(sensor["position"])
        simulation.step(3)

        assert sensor.outputs["position"].shape == (2, 1, 3)
        np.testing.assert_allclose(seen[:, 0, 0], SPEED * 0.03, atol=1e-6)
