"""Fits: known parameters are found, and what logs do not tell is said."""

import json
from pathlib import Path

import numpy as np
import pippin
import pippin_fit
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.config import toml_text
from pippin_fit.run_fit import check_fit
from pippin_fit.verdicts import CORRELATED

from . import arms

RANGES = {"armature": [1e-3, 1.0], "damping": [0.0, 5.0], "friction": [0.0, 2.0]}


def by_joint(pair):
    return {".*shoulder": pair[0], ".*elbow": pair[1]}


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def write(folder, tables, **fit):
    parameters = {f"actuators.arm.{name}": {"range": ends} for name, ends in RANGES.items()}
    file = folder / "arm.toml"
    file.write_text(toml_text({**tables, "fit": {"parameters": parameters, **fit}}), encoding="utf-8")
    return file


def true_log(folder, **options):
    truth = {name: by_joint(pair) for name, pair in arms.TRUTH.items()}
    arms.log(folder / "log.npz", arms.tables(folder, **truth), **options)
    return folder / "log.npz"


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("solver", ["mujoco-native", "mujoco"])
def test_known_parameters_and_a_delay_are_found_and_the_file_runs(folder, solver):
    log = true_log(folder, seconds=4.0, noise=1e-4, lag=3)
    file = write(folder, arms.tables(folder, solver), validation=0.25)
    delay = {"fit.parameters.'signals.delay'": {"range": [0.0, 0.05]}}

    result = pippin_fit.fit(file, [log], delay, out=folder / "out")

    assert result.is_identified
    assert result.validation is not None
    assert result.validation[1] < 1.1 < 50.0 < result.validation[0]
    for name, truth in arms.TRUTH.items():
        found = list(result.value(f"actuators.arm.{name}").values())
        np.testing.assert_allclose(found, truth, rtol=0.02)
    assert result.value("signals.delay")["commands"] == pytest.approx(0.015, abs=1e-4)
    with pippin.Simulation(result.file) as simulation:
        armature = simulation.actuators["arm"].get("armature").numpy()[0]
    np.testing.assert_allclose(armature, list(result.value("actuators.arm.armature").values()), rtol=1e-6)
    assert "±" in result.file.read_text(encoding="utf-8")
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "shoulder: position" in page
    assert "identified" in page
    assert "Spectrum of the residuals: position" in page
    assert "rad or m" not in page
    assert "looks like noise" in page
    assert result.directions[0] in page
    assert all(0.2 * each.half_width < each.block_half_width < 5.0 * each.half_width for each in result.verdicts)
    matrix = np.array(result.correlations)
    np.testing.assert_allclose(np.diag(matrix), 1.0)
    assert (np.abs(matrix) <= 1.0 + 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["featherstone", "steel"])
def test_a_solver_finds_what_it_has(folder, solver):
    smooth = {"friction": None, "armature": by_joint((0.08, 0.03)), "damping": by_joint((0.6, 0.25))}
    arms.log(folder / "log.npz", arms.tables(folder, solver, **smooth), seconds=2.0)
    known = arms.tables(folder, solver)
    del known["actuators"]["arm"]["friction"]
    fit = {"parameters": {f"actuators.arm.{name}": {"range": RANGES[name]} for name in ("armature", "damping")}}
    file = folder / "arm.toml"
    file.write_text(toml_text({**known, "fit": fit}), encoding="utf-8")

    result = pippin_fit.fit(file, [folder / "log.npz"], out=folder / "out")

    for name in ("armature", "damping"):
        np.testing.assert_allclose([*result.value(f"actuators.arm.{name}").values()], arms.TRUTH[name], rtol=0.01)


@pytest.mark.slow
def test_an_encoder_that_reads_wrong_at_zero_is_found(folder):
    arrays = arms.log(folder / "log.npz", arms.tables(folder), seconds=3.0)
    shift = np.array([0.03, -0.05])
    arrays["position"] += shift
    arrays["command"] += shift
    np.savez(folder / "log.npz", **arrays)
    file = folder / "arm.toml"
    fit = {"parameters": {"signals.offset": {"range": [-0.1, 0.1]}}}
    file.write_text(toml_text({**arms.tables(folder), "fit": fit}), encoding="utf-8")

    result = pippin_fit.fit(file, [folder / "log.npz"], out=folder / "out")

    np.testing.assert_allclose(list(result.value("signals.offset").values()), shift, atol=1e-4)


