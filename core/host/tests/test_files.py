"""Files that are written under another name before they get theirs."""

import os
import subprocess
import sys

from pippin.files import partial_path


def test_what_a_killed_process_left_beside_a_file_is_removed_and_nothing_else(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    left, fresh = tmp_path / f".run.npz.{gone.pid}", tmp_path / f".other.npz.{gone.pid}"
    running = tmp_path / f".run.npz.{os.getppid()}"
    for path in (left, fresh, running, tmp_path / ".run.npz.txt"):
        path.write_text("half of it")
        os.utime(path, (0.0, 0.0))

    found = partial_path(tmp_path / "run.npz")

    assert found == tmp_path / f".run.npz.{os.getpid()}"
    assert not left.exists()
    assert {path.name for path in tmp_path.iterdir()} == {fresh.name, running.name, ".run.npz.txt"}


def test_what_was_just_written_stays_as_its_process_may_run_on_another_machine(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    (tmp_path / f".run.npz.{gone.pid}").write_text("half of it")

    partial_path(tmp_path / "run.npz")

    assert (tmp_path / f".run.npz.{gone.pid}").exists()
