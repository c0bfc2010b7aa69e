"""`pippin sweep` on a pendulum: stopped, killed and gone on with, and variants that end in every way."""

import csv
import json
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner
from pippin.cli import main

from tests.scene_files import ARM
from tests.sessions import COMMAND, is_gone, processes_of, start_command, wait_for, workers_of

SCENE = """
[simulation]
device = "cpu"
dt = 0.001

[scene]
[[scene.assets]]
path = "pendulum.xml"
joint_positions = { shoulder = 1.0 }

[solver]
type = "featherstone"
"""

VARIANTS = """simulation.seed,simulation.substeps,simulation.max_speed,scene.assets.0.joint_positions
0,1,1e4,{shoulder = 1.0}
1,1,0.01,{shoulder = 1.0}
2,1,1e4,{knee = 1.0}
3,1,1e4,{shoulder = 0.5}
4,100000,1e4,{shoulder = 1.0}
5,100000,1e4,{shoulder = 1.0}
"""
"""One that is right, one that is soon too fast, one without such a joint, one more, and two that take for ever."""

FIRST, FAST, WRONG, LAST, KILLED, LONG = range(6)


@pytest.fixture(scope="module")
def scene(write_files):
    return write_files({"pendulum.xml": ARM, "pendulum.toml": SCENE, "variants.csv": VARIANTS})


def words(scene, *more):
    """Return the words of the command."""
    files = [str(scene / "pendulum.toml"), "--variants", str(scene / "variants.csv"), "--out", str(scene / "out")]
    return ["sweep", *files, "--steps", "20", "--processes", "1", *more]


def start(scene, *more):
    return start_command(words(scene, *more), stderr=subprocess.STDOUT)


def rows_of(scene):
    with (scene / "out" / "results.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def times_of(scene):
    """Return when the summary of each finished variant was written [ns]."""
    return {path.parent.name: path.stat().st_mtime_ns for path in (scene / "out").glob("variants/*/summary.json")}


def wait_for_long_one(scene, process):
    """Wait until a driver runs its fifth variant. One that was killed before may have left a folder of its own."""
    begun = f"variants/.*-{process.pid}/log.txt"
    wait_for(lambda: len(times_of(scene)) == KILLED and [*(scene / "out").glob(begun)])


@pytest.fixture(scope="module")
def stopped(scene):
    """The command, stopped by Ctrl-C in its fifth variant: exit code, what it printed, whether it is gone, and rows."""
    process = start(scene)
    wait_for_long_one(scene, process)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60.0)
    return process.returncode, text, is_gone(process.pid), rows_of(scene)


@pytest.fixture(scope="module")
def killed(scene, stopped):
    """The same command, killed in its fifth variant: processes before, whether they ended, times of the summaries, and
    what the same command said in the meantime.
    """
    process = start(scene)
    wait_for_long_one(scene, process)
    second = CliRunner().invoke(main, words(scene))
    before = processes_of(process.pid)
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
    return before, is_gone(process.pid), times_of(scene), second


@pytest.fixture(scope="module")
def finished(scene, killed):
    """The same command with a limit of time, its worker killed in the fifth variant: exit code, text, and rows."""
    process = start(scene, "--timeout", "5", "--json")
    wait_for_long_one(scene, process)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    text, _ = process.communicate(timeout=120.0)
    return process.returncode, text, rows_of(scene)


@pytest.mark.slow
def test_ctrl_c_leaves_rows_that_say_so_and_no_process(stopped):
    code, text, is_gone, rows = stopped

    assert code == 130
    assert is_gone
    assert "stopped; resume with: pippin sweep" in text
    assert [row["outcome"] for row in rows] == ["ok", "diverged", "refused", "ok", "stopped", "waiting"]


@pytest.mark.slow
def test_no_process_outlives_a_driver_that_is_killed(killed):
    before, is_gone, _, _ = killed

    assert len(before) >= 2
    assert is_gone


@pytest.mark.slow
def test_a_second_driver_is_refused_while_the_first_one_runs(killed):
    _, _, _, second = killed

    assert second.exit_code == 2
    assert "is being run by another process; wait for its end" in second.stderr