@pytest.mark.slow
def test_what_cannot_be_told_apart_is_named_and_stays_out_of_the_file(folder):
    log = true_log(folder, seconds=2.5, noise=1e-4)
    # The targets of velocities are zero: kd and damping act alike.
    file = write(folder, arms.tables(folder))
    changes = {"fit.parameters.'actuators.arm.kd'": {"range": [0.1, 10.0]}}

    lost = pippin_fit.fit(file, [log], changes, out=folder / "lost")
    kept = pippin_fit.fit(
        file, [log], {**changes, "fit.parameters.'actuators.arm.kd'.prior": {"std": 0.01}}, out=folder / "kept"
    )

    unknown = {each.key for each in lost.verdicts if not each.is_identified}
    assert unknown == {"actuators.arm.kd", "actuators.arm.damping"}
    assert not lost.is_identified
    assert all("kd" in " ".join(each.coupled) for each in lost.verdicts if each.key == "actuators.arm.damping")
    assert kept.is_identified
    # One of each pair keeps the value of the file, and the other one makes up for it: the others are right.
    held, tied = ([each for each in lost.verdicts if each.verdict == kind] for kind in ("not identifiable", CORRELATED))
    assert len(held) == len(tied) == 2
    assert {each.name for each in held} == {each.name for each in tied} == {"shoulder", "elbow"}
    text = lost.file.read_text(encoding="utf-8")
    assert text.count("only together, coupled to actuators.arm.") == 2
    with pippin.Simulation(lost.file) as simulation:
        arm = simulation.actuators["arm"]
        sums = arm.get("kd").numpy()[0] + arm.get("damping").numpy()[0]
        friction = arm.get("friction").numpy()[0]
    np.testing.assert_allclose(sums, 2.0 + np.array(arms.TRUTH["damping"]), rtol=0.01)
    np.testing.assert_allclose(friction, arms.TRUTH["friction"], rtol=0.05)
    assert "kd" in lost.directions[0]
    assert "damping" in lost.directions[0], "the direction is named, although one of both was held"
    assert lost.costs[-1] == pytest.approx(kept.costs[-1], rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("window", [0.25, 1.0])
def test_what_cannot_be_told_apart_is_named_also_with_estimated_starts(folder, window):
    """What is left between kd and damping is the error of their derivatives, which friction bends."""
    log = true_log(folder, seconds=10.0, noise=1e-4)
    file = write(folder, arms.tables(folder), iterations=15, start="estimated", window=window)
    changes = {"fit.parameters.'actuators.arm.kd'": {"range": [0.1, 10.0]}}

    without = pippin_fit.fit(file, [log], out=folder / "without")
    lost = pippin_fit.fit(file, [log], changes, out=folder / "lost")

    assert without.costs[-1] == pytest.approx(1.0, abs=0.06)
    assert without.is_identified
    unknown = {(each.key, each.name) for each in lost.verdicts if not each.is_identified}
    assert unknown == {(f"actuators.arm.{key}", name) for key in ("kd", "damping") for name in ("shoulder", "elbow")}


@pytest.mark.slow
@pytest.mark.filterwarnings("default:.*at rest")
def test_what_the_logs_do_not_move_has_no_effect(folder):
    still = arms.log(folder / "log.npz", arms.tables(folder), seconds=1.0)
    still["command"][:] = 0.0
    still["position"][:] = still["velocity"][:] = 0.0
    np.savez(folder / "log.npz", **still)
    fit = {"parameters": {"actuators.arm.kd": {"range": [0.1, 10.0]}}}
    file = folder / "arm.toml"
    quiet = arms.tables(folder)
    quiet["scene"]["gravity"] = [0.0, 0.0, 0.0]
    file.write_text(toml_text({**quiet, "fit": fit}), encoding="utf-8")

    arguments = ["fit", str(file), "--log", str(folder / "log.npz"), "--out", str(folder / "out"), "--json"]
    outcome = CliRunner().invoke(main, arguments)

    assert outcome.exit_code == 4
    assert outcome.stderr.count("at rest, which tells nothing of it") == 2
    assert "no effect" in outcome.stderr
    found = json.loads(outcome.stdout, parse_constant=lambda name: pytest.fail(f"JSON has no {name}"))
    assert [each["half_width"] for each in found["verdicts"]] == [None, None]


@pytest.mark.slow
def test_a_value_at_an_end_of_its_range_is_stated_as_in_the_file(folder):
    log = true_log(folder, seconds=2.5)
    with np.load(log) as arrays:
        still = {name: array.copy() for name, array in arrays.items()}
    for name in ("position", "velocity", "command"):
        still[name][:, 1] = still[name][0, 1]
    np.savez(log, **still)
    free = arms.tables(folder, friction={".*shoulder": 0.1, ".*elbow": 0.0}, kp={".*shoulder": 60.0, ".*elbow": 0.0})
    free["simulation"]["max_speed"] = 1e6
    fit = {"parameters": {"actuators.arm.friction": {"range": [0.0, 2.0]}, "actuators.arm.kp": {"range": [0.0, 100.0]}}}
    file = folder / "arm.toml"
    file.write_text(toml_text({**free, "fit": fit}), encoding="utf-8")

    with pytest.warns(UserWarning, match="elbow: at rest"):
        result = pippin_fit.fit(file, [log], out=folder / "out")

    starts = {(each.key, each.name): each.start for each in result.verdicts}
    assert starts["actuators.arm.kp", "elbow"] == 0.0
    assert starts["actuators.arm.friction", "elbow"] == 0.0


@pytest.mark.slow
def test_an_episode_that_ends_disturbs_no_window(folder):
    log = true_log(folder, seconds=2.0)
    file = write(folder, arms.tables(folder))
    task = {"task.episode_length": 0.1, "task.observations.policy.angles.of": "joint-positions"}

    plain = pippin_fit.fit(file, [log], out=folder / "plain")
    with_task = pippin_fit.fit(file, [log], task, out=folder / "with_task")

    assert [each.value for each in with_task.verdicts] == [each.value for each in plain.verdicts]


@pytest.mark.slow
def test_the_command_writes_json_and_reads_csv(folder):
    log = true_log(folder, seconds=3.0)
    with np.load(log) as arrays:
        joints = arrays["joints"].tolist()
        kinds = ("position", "velocity", "command")
        names = ["time", *(f"{kind}.{joint}" for kind in kinds for joint in joints)]
        rows = np.column_stack([arrays["time"], *(arrays[kind] for kind in kinds)])
    np.savetxt(folder / "log.csv", rows, delimiter=",", header=",".join(names), comments="")
    file = write(folder, arms.tables(folder), logs=[str(folder / "*.csv")])

    outcome = CliRunner().invoke(main, ["fit", str(file), "--json", "--out", str(folder / "out")])

    assert outcome.exit_code == 0, outcome.output
    found = json.loads(outcome.stdout)
    values = {(each["key"], each["name"]): each["value"] for each in found["verdicts"]}
    np.testing.assert_allclose(
        list(values.values()), [value for name in RANGES for value in arms.TRUTH[name]], rtol=1e-3
    )


@pytest.mark.slow
def test_a_check_aligns_the_logs_and_lists_what_they_can_tell(folder):
    log = true_log(folder, seconds=3.0, noise=1e-4, lag=10)
    changes = {"fit.parameters.'actuators.arm.kd'": {"range": [0.1, 10.0]}}
    file = write(folder, arms.tables(folder))

    told = check_fit(file, [log])
    coupled = check_fit(file, [log], changes)
    found = pippin_fit.fit(file, [log], out=folder / "out")
    outcome = CliRunner().invoke(main, ["fit", str(file), "--log", str(log), "--check"])

    (aligned,) = told.logs
    assert aligned.rate == pytest.approx(200.0)
    assert 0.05 < aligned.lag < 0.15  # ten steps of 5 ms, and the lag of the drives
    for before, after in zip(told.verdicts, found.verdicts, strict=True):
        assert (before.key, before.name, before.start) == (after.key, after.name, after.start)
        assert before.is_identified
    assert all("damping" in each.coupled[0] for each in coupled.verdicts if each.key == "actuators.arm.kd")
    assert outcome.exit_code == 0, outcome.output
    assert "lag of the motion" in outcome.output
    assert "expected ± 95 %" in outcome.output


@pytest.mark.slow
def test_a_recording_of_pippin_is_a_log(folder):
    truth = {name: by_joint(pair) for name, pair in arms.TRUTH.items()}
    tables = arms.tables(folder, **truth)
    channels = ["joint_q", "joint_qd", "actuators/arm/position_targets"]
    tables["recorders"] = {"log": {"type": "npz", "path": "robot.npz", "series": channels}}
    with pippin.Simulation(tables, folder=folder) as simulation:
        for command in arms.commands(np.arange(400) * simulation.control_dt):
            simulation.actuators["arm"].position_targets.assign(command[None].astype(np.float32))
            simulation.step()
    file = write(folder, arms.tables(folder))

    result = pippin_fit.fit(file, [folder / "robot.npz"], out=folder / "out")

    np.testing.assert_allclose(list(result.value("actuators.arm.armature").values()), arms.TRUTH["armature"], rtol=0.02)


def degrees(log):
    log["position"] *= 180.0 / np.pi


def a_copy(log):
    log["command"] = log["position"].copy()


def unknown_joint(log):
    log["joints"] = np.array(["shoulder", "elbo"])


def infinite(log):
    log["position"][7::5, 0] = np.nan


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (degrees, 'units = "deg" for degrees'),
        (a_copy, "log what the robot was told"),
        (unknown_joint, "did you mean 'elbow'|'elbo' means no joint"),
        (infinite, r"79 of 400 rows are not finite, the first one is row 7; leave that part out"),
    ],
)
def test_a_log_with_a_fault_is_refused(folder, spoil, words):
    log = true_log(folder, seconds=2.0)
    with np.load(log) as arrays:
        spoilt = {name: array.copy() for name, array in arrays.items()}
    spoil(spoilt)
    np.savez(log, **spoilt)

    with pytest.raises(pippin.ConfigError, match=words):
        pippin_fit.fit(write(folder, arms.tables(folder)), [log], out=folder / "out")
    assert not (folder / "out").exists()


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fit.parameters.'actuators.leg.kp'": {"range": [0, 1]}}, "no actuator 'leg'"),
        ({"fit.parameters.'actuators.arm.kpp'": {"range": [0, 1]}}, "did you mean 'kp'"),
        ({"fit.parameters.'links.arm.mass'": {"range": [0, 1]}}, "not a place of a parameter"),
        ({"fit.parameters.'actuators.arm.kp'": {"range": [0, 1]}}, "starts at 60, outside 0 to 1"),
        ({"fit.parameters.'actuators.arm.kp'": {"range": [2, 1]}}, "must ascend"),
        ({"fit.window": 0.5, "fit.burn_in": 1.0}, "must be longer than 'burn_in'"),
        ({"fit.validation": 0.99}, "no window is left to fit"),
        ({"fit.accept": ["saturated"]}, "'clock', 'commands', 'contact'"),
        ({"scene.assets": [{"path": "pendulum.xml", "worlds": "0:1"}]}, "worlds of the file differ"),
        (
            {"actuators.arm.kp": {"uniform": [1, 2]}, "fit.parameters.'actuators.arm.kp'": {"range": [0, 9]}},
            "at random",
        ),
    ],
)
def test_a_wrong_table_is_refused(folder, changes, words):
    log = true_log(folder, seconds=2.0)

    with pytest.raises(pippin.ConfigError, match=words):
        pippin_fit.fit(write(folder, arms.tables(folder)), [log], changes, out=folder / "out")


