"""Cases of a fit that logs of robots bring: other clocks, a swaying base, springs in gears, values alike, one file."""

import numpy as np
import pippin
import pippin_fit
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.config import toml_text
from pippin_fit.report import residual_spectra

from . import arms

RANGES = {"armature": [1e-3, 1.0], "damping": [0.0, 5.0], "friction": [0.0, 2.0]}
PARAMETERS = {f"actuators.arm.{name}": {"range": ends} for name, ends in RANGES.items()}
TRUTH = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}


def write(folder, tables, **fit):
    file = folder / "arm.toml"
    file.write_text(toml_text({**tables, "fit": {"logs": ["log.npz"], **fit}}), encoding="utf-8")
    return file


def log_of(folder, tables, text=None, **options):
    """Write a log of the two joints of an arm, which is that of another text."""
    if text is not None:
        (folder / "true.xml").write_text(text, encoding="utf-8")
        tables["scene"]["assets"][0]["path"] = str(folder / "true.xml")
        tables["actuators"]["arm"]["joints"] = ["shoulder", "elbow"]
    return arms.log(folder / "log.npz", tables, **options)


def band_of(result, signal):
    """Return the band that has half of what was left of a signal [Hz]."""
    spectra = residual_spectra(result.traces, result.joints, result.noise)
    return next(each.band for each in spectra if each.signal == signal)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["mujoco-native", "mujoco", "steel"])
def test_masses_and_a_delay_are_found_with_the_drive_in_two_logs(tmp_path, solver):
    """Within 2 % of each family, and the delay of three steps to a hundredth of one."""
    has_friction = solver != "steel"
    truth = {name: values for name, values in TRUTH.items() if has_friction or name != "friction"}
    known = {} if has_friction else {"friction": None}
    true = arms.tables(tmp_path, solver, **{**known, **truth})
    true["scene"]["bodies"] = {
        "lower": {"mass": 1.3 * 0.7, "com": [0.02, 0, -0.15], "inertia": [0.0065, 0.0065, 6.5e-4]}
    }
    for number in range(2):
        arms.log(tmp_path / f"{number}.npz", true, seconds=5.0, noise=1e-4, lag=3, seed=number)
    parameters = {f"actuators.arm.{name}": {"range": RANGES[name]} for name in truth}
    parameters |= {"bodies.lower.mass": {"range": [0.2, 3.0]}, "signals.delay": {"range": [0.0, 0.05]}}
    file = write(tmp_path, arms.tables(tmp_path, solver, **known), logs=["*.npz"], parameters=parameters)

    result = pippin_fit.fit(file, out=tmp_path / "out")

    assert result.is_identified
    for name in truth:
        np.testing.assert_allclose(list(result.value(f"actuators.arm.{name}").values()), arms.TRUTH[name], rtol=0.02)
    assert result.value("bodies.lower.mass")["lower"] == pytest.approx(1.3 * 0.7, rel=0.02)
    assert result.value("signals.delay")["commands"] == pytest.approx(3 * 0.005, abs=5e-5)


@pytest.mark.slow
def test_a_clock_that_is_late_is_found_to_a_millisecond(tmp_path):
    arms.log(tmp_path / "log.npz", arms.tables(tmp_path, **TRUTH), seconds=6.0, noise=1e-4, lag=20)
    parameters = {**PARAMETERS, "signals.delay": {"range": [0.0, 0.2]}}

    result = pippin_fit.fit(write(tmp_path, arms.tables(tmp_path), parameters=parameters), out=tmp_path / "out")

    assert result.value("signals.delay")["commands"] == pytest.approx(0.1, abs=1e-3)
    assert result.is_identified


@pytest.mark.slow
def test_a_swaying_base_is_told_by_its_frequency(tmp_path):
    """A stand that turns to and fro by 1° at 8 Hz is in no parameter: the validation fails, by a band about 8 Hz."""
    sway = '<body name="stand" pos="0 0 0.5"><inertial pos="0 0 0" mass="5" diaginertia="0.1 0.1 0.1"/>'
    sway += '<joint name="stand" axis="0 1 0"/>'
    text = arms.PENDULUM.replace("<worldbody>", f"<worldbody>{sway}").replace("</worldbody>", "</body></worldbody>")
    text = text.replace('<body name="upper" pos="0 0 1">', '<body name="upper" pos="0 0 0.5">')
    tables = arms.tables(tmp_path, **TRUTH)
    tables["actuators"]["stand"] = {"type": "pd", "joints": ["stand"], "kp": 1e5, "kd": 1e3, "armature": 10.0}
    swing = {"type": "sine", "actuator": "stand", "joints": ["stand"], "amplitude": np.radians(1.0), "frequency": 8.0}
    tables["motions"] = {"sway": swing}
    logged = log_of(tmp_path, tables, text, seconds=6.0, noise=1e-4)
    for name in ("position", "velocity"):
        logged[name] = logged[name][:, 1:]
    np.savez(tmp_path / "log.npz", **logged)

    file = write(tmp_path, arms.tables(tmp_path), parameters=PARAMETERS, validation=0.25)
    result = pippin_fit.fit(file, out=tmp_path / "out")

    low, high = band_of(result, "position")
    assert low - 1.0 <= 8.0 <= high + 1.0
    assert high - low < 4.0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "The validation fails" in page