@pytest.mark.slow
def test_a_full_disk_ends_the_sweep_with_its_cure_and_keeps_its_folder(scene, tmp_path):
    """The files of this process may have 1100 bytes: too few for the configuration of a variant, and for the table.

    Python would cut its files of bytecode, too, and the next process would stumble over them.
    """
    command = ["sweep", str(scene / "pendulum.toml"), "--over", "simulation.seed=0..29", "--out", str(tmp_path / "out")]
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1100, 1100)); {COMMAND}"

    result = subprocess.run(
        [sys.executable, "-B", "-c", limited, *command, "--processes", "1"], capture_output=True, text=True
    )

    assert result.returncode == 4, result.stderr
    (error,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert error.endswith("cannot be written ([Errno 27] File too large); make room, and run the same command again")
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"sweep.json", "sweep.lock", "variants"}
    json.loads((tmp_path / "out" / "sweep.json").read_text())


@pytest.mark.slow
def test_the_same_command_resumes_and_runs_nothing_twice(scene, killed, finished):
    _, _, before, _ = killed
    _, text, _ = finished

    after = times_of(scene)

    assert len(before) == 4
    assert {name: after[name] for name in before} == before
    assert "4 variants are finished already" in text
    assert [path.name for path in (scene / "out" / "variants").glob(".*")] == []


@pytest.mark.slow
def test_each_way_to_end_is_a_row_that_says_so(finished):
    code, text, rows = finished

    assert code == 4
    assert [row["outcome"] for row in rows] == ["ok", "diverged", "refused", "ok", "crashed", "timed-out"]
    assert rows[FIRST]["reason"] == ""
    assert " of world 0 " in rows[FAST]["reason"]
    assert "knee" in rows[WRONG]["reason"]
    assert "the process ended with signal SIGKILL; see " in rows[KILLED]["reason"]
    assert "it took longer than 5 s; see " in rows[LONG]["reason"]
    counts = {"ok": 2, "diverged": 1, "refused": 1, "timed-out": 1, "crashed": 1}
    assert json.loads(text.splitlines()[-1])["outcomes"] == counts


@pytest.mark.slow
def test_a_row_has_settings_and_figures(scene, finished):
    _, _, rows = finished
    last = rows[LAST]

    assert (last["simulation.seed"], last["simulation.max_speed"]) == ("3", "10000.0")
    assert last["scene.assets.0.joint_positions"] == "{shoulder = 0.5}"
    assert (last["steps"], last["worlds"], last["shared"]) == ("20", "1", "false")
    assert float(last["simulated_time"]) == pytest.approx(0.02)
    assert 0.0 <= float(last["energy_drift"]) < 0.1
    assert 1 <= int(rows[FAST]["first_diverged_step"]) <= 20
    summary = json.loads((scene / "out" / "variants" / last["id"] / "summary.json").read_text())
    assert summary["settings"]["simulation.seed"] == "3"
    assert summary["versions"].keys() >= {"newton", "warp-lang"}


@pytest.mark.slow
def test_another_sweep_is_refused_in_the_folder(scene, finished):
    result = CliRunner().invoke(main, words(scene, "--set", "scene.worlds=2"))

    assert result.exit_code == 2
    assert "holds another sweep; choose another folder, or remove this one" in result.stderr


def test_a_dry_run_shows_the_variants_and_makes_no_folder(scene, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(
        main, ["sweep", str(scene / "pendulum.toml"), "--over", "simulation.seed=0..2", "--steps", "5", "--dry-run"]
    )

    assert result.exit_code == 0
    assert len([line for line in result.stdout.splitlines() if line.split()[-1:] == ["5"]]) == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ([], "--over: nothing to sweep"),
        (["--over", "solver.kd=1,2"], "solver.kd"),
        (
            ["--over", "simulation.seed=0,1", "--timeout", "0"],
            "--timeout: expected a positive time in seconds, got 0.0",
        ),
        (["--over", "simulation.seed=0,1", "--executor-set", "cores=2"], "executor.cores"),
    ],
)
def test_a_wrong_command_is_refused_before_anything_starts(scene, tmp_path, options, fault):
    result = CliRunner().invoke(main, ["sweep", str(scene / "pendulum.toml"), "--out", str(tmp_path / "out"), *options])

    assert result.exit_code == 2
    assert fault in result.stderr
    assert not (tmp_path / "out").exists()


def test_an_unknown_executor_is_named_with_those_installed(scene):
    options = ["--over", "simulation.seed=0,1", "--executor", "loca"]

    result = CliRunner().invoke(main, ["sweep", str(scene / "pendulum.toml"), *options])

    assert result.exit_code == 3
    assert (
        "executor 'loca': not installed; installed executors: local (pippin-sweep), ray (pippin-sweep),"
        " slurm (pippin-sweep); did you" in result.stderr
    )