@pytest.mark.slow
def test_logs_of_the_table_are_beside_its_file(folder, tmp_path_factory, monkeypatch):
    true_log(folder, seconds=2.0)
    file = write(folder, arms.tables(folder), logs=["*.npz"], iterations=1)
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))

    assert pippin_fit.fit(file, out=folder / "out").costs


@pytest.mark.slow
def test_a_log_for_validation_is_not_fitted_and_judges(folder):
    """With and without it, the values are the same; one of another robot shows that the values are not its own."""
    true = true_log(folder, seconds=2.0, noise=1e-4)
    file = write(folder, arms.tables(folder), signals={"position": {"std": 1e-4}})
    alone = pippin_fit.fit(file, [true], out=folder / "alone")
    other = {name: by_joint([2.0 * each for each in pair]) for name, pair in arms.TRUTH.items()}
    arms.log(folder / "other.npz", arms.tables(folder, **other), seconds=2.0, noise=1e-4)

    judged = pippin_fit.fit(file, [true], validate=[folder / "other.npz"], out=folder / "judged")

    assert alone.validation is None
    assert judged.validation is not None
    assert judged.validation[1] > 5.0, "the robot of the other log has other values"
    for key in (f"actuators.arm.{name}" for name in RANGES):
        np.testing.assert_array_equal(list(judged.value(key).values()), list(alone.value(key).values()))
    page = (folder / "judged" / "report.html").read_text(encoding="utf-8")
    assert "other.npz" in page

    done = CliRunner().invoke(main, ["fit", str(file), "--log", str(true), "--validate", str(true), "--check"])
    assert done.exit_code != 0
    assert "is also fitted, and proves nothing; name another log" in done.output


