"""Motions that excite: their formulas, the limits that they keep, and what a fit to them finds."""

import json

import numpy as np
import pippin
import pippin_fit
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.config import toml_text
from pippin.recording.reading import Recording
from pippin_fit.excitation import ExciteSettings, excite
from pippin_fit.trial import chirp, edge_of, harmonics, multisine, steps

from . import arms

RANGES = {"armature": [1e-3, 1.0], "damping": [0.0, 5.0], "friction": [0.0, 2.0]}
RATE = 200
TIMES = np.arange(20 * RATE) / RATE
INSIDE = slice(RATE, 19 * RATE)
"""One whole period of a motion of 20 s, between its edges."""


def write(folder, tables, **fit):
    parameters = {f"actuators.arm.{name}": {"range": ends} for name, ends in RANGES.items()}
    (folder / "arm.toml").write_text(toml_text({**tables, "fit": {"parameters": parameters, **fit}}), encoding="utf-8")
    return folder / "arm.toml"


def test_the_inputs_of_joints_are_orthogonal_with_their_speeds_and_accelerations():
    waves = [multisine(TIMES, own, 20.0) for own in harmonics(7, (0.1, 5.0), 20.0)]

    for rate in (0, 1, 2):
        rows = np.stack([np.gradient(wave, 1.0 / RATE) if rate else wave for wave in waves])[:, INSIDE]
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        np.testing.assert_allclose(rows @ rows.T, np.eye(7), atol=1e-3)


def test_a_multisine_has_the_amplitudes_and_phases_of_its_formula():
    own, period = harmonics(2, (0.1, 3.0), 20.0)[1], 20.0 - 2.0 * edge_of(20.0)
    spectrum = np.fft.rfft(multisine(TIMES, own, 20.0)[INSIDE]) * 2.0 / (18 * RATE)

    assert np.abs(np.delete(spectrum, own)).max() < 1e-12
    sizes = np.abs(spectrum[own])
    np.testing.assert_allclose(sizes * own / (sizes[0] * own[0]), 1.0, rtol=1e-9)  # the same speed for all
    order = np.arange(1, len(own) + 1)
    phases = np.angle(spectrum[own]) + 0.5 * np.pi  # of sines
    expected = -np.pi * order * (order - 1) / len(own)
    np.testing.assert_allclose(np.exp(1j * phases), np.exp(1j * expected), atol=1e-9)
    assert own[0] / period >= 0.1
    assert own[-1] / period <= 3.0


@pytest.mark.alone
def test_phases_of_schroeder_keep_the_peak_low():
    """The crest factor of a flat spectrum is near √2 times 1.2, and of equal phases √(2 K)."""
    own = np.arange(4, 84)
    wave, equal = (multisine(TIMES, own, 20.0, 0.0, phases)[INSIDE] for phases in (None, np.full(80, 0.5 * np.pi)))

    assert 1.0 / wave.std() < 1.9
    assert 1.0 / equal.std() > 5.0


def test_a_chirp_has_the_frequency_of_its_formula_and_ends_at_rest():
    wave = chirp(TIMES, (0.5, 4.0), 20.0)
    turns = TIMES[np.flatnonzero(np.diff(np.sign(wave[1:]))) + 1]
    middle, frequencies = 0.5 * (turns[1:] + turns[:-1]), 0.5 / np.diff(turns)

    np.testing.assert_allclose(
        frequencies, 0.5 * 8.0 ** (middle / 20.0), rtol=0.05
    )  # a sample of 5 ms in half a period of 0.125 s
    assert abs(wave[0]) < 1e-12
    assert np.abs(np.diff(wave[-3:])).max() < 1e-3


def test_steps_alternate_and_hold_for_half_a_period_of_the_band():
    wave = steps(TIMES, (0.2, 1.0), 20.0, np.random.default_rng(0))
    jumps = np.flatnonzero(np.diff(wave))
    holds = np.diff(jumps[:-1]) / RATE

    assert (np.sign(wave[jumps[:-1]]) * np.sign(wave[jumps[:-1] + 1]) <= 0.0).all()
    assert holds.min() > 0.49
    assert holds.max() < 2.51


