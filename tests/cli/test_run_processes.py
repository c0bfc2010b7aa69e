"""`pippin run --processes`: the folder of one run; stopped, killed, failed and refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.recording.reading import recover

from ..scene_files import ARM
from ..sessions import is_gone, start_command, wait_for, workers_of

pytestmark = pytest.mark.slow

SCENE = """
[simulation]
device = "cpu"
dt = 0.002
substeps = 1                # the worlds differ: no shard may choose

[scene]
worlds = 4
spacing = [1.0, 1.0, 0.0]
[[scene.assets]]
path = "arm.xml"
worlds = "0:3"
joint_positions = { shoulder = 0.5 }
[[scene.assets]]
path = "arm.xml"
worlds = [3]
joint_positions = { shoulder = 1.5 }

[solver]
type = "featherstone"

[actuators.motor]
type = "pd"
joints = ["shoulder"]
kp = 5.0

[sensors.felt]
type = "imu"
body = "arm"
source = "finite-difference"

[recorders.log]
type = "npz"
worlds = [2, 0, 1]
flush_period = 0.0

[recorders.sparse]
type = "hdf5"
worlds = "0:3"
period = 0.004

[recorders.robot]
type = "mcap"
worlds = "1:3"

[recorders.last]
type = "npz"
worlds = [3]
path = "deep/last.npz"
"""

SPLIT = ("--processes", "2")

TIMES = {"command", "seconds", "world_steps_per_second", "real_time_factor"}
"""Keys of a summary that differ from run to run."""


@pytest.fixture(scope="module")
def scene(write_files: Callable[[dict[str, str]], Path]) -> Path:
    return write_files({"arm.xml": ARM, "arm.toml": SCENE})


def words(scene: Path, out: str, *more: str) -> list[str]:
    """Return the words of the command."""
    return ["run", str(scene / "arm.toml"), "--out", str(scene / out), *more]


def summary_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "summary.json").read_text())


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def both(scene: Path) -> tuple[Path, Path, list[list[str]]]:
    """The folders of a run in one process and of the same in two, and the lines that each printed."""
    printed = []
    for out, options in (("one", ()), ("two", SPLIT)):
        result = CliRunner().invoke(main, words(scene, out, "--steps", "20", *options))
        assert result.exit_code == 0, result.output
        printed.append(result.stdout.splitlines())
    return scene / "one", scene / "two", printed


@pytest.mark.parametrize("label", ["log", "sparse", "robot", "last"])
def test_recordings_are_those_of_one_process_to_the_bit(both: tuple[Path, Path, Any], label: str) -> None:
    with pippin.Run(both[0]) as whole, pippin.Run(both[1]) as split:
        expected, found = whole.recordings[label], split.recordings[label]

        assert found.header.to_json() == expected.header.to_json()
        assert list(found) == list(expected)
        for name in (*expected, "time"):
            assert found[name].values.tobytes() == expected[name].values.tobytes(), name


def test_a_log_has_the_messages_of_one_process_in_their_order(both: tuple[Path, Path, Any]) -> None:
    from mcap.reader import make_reader

    logs = []
    for folder in both[:2]:
        with (folder / "robot.mcap").open("rb") as file:
            messages = make_reader(file, validate_crcs=True).iter_messages(log_time_order=False)
            logs.append(
                [
                    (schema.data, dict(channel.metadata), channel.topic, message.log_time, message.data)
                    for schema, channel, message in messages
                ]
            )

    assert len(logs[0]) > 100
    assert logs[1] == logs[0]


def test_the_folder_has_the_files_and_the_summary_of_one_process(both: tuple[Path, Path, Any]) -> None:
    whole, split = (summary_of(folder) for folder in both[:2])

    assert files_of(both[1]) == files_of(both[0])
    assert (both[1] / "config.toml").read_text() == (both[0] / "config.toml").read_text()
    assert list(split) == list(whole)
    assert split["seconds"].keys() == whole["seconds"].keys()
    assert split["notes"].pop("processes") == ["2, with 2 worlds each"]
    text = json.dumps({name: value for name, value in split.items() if name not in TIMES})
    assert json.loads(text.replace(str(both[1]), str(both[0]))) == {
        name: value for name, value in whole.items() if name not in TIMES
    }


def test_the_command_prints_what_one_process_prints(both: tuple[Path, Path, list[list[str]]]) -> None:
    whole, split = both[2]

    phases = [[line.split()[0] for line in lines if line.endswith(" s") and "," not in line] for lines in both[2]]
    assert phases[1] == phases[0] == ["read", "import", "build", "compile", "capture", "run", "write"]
    (note,) = [line for line in split if line.startswith("processes:")]
    assert note == "processes: 2, with 2 worlds each"
    assert split[split.index(note) + 1] in whole
    assert "4 worlds, 20 steps, 0.04 s simulated" in split
    assert split[-1] == f"run folder: {both[1]}"


def test_a_failure_ends_all_processes_at_its_step(scene: Path) -> None:
    options = ("--steps", "100000", "--set", "simulation.max_speed=3.0")

    result = CliRunner().invoke(main, words(scene, "failed", *SPLIT, *options))

    assert result.exit_code == 4
    (error,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert "shoulder' of world 3 moves at" in error
    summary = summary_of(scene / "failed")
    assert f"error: {summary['failure']}" == error
    assert 0 < summary["steps"] < 100000
    with pippin.Run(scene / "failed") as run:
        assert len(run.recordings["last"].time) == summary["steps"]
        assert len(run.recordings["log"].time) == summary["steps"]


def test_all_processes_start_again_with_larger_buffers_if_one_overflows(tmp_path: Path) -> None:
    """A rack of spheres lands in the second world only: its 20 contacts need 80 rows, and 64 were allocated."""
    spheres = "".join(f'<geom size="0.05" pos="{0.2 * (i % 5)} {0.2 * (i // 5)} 0"/>' for i in range(20))
    for name, height in (("high", 60), ("low", 6)):
        body = f'<body pos="0 0 {height}"><freejoint/>{spheres}</body>'
        (tmp_path / f"{name}.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    file = tmp_path / "rack.toml"
    file.write_text(
        '[simulation]\ndt = 0.002\ndevice = "cpu"\n[scene]\nground = true\nworlds = 2\n[solver]\ntype = "mujoco"\n'
        '[[scene.assets]]\npath = "high.xml"\nworlds = [0]\n[[scene.assets]]\npath = "low.xml"\nworlds = [1]\n'
        '[recorders.high]\ntype = "npz"\nworlds = [0]\n[recorders.low]\ntype = "npz"\nworlds = [1]\n'
    )

    result = CliRunner().invoke(main, ["run", str(file), "--out", str(tmp_path / "out"), "--duration", "1.2", *SPLIT])

    assert result.exit_code == 0, result.output
    summary = summary_of(tmp_path / "out")
    (note,) = summary["notes"]["start"]
    assert note.startswith("buffers were full by t = 1.")
    assert "solver.njmax = 128" in note
    assert pippin.load(tmp_path / "out/config.toml").solver.config.njmax == 128
    with pippin.Run(tmp_path / "out") as run:
        assert [len(run.recordings[label].time) for label in ("high", "low")] == [600, 600]


def start(scene: Path, out: str) -> subprocess.Popen[str]:
    """Start a long run in two processes."""
    return start_command(words(scene, out, "--steps", "10000000", "--json", *SPLIT))


def has_recorded(folder: Path) -> bool:
    """Return whether both processes have written some rows."""
    files = [folder / "shards" / shard / "log.npz.rows" for shard in "01"]
    return all(path.exists() and path.stat().st_size > 20_000 for path in files)


@pytest.fixture(scope="module")
def ended(scene: Path) -> dict[str, tuple[int, str, str, bool]]:
    """Two runs, stopped by Ctrl-C, and with a killed worker: code, output, errors, and if no process is left."""
    running = {name: start(scene, name) for name in ("stopped", "lost")}
    for name in running:
        wait_for(lambda name=name: has_recorded(scene / name))
    running["stopped"].send_signal(signal.SIGINT)
    os.kill(workers_of(running["lost"].pid)[1], signal.SIGKILL)
    texts = {name: process.communicate(timeout=120.0) for name, process in running.items()}
    return {name: (each.returncode, *texts[name], is_gone(each.pid)) for name, each in running.items()}


def test_ctrl_c_ends_all_at_one_step_and_keeps_what_was_recorded(scene: Path, ended: dict[str, Any]) -> None:
    code, out, errors, no_process_is_left = ended["stopped"]

    assert (code, errors.splitlines()[-1], no_process_is_left) == (130, "stopped", True)
    results = json.loads(out)
    assert results["failure"] == "stopped"
    assert files_of(scene / "stopped") == {
        *("config.toml", "summary.json", "report.html", "log.npz", "sparse.h5", "robot.mcap", "deep/last.npz")
    }
    with pippin.Run(scene / "stopped") as run:
        rows = {label: len(recording.time) for label, recording in run.recordings.items()}
    assert rows == {name: results["steps"] // (2 if name == "sparse" else 1) for name in rows}


def test_a_lost_process_is_named_and_the_others_complete_their_recordings(scene: Path, ended: dict[str, Any]) -> None:
    code, _, errors, no_process_is_left = ended["lost"]

    assert (code, no_process_is_left) == (4, True)
    (error,) = [line for line in errors.splitlines() if line.startswith("error:")]
    assert "shard 1 of 2 (worlds 2:4): the process ended with signal SIGKILL" in error
    assert f"what was recorded stays in '{scene / 'lost' / 'shards'}'" in error
    with np.load(scene / "lost/shards/0/log.npz") as file:
        own = len(file["joint_q"])
    with pippin.Run(scene / "lost") as run:
        rows, worlds = len(run.recordings["log"].time), run.recordings["log"].worlds
    assert rows == min(own, recover(scene / "lost/shards/1/log.npz")[1]) > 0
    assert worlds == (2, 0, 1)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (("--processes", "5"), "--processes: expected 1 to 4, the number of worlds, got 5"),
        (("--processes", "0"), "--processes: expected a whole number of at least 1, or auto, got '0'"),
        ((*SPLIT, "--checkpoint", "arm.npz"), "--checkpoint: requires a single process"),
        ((*SPLIT, "--trace-hooks"), "--trace-hooks: requires a single process"),
        (("--processes", "auto", "--view", "viser"), "there is viser; add --no-viewers, or leave --processes out"),
        ((*SPLIT, "--record-worlds", "2"), "--record-worlds: the file has recorders of its own"),
        ((*SPLIT, "--set", "recorders.log.worlds='0:5'"), "recorders.log.worlds: '0:5' reaches beyond the 4 worlds"),
        ((*SPLIT, "--set", "recorders.log.path='log.csv'"), "log.csv' must end with .npz, by which readers know"),
        ((*SPLIT, "--set", "recorders.log.path='deep/last.npz'"), "is the file of recorders.log too; choose another"),
    ],
)
def test_what_cannot_be_split_is_refused_before_a_process_starts(
    scene: Path, options: tuple[str, ...], fault: str
) -> None:
    result = CliRunner().invoke(main, words(scene, "refused", "--steps", "2", *options))

    assert result.exit_code == 2
    assert fault in result.stderr
    assert not (scene / "refused").exists()
