"""Fits of models that lack a part of the robot, and of values that no log tells: verdicts and exit codes."""

import json

import numpy as np
import pippin
import pippin_fit
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.config import toml_text
from pippin_fit.report import residual_spectra
from pippin_fit.verdicts import FitVerdict, is_refuted

from . import arms

RANGES = {"armature": [1e-3, 1.0], "damping": [0.0, 5.0], "friction": [0.0, 2.0]}
PARAMETERS = {f"actuators.arm.{name}": {"range": ends} for name, ends in RANGES.items()}
TRUTH = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}
UNEXPLAINED, CONTRADICTED = "fitted, logs not explained", "logs contradict the file"

EXPLAINED = {"residual": 1.0, "rows": 100}


def write(folder, tables, **fit):
    file = folder / "arm.toml"
    file.write_text(toml_text({**tables, "fit": {"logs": ["log.npz"], **fit}}), encoding="utf-8")
    return file


def swaying(text):
    """Return an arm on a stand that turns to and fro by 1° at 8 Hz."""
    sway = '<body name="stand" pos="0 0 0.5"><inertial pos="0 0 0" mass="5" diaginertia="0.1 0.1 0.1"/>'
    sway += '<joint name="stand" axis="0 1 0"/>'
    text = text.replace("<worldbody>", f"<worldbody>{sway}").replace("</worldbody>", "</body></worldbody>")
    return text.replace('<body name="upper" pos="0 0 1">', '<body name="upper" pos="0 0 0.5">')


def geared(text, joint):
    """Return an arm whose elbow moves a gear, and a joint between the gear and the link."""
    gear = '<body name="gear" pos="0 0 -0.4"><inertial pos="0 0 0" mass="0.05" diaginertia="1e-4 1e-4 1e-4"/>'
    gear += '<joint name="elbow" axis="0 1 0"/><body name="lower">'
    text = text.replace('<body name="lower" pos="0 0 -0.4">', gear)
    return text.replace('<joint name="elbow" axis="0 1 0"/>\n      </body>', f"{joint}</body></body>")


ROBOTS = {
    "base": swaying(arms.PENDULUM),
    "spring": geared(arms.PENDULUM, '<joint name="spring" axis="0 1 0" stiffness="12" damping="0.02"/>'),
    "backlash": geared(arms.PENDULUM, '<joint name="play" axis="0 1 0" range="-0.5 0.5" damping="0.001"/>'),
}


def log_of(folder, kind):
    """Write a log of the shoulder and the elbow of a robot."""
    tables = arms.tables(folder, **TRUTH)
    (folder / "true.xml").write_text(ROBOTS[kind], encoding="utf-8")
    tables["scene"]["assets"][0]["path"] = str(folder / "true.xml")
    tables["actuators"]["arm"]["joints"] = ["shoulder", "elbow"]
    columns = [0, 1]
    if kind == "base":
        columns = [1, 2]
        tables["actuators"]["stand"] = {"type": "pd", "joints": ["stand"], "kp": 1e5, "kd": 1e3, "armature": 10.0}
        swing = {"type": "sine", "actuator": "stand", "joints": ["stand"], "frequency": 8.0}
        tables["motions"] = {"sway": {**swing, "amplitude": np.radians(1.0)}}
    logged = arms.log(folder / "log.npz", tables, seconds=6.0, noise=1e-4)
    for name in ("position", "velocity"):
        logged[name] = logged[name][:, columns]
    np.savez(folder / "log.npz", **logged)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(ROBOTS))
