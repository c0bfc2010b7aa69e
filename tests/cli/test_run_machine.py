"""Faults of the machine: one sentence with a cure, no traceback, and what was computed stays."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pippin
import pytest
import warp  # noqa: F401  its errors name its cache
from click.testing import CliRunner
from pippin.cli import main
from pippin.cli._machine import machine_fault
from pippin.console import new_table, print_table
from pippin.console.progress import ConsoleProgress
from pippin.recording import Recorder
from pippin.studies import RunFolder
from rich.console import Console

from ..scene_files import ARM


def of_warp():
    """Return the error of a home that cannot be written, from a file of Warp."""
    place = {}
    exec(compile("def start(): open('/proc/none/warp', 'w')", "/lib/warp/_src/build.py", "exec"), place)
    try:
        place["start"]()
    except OSError as error:
        return PermissionError(errno.EACCES, "Permission denied", "/nonexistent").with_traceback(error.__traceback__)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "a/b.csv"), "'a/b.csv': No space left .*; make room"),
        (MemoryError("Unable to allocate 214 MiB"), r"memory is full \(Unable to allocate 214 MiB\); simulate fewer"),
        (RuntimeError("Failed to allocate 123 bytes on device 'cpu'"), "the memory is full .*; simulate fewer worlds"),
        (Exception("Failed to load CPU module 'pippin.a' (x)"), r"kernel is damaged .*; remove .*wp_pippin\.a\*, and"),
        (RuntimeError("[enforce] PytorchStreamWriter failed writing file\nat"), "disk is full .*; make room"),
        (of_warp(), r"Warp cannot write its kernels to '/nonexistent' .*; set WARP_CACHE_PATH to a folder"),
        (PermissionError(errno.EACCES, "Permission denied", "x.toml"), "'x.toml': Permission denied; see to the file"),
    ],
)
def test_a_fault_of_the_machine_is_a_sentence_with_a_cure(error, text):
    assert re.search(text, str(machine_fault(error)))


@pytest.mark.parametrize("error", [ValueError("x"), RuntimeError("y"), KeyError("z"), ConnectionResetError(1, "q")])
def test_other_errors_stay_what_they_are(error):
    assert machine_fault(error) is None


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "arm.toml").write_text(
        '[simulation]\ndevice = "cpu"\n[[scene.assets]]\npath = "arm.xml"\n[solver]\ntype = "featherstone"\n'
    )
    return tmp_path / "arm.toml"


def run(file, *words):
    return CliRunner().invoke(main, ["run", str(file), "--steps", "20", "--out", str(file.parent / "out"), *words])


def test_a_run_that_recorded_nothing_is_no_success(arm, monkeypatch):
    monkeypatch.setattr(Recorder, "free_bytes", staticmethod(lambda path: 0))

    result = run(arm)

    assert result.exit_code == 4
    assert "error: nothing was recorded: " in result.output
    assert "free some space, or record less" in result.output
    with pippin.Run(arm.parent / "out") as found:
        assert found.summary["failure"].startswith("nothing was recorded")


def test_a_checkpoint_without_room_leaves_the_run_folder(arm, monkeypatch):
    def refuse(self, path):
        raise pippin.SimulationError(f"save: {path}: cannot be written: No space left on device; name a file")

    monkeypatch.setattr(pippin.Simulation, "save", refuse)

    result = run(arm, "--checkpoint", str(arm.parent / "end.checkpoint"))

    assert result.exit_code == 4
    assert "cannot be written: No space left" in result.output
    assert {"config.toml", "summary.json", "report.html"} <= {each.name for each in (arm.parent / "out").iterdir()}


def test_a_folder_whose_name_is_not_utf_8_gets_all_files(arm):
    out = arm.parent / os.fsdecode(b"lat\xe9n")
    result = CliRunner().invoke(main, ["run", str(arm), "--steps", "3", "--out", str(out), "--json"])

    assert result.exit_code == 0, result.output
    assert "lat?n" in result.stdout
    with pippin.Run(out) as found:
        assert found.summary["steps"] == 3
        assert found.config is not None
        assert len(found.time) == 3


def test_a_file_of_a_run_folder_is_whole_or_as_it_was(tmp_path):
    folder = RunFolder(tmp_path, continues=True)
    folder.write_text("report.html", "first")

    def fail():
        with folder.written("report.html") as part:
            part.write_text("sec")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(pippin.ConfigError, match="No space left"):
        fail()

    assert [each.read_text() for each in tmp_path.iterdir()] == ["first"]


@pytest.mark.slow
@pytest.mark.parametrize("what", ["full", "closed"])
def test_output_that_nobody_reads_ends_no_run(arm, what):
    read, write = os.pipe()
    os.close(read)
    target = os.open("/dev/full", os.O_WRONLY) if what == "full" else write
    words = ["run", str(arm), "--steps", "20", "--out", str(arm.parent / "out")]
    code = "import pippin_start; pippin_start.main()"

    done = subprocess.run([sys.executable, "-c", code, *words], stdout=target, stderr=subprocess.PIPE, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    with pippin.Run(arm.parent / "out") as found:
        assert np.isfinite(found["joint_q"].values).all()


def test_a_result_that_cannot_be_written_is_an_error(arm):
    code = "import pippin_start; pippin_start.main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, "show", str(arm)], stdout=full, stderr=subprocess.PIPE, text=True
        )

    assert done.returncode == 4
    assert done.stderr.startswith("error: a file or the output: No space left on device; make room")
    assert done.stderr.count("\n") == 1


def test_names_command_no_terminal(capsys):
    name = "joint\x1b[2J\x9b1m\u202e[/red]"
    progress = ConsoleProgress(Console(force_terminal=False))
    progress.note(f"note {name}")
    table = new_table("name")
    table.add_row(name.replace("[/red]", ""))
    print_table(table, [f"line {name}"])
    result = CliRunner().invoke(main, ["run", "a\x1b[2J.toml"])

    text = capsys.readouterr().out + result.output
    assert "note joint [2J 1m [/red]" in text
    assert not {"\x1b", "\x9b", "\u202e"} & set(text)
