"""`pippin.run` from Python: the result, the folder, and how it ends."""

import json
import os
import signal

import pippin
import pytest
from pippin.studies.progress import RunProgress, progress_shown_by

SMALL = {"scene.worlds": 2, "simulation.device": "cpu"}


class StoppedRun(RunProgress):
    """Progress that presses Ctrl-C as soon as the run shows its first line."""

    def update(self, text):
        if text.startswith("t = "):
            os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def cartpole(examples):
    return examples / "cartpole.toml"


def test_the_result_is_the_summary_of_the_folder(cartpole, tmp_path):
    result = pippin.run(cartpole, SMALL, steps=12, out=tmp_path / "run")

    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert (result.worlds, result.steps, result.failure, result.folder) == (2, 12, None, tmp_path / "run")
    assert result.simulated_time == summary["simulated_time"] == pytest.approx(12 * 0.02)
    assert result.world_steps_per_second == summary["world_steps_per_second"] > 0.0
    assert {path.name for path in result.folder.iterdir()} == {
        "config.toml",
        "summary.json",
        "series.npz",
        "report.html",
    }
    with pippin.Run(result.folder) as run:
        assert run["joint_q"].shape == (12, 1, 3)


def test_a_configuration_runs_without_a_file(cartpole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = pippin.run(pippin.load(cartpole, SMALL), duration=0.2)

    assert result.steps == 10
    assert result.folder.parent.name == "runs"
    assert result.folder.name.startswith("run-")


def test_a_failure_is_raised_after_the_folder_is_written(cartpole, tmp_path):
    with pytest.raises(pippin.SimulationError, match="step"):
        pippin.run(cartpole, {**SMALL, "simulation.dt": 1e30}, steps=30, out=tmp_path / "run")

    assert json.loads((tmp_path / "run/summary.json").read_text())["failure"]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"steps": 0}, "^steps: expected at least 1, got 0$"),
        ({"duration": 0.013}, "^duration: expected a whole number of control steps"),
        ({"steps": 1, "record_worlds": 1, "overrides": {"recorders.log.type": "npz"}}, "^record_worlds: the file has"),
        ({"steps": 1, "processes": 0}, "^processes: expected a whole number of at least 1, or auto, got '0'"),
        ({"steps": 1, "processes": 2, "checkpoint": "late.npz"}, "^checkpoint: requires a single process"),
        ({"steps": 1, "checkpoint": "nowhere/late.npz"}, "^checkpoint: 'nowhere/late.npz' cannot be written"),
    ],
)
def test_a_wrong_argument_is_named(cartpole, tmp_path, options, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        pippin.run(cartpole, **options, out=tmp_path / "run")


def test_processes_share_the_worlds_and_give_the_same_numbers(cartpole, tmp_path):
    whole, split = (
        pippin.run(cartpole, SMALL, steps=5, record_worlds=2, out=tmp_path / str(count), processes=count)
        for count in (1, 2)
    )

    assert (split.worlds, split.steps, split.failure) == (2, 5, None)
    with pippin.Run(whole.folder) as ours, pippin.Run(split.folder) as theirs:
        assert ours["joint_q"].values.tobytes() == theirs["joint_q"].values.tobytes()


def test_ctrl_c_ends_the_run_between_two_steps(cartpole, tmp_path):
    progress = StoppedRun()

    with progress_shown_by(progress), pytest.raises(KeyboardInterrupt):
        pippin.run(cartpole, SMALL, steps=10**9, out=tmp_path / "run")

    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["failure"] == "stopped"
    assert 0 < summary["steps"] < 10**9
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