def test_no_value_of_a_model_without_a_part_is_identified(tmp_path, kind):
    """The validation fails with the band of what is left, and the exit code tells it."""
    log_of(tmp_path, kind)
    file = write(tmp_path, arms.tables(tmp_path), parameters=PARAMETERS, validation=0.25)

    outcome = CliRunner().invoke(main, ["fit", str(file), "--out", str(tmp_path / "out"), "--json"])

    assert outcome.exit_code == 4
    summary = json.loads(outcome.stdout)
    assert not summary["is_identified"]
    verdicts = [each["verdict"] for each in summary["verdicts"]]
    assert UNEXPLAINED in verdicts
    assert "identified" not in verdicts
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for text in (page, outcome.stderr):
        assert "The validation fails" in text
        assert "Hz" in text[text.index("The validation fails") :][:300]
    assert UNEXPLAINED in (tmp_path / "out" / "identified.toml").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_residual_of_a_backlash_lies_where_the_report_says(tmp_path):
    log_of(tmp_path, "backlash")
    file = write(tmp_path, arms.tables(tmp_path), parameters=PARAMETERS, validation=0.25)

    result = pippin_fit.fit(file, out=tmp_path / "out")

    assert result.validation[1] > 5.0
    for each in residual_spectra(result.traces, result.joints, result.noise):
        low, high = each.band
        inside = (each.frequencies >= low) & (each.frequencies <= high)
        assert each.power[inside, 1].sum() >= 0.5 * each.power[:, 1].sum()
        assert high < 0.5 * each.frequencies[-1], "noise would fill all frequencies"


@pytest.mark.slow
def test_the_whole_model_is_identified_and_the_exit_code_is_0(tmp_path):
    arms.log(tmp_path / "log.npz", arms.tables(tmp_path, **TRUTH), seconds=6.0, noise=1e-4)
    file = write(tmp_path, arms.tables(tmp_path), parameters=PARAMETERS, validation=0.25)

    outcome = CliRunner().invoke(main, ["fit", str(file), "--out", str(tmp_path / "out"), "--json"])

    assert outcome.exit_code == 0, outcome.output
    assert {each["verdict"] for each in json.loads(outcome.stdout)["verdicts"]} == {"identified"}


@pytest.mark.slow
def test_a_stalled_motor_tells_its_torque_constant_and_resistance_only_together(tmp_path):
    """A motor that turns a stiff spring by half a degree has no back-EMF: k/R is all that it shows."""
    text = (
        '<mujoco model="stalled"><worldbody><body name="rotor"><inertial pos="0 0 0" mass="1" diaginertia="1e-3 1e-3'
        ' 1e-3"/><joint name="motor" axis="0 1 0" stiffness="400" damping="1"/></body></worldbody></mujoco>'
    )
    (tmp_path / "pendulum.xml").write_text(text, encoding="utf-8")

    def stalled(kt, resistance):
        motor = {"type": "servo", "joints": [".*"], "model": "mx106", "friction": {"type": "m1", "kc": 0.0, "kv": 0.0}}
        return {
            "simulation": {"dt": 0.005, "device": "cpu"},
            "scene": {"assets": [{"path": str(tmp_path / "pendulum.xml")}]},
            "solver": {"type": "mujoco-native"},
            "actuators": {"arm": {**motor, "kp": 8.0, "kt": kt, "resistance": resistance}},
        }

    random, rows = np.random.default_rng(0), {"time": [], "position": [], "command": []}
    with pippin.Simulation(stalled(2.0, 3.0)) as simulation:
        motor = simulation.actuators["arm"]
        for step in range(1000):
            command = np.array([0.5 * np.sin(2.0 * np.pi * 0.3 * step * 0.005)])
            rows["time"].append(simulation.time)
            rows["position"].append(simulation.state.joint_q.numpy() + 1e-5 * random.normal(size=1))
            rows["command"].append(command)
            motor.position_targets.assign(command[None].astype(np.float32))
            simulation.step()
    assert np.ptp(rows["position"]) < np.radians(2.0)
    np.savez(tmp_path / "log.npz", **rows, joints=np.array(["motor"]))
    parameters = {"actuators.arm.kt": {"range": [0.5, 8.0]}, "actuators.arm.resistance": {"range": [0.5, 12.0]}}
    file = write(tmp_path, stalled(1.5, 2.7), parameters=parameters, window="whole")

    alike = pippin_fit.fit(file, out=tmp_path / "alike")
    prior = {"fit.parameters.'actuators.arm.resistance'.prior": {"mean": 3.0, "std": 0.02}}
    told = pippin_fit.fit(file, overrides=prior, out=tmp_path / "told")

    assert not any(each.is_identified for each in alike.verdicts)
    assert {each.coupled for each in alike.verdicts} == {
        ("actuators.arm.kt: motor",),
        ("actuators.arm.resistance: motor",),
    }
    assert "only together" in [each.verdict for each in alike.verdicts]
    assert told.is_identified, told.verdicts
    assert told.value("actuators.arm.kt")["motor"] == pytest.approx(2.0, rel=0.02)


