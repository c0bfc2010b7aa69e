"""Checks after each save of a plugin's files."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner
from pippin import PluginError
from pippin.catalog import Catalog
from pippin.cli import main
from pippin_conformance.saves import _required, results_of_save, saves

PIPPIN = str(Path(sys.executable).with_name("pippin"))
PUSH = '''
import attrs
import pippin
import warp as wp


@attrs.frozen(kw_only=True)
class PushConfig:
    """A constant force on every body."""

    implementation = "Push"

    force: float = 1.0
    """Force along x [N]."""


class Push:
    """Pushes."""

    def __init__(self, config):
        self.force = config.force

    @pippin.hookimpl
    def before_substep(self, state):
        wp.launch(add_force, len(state.body_f), [self.force, state.body_f], device=state.body_f.device)


@wp.kernel
def add_force(force: float, forces: wp.array[wp.spatial_vector]):
    forces[wp.tid()] += wp.spatial_vector(force, 0.0, 0.0, 0.0, 0.0, 0.0)
'''
UNREAD = PUSH.replace("import attrs", "import attr s")
ENDS = PUSH.replace("        wp.launch", "        import os; os._exit(7)\n        wp.launch")


@pytest.fixture
def push(tmp_path):
    """Return the file of a plugin."""
    file = tmp_path / "push.py"
    file.write_text(PUSH)
    return file


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return the folder of a package that Python finds."""
    folder = tmp_path / "pushing"
    (folder / "deeper").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def entry_at(value):
    return attrs.evolve(Catalog.installed().find("actuator", "pd"), value=value)


@pytest.mark.parametrize("change", ["edit", "add", "remove"])
def test_a_save_is_a_change_of_any_file_of_the_package(package, change):
    (package / "data.toml").write_text("")
    (package / "__init__.pyc").write_text("")
    coming = saves(entry_at("pushing.push:Push"))
    next(coming)
    thread = threading.Thread(target=next, args=(coming,), daemon=True)
    thread.start()

    os.utime(package / "__init__.pyc", ns=(1, 1))  # Python writes it
    thread.join(0.5)
    assert thread.is_alive()
    {
        "edit": lambda: os.utime(package / "data.toml", ns=(1, 1)),
        "add": lambda: (package / "deeper" / "new.py").write_text(""),
        "remove": (package / "data.toml").unlink,
    }[change]()
    thread.join(5.0)

    assert not thread.is_alive()


def test_a_save_while_checks_run_is_not_lost(package):
    coming = saves(entry_at("pushing.push:Push"))
    next(coming)
    (package / "new.py").write_text("")
    thread = threading.Thread(target=next, args=(coming,), daemon=True)
    thread.start()
    thread.join(5.0)

    assert not thread.is_alive()


def test_a_plugin_without_files_is_refused(tmp_path):
    with pytest.raises(PluginError, match="--watch: its files are not found; install it editable, or leave out"):
        next(saves(entry_at(f"{tmp_path}/missing.py:Push")))


@pytest.mark.parametrize(
    ("name", "modules"), [("mujoco", {"mujoco_warp", "newton"}), ("mujoco-native", {"mujoco", "newton"})]
)
def test_what_a_plugin_requires_is_imported_once_and_the_plugin_at_each_save(name, modules):
    found = set(_required(Catalog.installed().find("solver", name)))

    assert modules <= found
    assert not any(module.startswith("pippin") for module in found)


def test_a_plugin_of_a_file_requires_nothing(push):
    assert _required(Catalog.installed().find("plugin", f"{push}:PushConfig")) == []


@pytest.mark.parametrize("option", [["--fast"], ["--check", "schema"], ["--list"], ["--fuzz", "2"], ["--json"]])
def test_other_choices_are_refused(option):
    result = CliRunner().invoke(main, ["check-plugin", "featherstone", "--watch", *option])

    assert (result.exit_code, "error: --watch: it chooses the checks" in result.stderr) == (2, True)


def test_no_check_begins_after_the_time_of_a_save():
    arguments, names = {"kind": "actuator", "name": "pd", "config": {"kp": 20.0}}, ["entry_point", "schema"]

    assert results_of_save(arguments, names, seconds=0.0) == []
    assert [result.outcome for result in results_of_save(arguments, names)] == ["passed", "passed"]


@pytest.mark.slow
def test_each_save_is_checked_and_a_plugin_that_ends_the_process_ends_no_watch(push, tmp_path):
    command = [PIPPIN, "check-plugin", f"{push}:PushConfig", "--kind", "plugin", "--watch"]
    told, errors = tmp_path / "told.txt", tmp_path / "errors.txt"

    def wait_for(text):
        begin = time.monotonic()
        while not told.read_text().endswith("\n") or text not in told.read_text().splitlines()[-1]:
            assert process.poll() is None, errors.read_text()
            assert time.monotonic() - begin < 90.0, told.read_text()
            time.sleep(0.1)

    with told.open("w") as out, errors.open("w") as err, subprocess.Popen(command, stdout=out, stderr=err) as process:
        try:
            wait_for(" s, 0 failed")
            push.write_text(UNREAD)
            wait_for("entry_point: plugin 'PushConfig' of ")
            push.write_text(ENDS)
            wait_for("failed: check-plugin: the process ended with exit code 7")
            push.write_text(PUSH)
            wait_for(" s, 0 failed")
        finally:
            process.send_signal(signal.SIGINT)

    assert (process.returncode, errors.read_text().splitlines()[-1]) == (130, "stopped")
    assert " 1 failed\n" in told.read_text()