def test_too_few_harmonics_are_refused():
    with pytest.raises(pippin.ConfigError, match=r"6 harmonics from 0\.1 to 1 Hz in 8 s, and 4 joints need two each"):
        harmonics(4, (0.1, 1.0), 8.0)


@pytest.mark.slow
def test_the_intervals_of_a_fit_are_those_that_were_foretold(tmp_path):
    file = write(tmp_path, arms.tables(tmp_path))
    truth = {f"actuators.arm.{name}": {".*shoulder": a, ".*elbow": b} for name, (a, b) in arms.TRUTH.items()}

    told = excite(file, None, ExciteSettings(duration=6.0), out=tmp_path / "told")
    with pippin.Simulation.from_file(told.file, {**truth, "recorders.log.path": str(tmp_path / "robot.npz")}) as robot:
        robot.step(len(told.times) - 1)
    with Recording(tmp_path / "robot.npz") as recording:
        positions = recording["joint_q"].values[:-1, 0]
        command = recording["actuators/arm/position_targets"].values[1:, 0]
        times = recording.time[:-1]
    noise = told.noise * np.random.default_rng(1).normal(size=positions.shape)
    np.savez(tmp_path / "log.npz", time=times, joints=told.joints, position=positions + noise, command=command)
    result = pippin_fit.fit(file, [tmp_path / "log.npz"], out=tmp_path / "out")

    np.testing.assert_allclose(command, told.targets[1 : len(command) + 1], atol=1e-6)
    assert result.is_identified
    for expected, found in zip(told.verdicts, result.verdicts, strict=True):
        assert expected.verdict == "identified"
        assert 0.5 < found.half_width / expected.half_width < 2.0, found
        # The measured starts of the windows have noise, which intervals of white noise leave out.
        assert found.value == pytest.approx(truth[found.key][f".*{found.name}"], rel=0.1)


def limited(folder, **values):
    """Return the tables of an arm with limits of position and speed."""
    tables = arms.tables(folder, velocity_limit=values.pop("speed", 100.0), **values)
    text = arms.PENDULUM.replace('name="shoulder"', 'name="shoulder" range="-20 40"')
    (folder / "pendulum.xml").write_text(text, encoding="utf-8")
    return tables


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "kind"), [({}, "multisine"), ({"speed": 0.8}, "chirp"), ({"effort_limit": 3.0}, "steps")]
)
def test_positions_speeds_and_efforts_keep_their_limits(values, kind, tmp_path):
    tables = limited(tmp_path, **values)
    file = write(tmp_path, tables)

    settings = ExciteSettings(kind=kind, duration=4.0, band=(0.5, 3.0), amplitude=1.0)
    told = excite(file, None, settings, out=tmp_path / "out")

    with pippin.Simulation.from_file(told.file, {"recorders": {"extends": False}}) as robot:
        arm, motion, efforts = robot.actuators["arm"], [], []
        for _ in told.times:
            robot.step()
            motion.append([robot.state.joint_q.numpy().copy(), robot.state.joint_qd.numpy().copy()])
            efforts.append(arm.applied_effort.numpy()[0].copy())
    positions, speeds = np.array(motion).swapaxes(0, 1)
    assert np.degrees(positions[:, 0].min()) >= -20.0
    assert np.degrees(positions[:, 0].max()) <= 40.0
    assert np.ptp(positions[:, 0]) > 0.05
    assert np.abs(speeds).max() <= values.get("speed", 100.0)
    assert np.abs(efforts[5:]).max() < values.get("effort_limit", 1e6)


