"""Fits of a servo on a bench: weights that are known and differ between logs tell its torque constant from friction."""

import runpy
from pathlib import Path

import numpy as np
import pippin
import pippin_fit
import pytest
from pippin.array_files import read_arrays
from pippin.config import toml_text
from pippin_fit.config import FitConfig, FitParameterConfig
from pippin_fit.parameter_kinds import refuse_unclear

from . import arms

TRUE_KT = 2.231
LIGHT, HEAVY = (0.5, 0.2), (1.5, 0.2)
"""Mass [kg] and length of the arm [m]."""


@pytest.fixture(scope="module")
def bench():
    return runpy.run_path(str(Path(__file__).parents[3] / "tests" / "benchmarks" / "fit_servo.py"))


@pytest.mark.slow
def test_logs_that_a_fit_has_not_seen_choose_the_friction_of_a_servo(bench, tmp_path):
    results = bench["compare"](tmp_path, ["m1", "m4"], motions=2, seconds=3.0, weights=[LIGHT, HEAVY])

    assert bench["chosen"](results) == "m4"
    assert results["m1"].validation[1] > 1.5 * results["m4"].validation[1]
    assert results["m4"].value("actuators.servo.kt")["servo"] == pytest.approx(TRUE_KT, rel=0.05)


@pytest.mark.slow
def test_values_go_back_to_the_file_only_if_others_make_up_for_it(bench, tmp_path):
    """Numbers of friction that fades are coupled, but not over the whole way to the file's; and a fit that was stopped
    on this way ends as one that was not.
    """
    size = {"motions": 2, "seconds": 3.0, "weights": [LIGHT, HEAVY]}
    result = bench["compare"](tmp_path, ["m2"], truth="m2", model="mx64", **size)["m2"]
    own = tmp_path / "m2 of 2"
    files = sorted((own / "iterations").iterdir())
    on_the_way = next(number for number, file in enumerate(files) if "reset_unknowns" in read_arrays(file))
    for file in files[on_the_way + 1 :]:
        file.unlink()

    seen, unseen = (sorted(tmp_path.glob(f"m*_{motion}.npz")) for motion in (0, 1))
    again = pippin_fit.fit(tmp_path / "m2.toml", seen, validate=unseen, out=own)

    assert "logs contradict the file" in [each.verdict for each in result.verdicts]
    assert result.costs[-1] < 1.05
    assert result.validation[1] < 1.2
    assert again.verdicts == result.verdicts


@pytest.mark.slow
def test_one_weight_does_not_tell_a_torque_constant_from_friction(bench, tmp_path):
    log = bench["log"](tmp_path, *HEAVY, motion=0, seconds=4.0)

    result = bench["fit"](tmp_path, "m4", [log], [], [HEAVY])

    lost = {each.key.removeprefix("actuators.servo."): each for each in result.verdicts if not each.is_identified}
    assert "kt" in lost
    assert any(key.startswith("friction.") for key in lost)
    named = " ".join([*result.directions, *(name for each in lost.values() for name in each.coupled)])
    assert "kt" in named
    assert "friction." in named


@pytest.mark.slow
def test_numbers_that_are_known_of_a_log_hold_in_its_worlds_alone(tmp_path):
    loads = {"light": 0.3, "heavy": 1.6}
    truth = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}
    for name, mass in loads.items():
        tables = arms.tables(tmp_path, **truth)
        inertia = [mass / 0.7 * moment for moment in (0.005, 0.005, 0.0005)]
        tables["scene"]["bodies"] = {"lower": {"mass": mass, "com": [0.02, 0.0, -0.15], "inertia": inertia}}
        arms.log(tmp_path / f"{name}.npz", tables, seconds=3.0)
    fit = {
        "logs": ["*.npz"],
        "known": {f"{name}.npz": {"bodies.lower.mass": mass} for name, mass in loads.items()},
        "parameters": {f"actuators.arm.{name}": {"range": [0.0, 2.0]} for name in ("damping", "friction")},
    }
    file = tmp_path / "arm.toml"
    file.write_text(toml_text({**arms.tables(tmp_path, armature=truth["armature"]), "fit": fit}), encoding="utf-8")

    result = pippin_fit.fit(file, out=tmp_path / "out")

    assert result.costs[-1] < 0.1
    for name in ("damping", "friction"):
        np.testing.assert_allclose(list(result.value(f"actuators.arm.{name}").values()), arms.TRUTH[name], rtol=1e-3)
    assert "bodies" not in result.file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"m3*": {"bodies.a.mass": 1.0}}, r"'m3\*': matches no log; logs: logs/m1.npz, logs/m2.npz"),
        ({"m1*": {"actuators.arm.kt": 1.0}}, "varies in fit.parameters"),
        (
            {"m1*": {"bodies.a.mass": 1.0}, "m*": {"bodies.a.mass": 2.0}},
            "two patterns match logs/m1.npz",
        ),
    ],
)
def test_numbers_of_logs_that_are_unclear_are_refused(known, words):
    config = FitConfig(known=known, parameters={"actuators.arm.kt": FitParameterConfig(range=(0.1, 1.0))})

    with pytest.raises(pippin.ConfigError, match=words):
        refuse_unclear(config, ["logs/m1.npz", "logs/m2.npz"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"bodies.lower.com": [0.0, 0.1]}, "expected 1 or 3 numbers, got 2"),
        ({"bodies.lowr.mass": 1.0}, "did you mean 'lower'"),
        ({"signals.delay": 0.1}, "not a place of a number of a model"),
        ({"bodies.upper.com": 0.1}, "other numbers of 'pendulum/worldbody/upper' vary"),
    ],
)
def test_wrong_numbers_of_logs_are_refused(tmp_path, numbers, words):
    arms.log(tmp_path / "log.npz", arms.tables(tmp_path), seconds=1.0)
    fit = {"logs": ["log.npz"], "known": {"*": numbers}, "parameters": {"bodies.upper.mass": {"range": [0.1, 3.0]}}}
    file = tmp_path / "arm.toml"
    file.write_text(toml_text({**arms.tables(tmp_path), "fit": fit}), encoding="utf-8")

    with pytest.raises(pippin.ConfigError, match=words):
        pippin_fit.fit(file, out=tmp_path / "out")