@pytest.mark.slow
def test_a_held_value_of_the_file_outside_the_interval_is_told(tmp_path):
    """Noise hides all but that the joints have some friction: the file says next to none."""
    true = arms.tables(tmp_path, **TRUTH)
    arms.log(tmp_path / "log.npz", true, seconds=2.0, noise=0.018)
    known = {name: values for name, values in TRUTH.items() if name != "friction"}
    file = write(
        tmp_path,
        arms.tables(tmp_path, **known, friction=0.001),
        parameters={"actuators.arm.friction": {"range": [0.0, 2.0]}},
    )

    outcome = CliRunner().invoke(main, ["fit", str(file), "--out", str(tmp_path / "out"), "--json"])

    verdicts = json.loads(outcome.stdout)["verdicts"]
    assert CONTRADICTED in [each["verdict"] for each in verdicts]
    assert all(each["value"] > 0.05 for each in verdicts)
    with pippin.Simulation.from_file(tmp_path / "out" / "identified.toml") as simulation:
        written = simulation.actuators["arm"].get("friction")
    np.testing.assert_allclose(np.ravel(written), [each["value"] for each in verdicts], rtol=1e-5)
    assert CONTRADICTED in outcome.stderr
    assert outcome.exit_code == 4


def verdict(text, *, start=1.0, half_width=0.3, block_half_width=None):
    return FitVerdict(
        key="k",
        name="n",
        start=start,
        value=0.5,
        half_width=half_width,
        verdict=text,
        collinearity=0.0,
        block_half_width=block_half_width,
    )


def test_an_interval_without_an_end_is_null_in_json():
    plain = verdict("only together", half_width=np.inf, block_half_width=np.inf).plain()

    assert (plain["half_width"], plain["block_half_width"]) == (None, None)
    json.dumps(plain, allow_nan=False)


def test_what_the_validation_refutes_is_not_identified_but_kept():
    refuted = verdict("identified").concluded(is_refuted=True, **EXPLAINED)

    assert refuted.verdict == "fitted, not validated"
    assert not refuted.is_identified
    assert refuted.is_kept
    assert verdict("only together").concluded(is_refuted=True, **EXPLAINED).verdict == "only together"
    assert verdict("identified").concluded(is_refuted=False, **EXPLAINED).is_identified


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({}, CONTRADICTED),
        ({"start": 0.6}, "not identifiable"),
        ({"half_width": np.inf}, "not identifiable"),
        ({"block_half_width": 0.6}, "not identifiable"),
    ],
)
def test_a_value_of_the_file_outside_the_widest_interval_is_told(numbers, expected):
    assert verdict("not identifiable", **numbers).concluded(is_refuted=False, **EXPLAINED).verdict == expected


@pytest.mark.parametrize(
    ("validation", "expected"),
    [(None, False), ((9.0, 1.0), False), ((9.0, 5.1), True), ((1.0, 1.01), False), ((1.0, 1.2), True)],
)
def test_a_validation_refutes_if_it_is_not_met_or_worse_than_before(validation, expected):
    assert is_refuted(validation) is expected
