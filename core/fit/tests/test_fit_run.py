"""Cases of a fit: a model that lacks a part, and a search that builds once."""

import gc
import re
from pathlib import Path

import numpy as np
import pippin
import pippin_fit
import pytest
import warp as wp
from pippin.config import toml_text
from pippin.studies import current_progress
from pippin_fit.fit_run import FitRun

from . import arms

TAIL = """
        <body name="tail" pos="0 0 -0.3">
          <inertial pos="0 0 -0.1" mass="0.3" diaginertia="0.002 0.002 0.0002"/>
          <joint name="spring" axis="0 1 0" stiffness="{stiffness}" damping="0.01"/>
        </body>
"""
PARAMETERS = {
    "actuators.arm.armature": {"range": [1e-3, 1.0]},
    "actuators.arm.damping": {"range": [0.0, 5.0]},
    "actuators.arm.friction": {"range": [0.0, 2.0]},
}


def with_tail(folder, **values):
    """Tables of an arm with a tail on a soft spring, which the drive does not move."""
    tables = arms.tables(folder, **values)
    text = arms.PENDULUM.replace('axis="0 1 0"/>\n      </body>', f'axis="0 1 0"/>{TAIL.format(stiffness=8.0)}</body>')
    assert "spring" in text
    (folder / "soft.xml").write_text(text, encoding="utf-8")
    tables["scene"]["assets"][0]["path"] = str(folder / "soft.xml")
    tables["actuators"]["arm"]["joints"] = ["shoulder", "elbow"]
    return tables


@pytest.mark.slow
def test_a_missing_spring_shows_as_a_band_and_residuals_that_are_not_white(tmp_path):
    truth = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}
    logged = arms.log(tmp_path / "log.npz", with_tail(tmp_path, **truth), seconds=6.0, noise=1e-4)
    for name in ("position", "velocity"):
        logged[name] = logged[name][:, :2]
    np.savez(tmp_path / "log.npz", **logged)
    fit = {"logs": ["log.npz"], "parameters": PARAMETERS, "validation": 0.25}
    (tmp_path / "arm.toml").write_text(toml_text({**arms.tables(tmp_path), "fit": fit}), encoding="utf-8")

    result = pippin_fit.fit(tmp_path / "arm.toml", out=tmp_path / "out")

    assert result.validation[1] > 5.0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "the model lacks something there" in page
    assert not any(each.is_identified for each in result.verdicts)
    assert "fitted, logs not explained" in {each.verdict for each in result.verdicts}


def loaded_modules():
    """Return how many modules of kernels are loaded, each with its block sizes."""
    return sum(len(each.execs) for each in gc.get_objects() if isinstance(each, wp.Module))


def resident_bytes():
    return int(re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text(encoding="utf-8"))[1]) * 1024


@pytest.mark.slow
def test_fifty_rollouts_build_nothing_anew(tmp_path):
    truth = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}
    arms.log(tmp_path / "log.npz", arms.tables(tmp_path, **truth), seconds=2.0)
    fit = {"logs": ["log.npz"], "parameters": PARAMETERS}
    (tmp_path / "arm.toml").write_text(toml_text({**arms.tables(tmp_path), "fit": fit}), encoding="utf-8")
    config = pippin.load(tmp_path / "arm.toml")
    run = FitRun(config, config.fit, [str(tmp_path / "log.npz")], None)
    random = np.random.default_rng(0)
    with run:
        points = np.full((5, 6), 0.1)
        run.rollouts.roll_out(points)
        run.rollouts.roll_out(1.01 * points)
        loaded, memory = loaded_modules(), resident_bytes()
        for _ in range(50):
            run.rollouts.roll_out(points * random.uniform(0.9, 1.1, points.shape))

        assert loaded_modules() == loaded
        assert resident_bytes() - memory < 8_000_000
        assert run.rollouts.count == 52


@pytest.mark.parametrize("method", ["least-squares", "cmaes"])
def test_a_fit_that_is_stopped_anywhere_has_a_whole_result_or_none(tmp_path, method):
    """Before, among and after the iterations, and before whole numbers are judged."""
    truth = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}
    delay = {"max_steps": 3}
    arms.log(tmp_path / "log.npz", arms.tables(tmp_path, **truth, delay={**delay, "steps": 2}), seconds=1.5)
    parameters = {"actuators.arm.armature": {"range": [1e-3, 1.0]}}
    if method == "cmaes":
        parameters["actuators.arm.delay.steps"] = {"range": [0, 3], "each": "group"}
    fit = {"parameters": parameters, "method": method, "generations": 2, "iterations": 4, "accept": ["excitation"]}
    file = tmp_path / "arm.toml"
    tables = arms.tables(tmp_path, **{**truth, "armature": 0.03}, delay={**delay, "steps": 0})
    file.write_text(toml_text({**tables, "fit": fit}), encoding="utf-8")
    config, found, calls = pippin.load(file), [], 0

    while True:
        left = iter(range(calls))

        def stop_if_asked(left=left):
            if next(left, None) is None:
                raise KeyboardInterrupt

        with FitRun(config, config.fit, [str(tmp_path / "log.npz")], None) as run:
            try:
                run.run(current_progress(), stop_if_asked)
                break
            except KeyboardInterrupt:
                found.append(len(run.result(tmp_path).verdicts) if run.costs else None)
        calls += 1

    whole = len(parameters) + 1
    assert found[0] is None
    assert whole in found
    assert set(found) <= {None, whole}