@pytest.mark.slow
def test_a_spring_in_a_gear_fails_the_validation_and_shows_its_band(tmp_path):
    """Encoders see the motor of the elbow, and a spring of 12 N·m/rad is between it and the link: 4 Hz."""
    gear = '<body name="gear" pos="0 0 -0.4"><inertial pos="0 0 0" mass="0.05" diaginertia="1e-4 1e-4 1e-4"/>'
    gear += '<joint name="elbow" axis="0 1 0"/><body name="lower">'
    text = arms.PENDULUM.replace('<body name="lower" pos="0 0 -0.4">', gear)
    spring = '<joint name="spring" axis="0 1 0" stiffness="12" damping="0.02"/></body>'
    text = text.replace('<joint name="elbow" axis="0 1 0"/>\n      </body>', f"{spring}</body>")
    assert text.count('name="elbow"') == text.count('name="spring"') == 1
    logged = log_of(tmp_path, arms.tables(tmp_path, **TRUTH), text, seconds=6.0, noise=1e-4)
    for name in ("position", "velocity"):
        logged[name] = logged[name][:, :2]
    np.savez(tmp_path / "log.npz", **logged)
    file = write(tmp_path, arms.tables(tmp_path), parameters=PARAMETERS, validation=0.25)

    outcome = CliRunner().invoke(main, ["fit", str(file), "--out", str(tmp_path / "out")])

    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for text in (page, outcome.output):
        assert "The validation fails" in text
        assert "Hz" in text[text.index("The validation fails") :][:300]


@pytest.mark.slow
def test_mass_and_armature_of_a_vertical_axis_are_alike_without_a_prior(tmp_path):
    text = arms.PENDULUM.replace('axis="0 1 0"', 'axis="0 0 1"')
    (tmp_path / "upright.xml").write_text(text, encoding="utf-8")
    known, true = arms.tables(tmp_path), arms.tables(tmp_path, armature={".*shoulder": 0.08, ".*elbow": 0.03})
    for tables in (known, true):
        tables["scene"]["assets"][0]["path"] = str(tmp_path / "upright.xml")
    arms.log(tmp_path / "log.npz", true, seconds=4.0, noise=1e-4)
    parameters = {
        "bodies.upper.mass": {"range": [0.1, 5.0]},
        "actuators.arm.armature": {"range": [1e-3, 1.0], "joints": ["shoulder"]},
    }
    file = write(tmp_path, known, parameters=parameters)

    alike = pippin_fit.fit(file, out=tmp_path / "alike")
    prior = {"fit.parameters.'bodies.upper.mass'.prior": {"mean": 1.2, "std": 0.01}}
    told = pippin_fit.fit(file, overrides=prior, out=tmp_path / "told")

    assert not any(each.is_identified for each in alike.verdicts)
    assert all(each.coupled for each in alike.verdicts)
    assert told.is_identified


@pytest.mark.slow
def test_the_file_repeats_the_fit_to_the_bit_and_leaves_the_robot_alone(tmp_path):
    arms.log(tmp_path / "log.npz", arms.tables(tmp_path, **TRUTH), seconds=2.0)
    file = write(tmp_path, arms.tables(tmp_path), parameters=PARAMETERS)
    asset = (tmp_path / "pendulum.xml").read_bytes()

    result = pippin_fit.fit(file, out=tmp_path / "out")

    found = {
        trace.joint: trace.values[:, 2]
        for trace in result.traces
        if trace.signal == "position" and trace.times[0] < 0.1
    }
    with np.load(tmp_path / "log.npz") as log, pippin.Simulation(result.file) as simulation:
        arm, motion = simulation.actuators["arm"], []
        for command in log["command"][: len(next(iter(found.values())))]:
            arm.position_targets.assign(command[None].astype(np.float32))
            simulation.step()
            motion.append(simulation.state.joint_q.numpy().copy())
        labels = list(arm.joint_labels)
    for column, label in enumerate(labels):
        # the times of the log are those of steps to 1e-16 s, so that a trace has another last bit of double precision
        np.testing.assert_array_equal(np.array(motion)[:, column], found[label].astype(np.float32))
    outcome = CliRunner().invoke(main, ["check", str(result.file)])
    assert outcome.exit_code == 0, outcome.output
    assert (tmp_path / "pendulum.xml").read_bytes() == asset
