"""A fit that was stopped continues to the same bits, and not from another fit."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pippin_fit
import pytest
from click.testing import CliRunner
from pippin.array_files import read_arrays
from pippin.cli import main
from pippin.config import toml_text
from pippin.errors import ConfigError
from pippin_fit.journal import Journal

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
    return folder, pippin_fit.fit(folder / "arm.toml", out=folder / "whole")


def values(result):
    return [each.value for each in result.verdicts]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_a_fit_goes_on_to_the_same_bits(whole, tmp_path, kept):
    folder, result = whole
    (tmp_path / "iterations").mkdir()
    for number in range(kept):
        shutil.copy(folder / "whole" / "iterations" / f"{number:04d}.npz", tmp_path / "iterations")

    again = pippin_fit.fit(folder / "arm.toml", out=tmp_path)

    assert values(again) == values(result)
    assert again.costs == result.costs
    assert again.ended == result.ended
    assert (tmp_path / "identified.toml").is_file()


@pytest.mark.slow
def test_a_fit_that_has_ended_is_only_judged_again(whole):
    folder, result = whole
    before = sorted((folder / "whole" / "iterations").iterdir())

    again = pippin_fit.fit(folder / "arm.toml", out=folder / "whole")

    assert values(again) == values(result)
    assert again.rollouts < result.rollouts
    assert len(before) > 3


@pytest.mark.slow
def test_more_iterations_continue_a_fit_that_took_all(whole, tmp_path):
    folder, result = whole
    few = pippin_fit.fit(folder / "arm.toml", overrides={"fit.iterations": 2}, out=tmp_path / "few")

    more = pippin_fit.fit(folder / "arm.toml", out=tmp_path / "few")

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
        pippin_fit.fit(folder / "arm.toml", overrides={"fit.logs": [str(folder / "other.npz")]}, out=folder / "whole")
    with pytest.raises(ConfigError, match="has a fit of another file, log or version"):
        pippin_fit.fit(folder / "arm.toml", overrides={"simulation.dt": 0.0025}, out=folder / "whole")


def kill(command, is_time, number=signal.SIGKILL, code=-signal.SIGKILL):
    """Run a command, and send it a signal as soon as something is so; it ends with a code."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120.0
        while not is_time() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        os.kill(process.pid, number)
    assert process.returncode == code, "it ended before it could be stopped"


@pytest.mark.slow
def test_a_killed_fit_goes_on(whole, tmp_path):
    folder, result = whole
    pippin_command = str(Path(sys.executable).with_name("pippin"))
    command = [pippin_command, "fit", str(folder / "arm.toml"), "--out", str(tmp_path / "out")]
    kill(command, lambda: len(list((tmp_path / "out" / "iterations").glob("0*.npz"))) >= 2)

    again = pippin_fit.fit(folder / "arm.toml", out=tmp_path / "out")

    assert values(again) == values(result)


@pytest.mark.slow
def test_control_c_writes_what_was_found_and_the_fit_goes_on(whole, tmp_path):
    folder, result = whole
    pippin_command = str(Path(sys.executable).with_name("pippin"))
    command = [pippin_command, "fit", str(folder / "arm.toml"), "--out", str(tmp_path / "out")]
    begun = tmp_path / "out" / "iterations"

    kill(command, lambda: len(list(begun.glob("0*.npz"))) >= 2, signal.SIGINT, 130)
    has_file, has_page = ((tmp_path / "out" / name).is_file() for name in ("identified.toml", "report.html"))
    again = pippin_fit.fit(folder / "arm.toml", out=tmp_path / "out")

    assert has_file
    assert has_page
    assert values(again) == values(result)


