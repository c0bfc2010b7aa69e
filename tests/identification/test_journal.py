"""A fit that was stopped continues to the same bits, and not from another fit."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pippin
import pytest
from pippin.config.toml_text import toml_text
from pippin.errors import ConfigError

from . import arms

RANGES = {"armature": [1e-3, 1.0], "damping": [0.0, 5.0], "friction": [0.0, 2.0]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with a file, its log, and the result of a fit that nothing stopped."""
    folder = tmp_path_factory.mktemp("fit")
    truth = {name: {".*shoulder": one, ".*elbow": other} for name, (one, other) in arms.TRUTH.items()}
    arms.log(folder / "log.npz", arms.tables(folder, **truth), seconds=2.0, noise=1e-4)
    parameters = {f"actuators.arm.{name}": {"range": ends} for name, ends in RANGES.items()}
    fit = {"parameters": parameters, "logs": ["log.npz"], "validation": 0.25}
    (folder / "arm.toml").write_text(toml_text({**arms.tables(folder), "fit": fit}), encoding="utf-8")
    return folder, pippin.fit(folder / "arm.toml", out=folder / "whole")


def values(result):
    return [each.value for each in result.verdicts]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_a_fit_goes_on_to_the_same_bits(whole, tmp_path, kept):
    folder, result = whole
    (tmp_path / "iterations").mkdir()
    for number in range(kept):
        shutil.copy(folder / "whole" / "iterations" / f"{number:04d}.npz", tmp_path / "iterations")

    again = pippin.fit(folder / "arm.toml", out=tmp_path)

    assert values(again) == values(result)
    assert again.costs == result.costs
    assert again.ended == result.ended
    assert (tmp_path / "identified.toml").is_file()


@pytest.mark.slow
def test_a_fit_that_has_ended_is_only_judged_again(whole):
    folder, result = whole
    before = sorted((folder / "whole" / "iterations").iterdir())

    again = pippin.fit(folder / "arm.toml", out=folder / "whole")

    assert values(again) == values(result)
    assert again.rollouts < result.rollouts
    assert len(before) > 3


@pytest.mark.slow
def test_more_iterations_continue_a_fit_that_took_all(whole, tmp_path):
    folder, result = whole
    few = pippin.fit(folder / "arm.toml", overrides={"fit.iterations": 2}, out=tmp_path / "few")

    more = pippin.fit(folder / "arm.toml", out=tmp_path / "few")

    assert few.ended == "it took all iterations"
    assert values(few) != values(result)
    assert values(more) == values(result)


@pytest.mark.slow
def test_another_log_or_file_is_refused(whole, tmp_path):
    folder, _ = whole
    with np.load(folder / "log.npz") as arrays:
        changed = {**arrays, "position": arrays["position"] + 1e-6}
    np.savez(folder / "other.npz", **changed)

    with pytest.raises(ConfigError, match="has a fit of another file, log or version"):
        pippin.fit(folder / "arm.toml", overrides={"fit.logs": [str(folder / "other.npz")]}, out=folder / "whole")
    with pytest.raises(ConfigError, match="has a fit of another file, log or version"):
        pippin.fit(folder / "arm.toml", overrides={"simulation.dt": 0.0025}, out=folder / "whole")


@pytest.mark.slow
def test_a_killed_fit_goes_on(whole, tmp_path):
    folder, result = whole
    command = [sys.executable, "-m", "pippin", "fit", str(folder / "arm.toml"), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120.0
        while len(list((tmp_path / "out" / "iterations").glob("0*.npz"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)

    again = pippin.fit(folder / "arm.toml", out=tmp_path / "out")

    assert values(again) == values(result)