def test_a_signal_that_a_log_lacks_is_refused(folder):
    log = true_log(folder, seconds=2.0)
    with np.load(log) as arrays:
        np.savez(log, **{name: array for name, array in arrays.items() if name != "velocity"})

    with pytest.raises(pippin.ConfigError, match=r"log\.npz has no velocity; name signals that all logs have"):
        pippin_fit.fit(write(folder, arms.tables(folder), signals={"velocity": {}}), [log], out=folder / "out")


def test_a_file_without_a_table_or_a_log_is_refused(folder):
    file = folder / "arm.toml"
    file.write_text(toml_text(arms.tables(folder)), encoding="utf-8")
    with pytest.raises(pippin.ConfigError, match="has no \\[fit\\] table"):
        pippin_fit.fit(file, out=folder / "out")
    with pytest.raises(pippin.ConfigError, match="there is no log"):
        pippin_fit.fit(write(folder, arms.tables(folder)), out=folder / "out")
    with pytest.raises(pippin.ConfigError, match="matches no file"):
        pippin_fit.fit(write(folder, arms.tables(folder)), [Path("nowhere/*.npz")], out=folder / "out")


@pytest.mark.parametrize("study", [pippin_fit.fit, check_fit])
def test_a_fault_of_the_table_has_file_and_line(folder, study):
    file = write(folder, arms.tables(folder), logs=["nowhere*.npz"])
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if text.startswith("logs"))

    with pytest.raises(pippin.ConfigError, match=rf"arm\.toml:{line}: fit\.logs: .*matches no file"):
        study(file)