@pytest.mark.slow
def test_a_motion_that_would_touch_is_scaled_down_or_refused_by_name(tmp_path):
    tables = arms.tables(tmp_path)
    ball = 'diaginertia="0.005 0.005 0.0005"/><geom type="sphere" size="0.05" pos="0 0 -0.3"/>'
    text = arms.PENDULUM.replace('diaginertia="0.005 0.005 0.0005"/>', ball)
    file = write(tmp_path, tables)
    settings = ExciteSettings(duration=4.0, band=(0.5, 3.0))

    def wall_at(place):
        block = f'<geom name="wall" type="box" size="0.02 1 1" pos="{place} 0 0.5"/>'
        (tmp_path / "pendulum.xml").write_text(text.replace("<worldbody>", f"<worldbody>{block}"), encoding="utf-8")

    wall_at(0.25)
    told = excite(file, None, settings, out=tmp_path / "near")
    wall_at(0.065)

    assert any("wall" in note and "touched at" in note for note in told.notes)
    assert 0.0 < max(told.amplitudes) < 0.5
    with pytest.raises(pippin.ConfigError, match=r"even small swings reach .*wall.* touched at"):
        excite(file, None, settings, out=tmp_path / "beside")


@pytest.mark.slow
def test_separate_joints_move_one_after_the_other(tmp_path):
    file = write(tmp_path, arms.tables(tmp_path))

    told = excite(file, None, ExciteSettings(duration=3.0, band=(0.5, 3.0), is_separate=True), out=tmp_path / "out")

    assert told.times[-1] == pytest.approx(6.0)
    first = told.times < 3.0
    assert np.ptp(told.targets[first, 1]) == np.ptp(told.targets[~first, 0]) == 0.0
    assert np.ptp(told.targets[first, 0]) > 0.1 < np.ptp(told.targets[~first, 1])


@pytest.mark.slow
def test_the_optimal_motion_tells_more_than_a_plain_multisine(tmp_path):
    file = write(tmp_path, arms.tables(tmp_path))
    settings = {"duration": 4.0, "band": (0.5, 3.0)}

    plain = excite(file, None, ExciteSettings(**settings), out=tmp_path / "plain")
    best = excite(file, None, ExciteSettings(kind="optimal", candidates=8, **settings), out=tmp_path / "best")

    plain_size, best_size = (np.prod([each.half_width for each in found.verdicts]) for found in (plain, best))
    assert best_size < 0.5 * plain_size


@pytest.mark.slow
def test_the_command_writes_what_a_robot_and_a_fit_need(tmp_path):
    own = {"motions": {"swing": {"type": "sine", "actuator": "arm", "amplitude": 0.1, "frequency": 1.0}}}
    file = write(tmp_path, arms.tables(tmp_path) | own)
    arguments = ["excite", str(file), "--duration", "3", "--band", "0.5", "3", "--joints", ".*elbow"]

    outcome = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "out"), "--json"])

    assert outcome.exit_code == 0, outcome.output
    found = json.loads(outcome.stdout)
    assert list(found["amplitudes"]) == ["pendulum/worldbody/upper/lower/elbow"]
    assert {each["name"] for each in found["expected"]} == {"shoulder", "elbow"}
    rows = np.loadtxt(tmp_path / "out" / "targets.csv", delimiter=",", skiprows=1)
    with np.load(tmp_path / "out" / "targets.npz") as arrays:
        np.testing.assert_allclose(rows[:, 1:], arrays["values"], rtol=1e-6, atol=1e-9)
        assert arrays["joints"].tolist() == ["elbow"]
    assert list(pippin.load(tmp_path / "out" / "excite.toml").motions) == [
        "excite-arm"
    ]  # that of the file would move, too


def test_a_motion_that_cannot_be_is_refused(tmp_path):
    file = write(tmp_path, arms.tables(tmp_path))

    with pytest.raises(pippin.ConfigError, match="--band: 5 to 1 Hz must ascend"):
        ExciteSettings(band=(5.0, 1.0))
    with pytest.raises(pippin.ConfigError, match=r"elbo"):
        excite(file, None, ExciteSettings(joints=("elbo",)), out=tmp_path / "out")
    (tmp_path / "bare.toml").write_text(toml_text(arms.tables(tmp_path)), encoding="utf-8")
    with pytest.raises(pippin.ConfigError, match=r"--kind optimal: the file has no table \[fit\]"):
        excite(tmp_path / "bare.toml", None, ExciteSettings(kind="optimal"), out=tmp_path / "out")