@pytest.mark.slow
def test_starts_side_by_side_that_were_killed_go_on(whole, tmp_path):
    """To the same bits, with fewer evaluations: those before the kill are not repeated."""
    folder, _ = whole
    once = pippin_fit.fit(folder / "arm.toml", overrides={"fit.starts": 4}, out=tmp_path / "once")
    command = [str(Path(sys.executable).with_name("pippin")), "fit", str(folder / "arm.toml"), "--set", "fit.starts=4"]
    file = tmp_path / "killed" / "iterations" / "starts.npz"

    def is_under_way():
        return file.is_file() and read_arrays(file)["taken"].max() >= 2

    kill([*command, "--out", str(tmp_path / "killed")], is_under_way)
    assert not list(file.parent.glob("0*.npz")), "the starts were under way"
    begun = read_arrays(file)["taken"]
    again = pippin_fit.fit(folder / "arm.toml", overrides={"fit.starts": 4}, out=tmp_path / "killed")

    assert begun.max() >= 2
    assert again.ends == once.ends
    assert again.costs == once.costs
    assert values(again) == values(once)
    assert len(again.ends) == 4


def test_a_file_of_another_version_is_named(tmp_path):
    journal = Journal(tmp_path, "key")
    np.savez(tmp_path / "0000.npz", notes=np.array(json.dumps({"key": "key", "taken": 1})))
    np.savez(tmp_path / "starts.npz", notes=np.array(json.dumps({"key": "key"})), x=np.zeros((2, 3)))

    with pytest.raises(ConfigError, match=r"0000.npz' is broken, .* another version \(KeyError: 'unknowns'\); remove"):
        journal.last()
    with pytest.raises(ConfigError, match=r"starts.npz' is broken, .* another version \(KeyError: 'costs'\); remove"):
        journal.starts()


def bits(folder):
    """The states of all iterations of a fit, as bytes."""
    found = []
    for file in sorted((folder / "iterations").glob("[0-9]*.npz")):
        arrays = read_arrays(file)
        found.append({name: array.tobytes() for name, array in arrays.items() if name != "notes"})
    return found


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["mujoco-native", "mujoco"])
@pytest.mark.parametrize("start", ["measured", "estimated"])
def test_one_two_and_four_processes_find_the_same_bits(whole, tmp_path, solver, start):
    folder, _ = whole
    changes = {"solver.type": solver, "fit.start": start, "fit.starts": 3, "fit.iterations": 4, "fit.window": 0.5}
    pippin_fit.fit(folder / "arm.toml", overrides=changes, out=tmp_path / "1")

    for processes in (2, 4):
        own = tmp_path / str(processes)
        found = pippin_fit.fit(folder / "arm.toml", overrides=changes, out=own, processes=processes)

        assert bits(own) == bits(tmp_path / "1")
        assert len(bits(own)) >= 2
        text = (own / "identified.toml").read_text(encoding="utf-8")
        assert text == (tmp_path / "1" / "identified.toml").read_text(encoding="utf-8")
        assert found.validation is not None


@pytest.mark.slow
def test_a_wrong_number_of_processes_is_refused(whole, tmp_path):
    folder, _ = whole

    with pytest.raises(ConfigError, match="expected 1 to 13, the candidates that are simulated at once, got 14"):
        pippin_fit.fit(folder / "arm.toml", out=tmp_path / "many", processes=14)
    arguments = ["fit", str(folder / "arm.toml"), "--out", str(tmp_path / "none"), "--processes", "none"]
    outcome = CliRunner().invoke(main, arguments)
    assert outcome.exit_code != 0
    assert "--processes: expected a whole number of at least 1, or auto, got 'none'" in outcome.output


@pytest.mark.slow
def test_another_order_of_logs_finds_the_same_values(whole, tmp_path):
    folder, _ = whole
    truth = {name: {".*shoulder": one, ".*elbow": other} for name, (one, other) in arms.TRUTH.items()}
    for seed in (1, 2):
        arms.log(tmp_path / f"{seed}.npz", arms.tables(tmp_path, **truth), seconds=1.5, noise=1e-4, seed=seed)
    files = [str(tmp_path / "1.npz"), str(tmp_path / "2.npz")]
    same = {"fit.tolerance": 1e-9}

    one = pippin_fit.fit(folder / "arm.toml", overrides={**same, "fit.logs": files}, out=tmp_path / "one")
    other = pippin_fit.fit(folder / "arm.toml", overrides={**same, "fit.logs": files[::-1]}, out=tmp_path / "other")

    np.testing.assert_allclose(values(other), values(one), rtol=1e-6)