@pytest.mark.slow
def test_logs_that_the_model_does_not_explain_identify_nothing(folder, monkeypatch):
    """A robot gets a target every 2 ms, and its log has every second one: 1 ms of delay explains it."""
    truth = {name: by_joint(pair) for name, pair in arms.TRUTH.items()}
    robot = arms.tables(folder, **truth)
    robot["simulation"]["dt"] = 0.002
    arrays = arms.log(folder / "log.npz", robot, seconds=6.0, noise=1e-4)
    np.savez(folder / "log.npz", **{key: each if key == "joints" else each[::2] for key, each in arrays.items()})
    known = arms.tables(folder)
    known["simulation"] |= {"dt": 0.002, "decimation": 2}
    file = write(folder, known)
    monkeypatch.chdir(folder)

    outcome = CliRunner().invoke(main, ["fit", str(file), "--log", str(folder / "log.npz"), "--out", "out", "--json"])

    found = json.loads(outcome.stdout.splitlines()[-1])
    assert outcome.exit_code == 4
    assert found["costs"][-1] > 5.0
    assert not found["is_identified"]
    assert {each["verdict"] for each in found["verdicts"]} == {"fitted, logs not explained"}
    for each in found["verdicts"]:
        truth = arms.TRUTH[each["key"].rpartition(".")[2]][each["name"].endswith("elbow")]
        assert abs(each["value"] - truth) < each["half_width"]
    delay, residual = found["delay"]
    assert delay == pytest.approx(-0.001, abs=1e-4)
    assert residual < 1.5
    assert "does not explain the logs" in outcome.stderr
    assert "signals.delay = -0.001" in outcome.stderr
