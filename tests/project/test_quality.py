"""The checks of the source itself, so that the test command is the only command to remember."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent
TOPS = ("core", "solvers", "sensors", "actuators")


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "pyrefly check", "lint-imports"])
def test_source_passes(command):
    script, *arguments = command.split()

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [SCRIPTS / script, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


LINUX_ALONE = {
    "core/benchmark/src/pippin_benchmark/measuring.py": {"clock_gettime"},
    "core/engines/src/pippin_engines/engines.py": {"POLLIN", "eventfd", "memfd_create", "poll"},
    "core/engines/src/pippin_engines/shim.py": {
        *("F_GETFL", "F_SETFL", "F_SETOWN", "F_SETSIG", "O_ASYNC", "SIGKILL", "fcntl"),
    },
    "core/host/src/pippin/files.py": {"sysconf"},
    "core/host/src/pippin/recording/files.py": {
        *("LOCK_EX", "LOCK_NB", "RLIMIT_FSIZE", "RLIM_INFINITY", "flock", "getrlimit"),
    },
    "core/host/src/pippin/workers/start.py": {"BaseContext", "DupFd"},
    "core/robot/src/pippin_robot/bus.py": {"error"},
    "core/robot/src/pippin_robot/bus_program.py": {
        *("SCHED_FIFO", "ioctl", "openpty", "sched_getscheduler", "sched_param", "sched_setscheduler"),
        *("set_blocking", "setraw", "ttyname"),
    },
    "core/robot/src/pippin_robot/pace.py": {
        *("SCHED_FIFO", "sched_getparam", "sched_getscheduler", "sched_param", "sched_setscheduler"),
    },
    "core/robot/src/pippin_robot/stop_key.py": {"TCSADRAIN", "setcbreak", "tcgetattr", "tcsetattr"},
    "core/sweep/src/pippin_sweep/sweep_folder.py": {"LOCK_EX", "LOCK_NB", "flock"},
    "core/task/src/pippin_task/gym/local_worlds.py": {"recv_fds"},
    "core/task/src/pippin_task/gym/sharing.py": {"MSG_DONTWAIT", "sched_yield", "send_fds"},
    "core/view/src/pippin_view/video/viewer.py": {"BaseContext"},
}
"""Names that the type checker misses on Windows, by file; a name that is added has another way there, or is refused:
`docs/reference/platforms.md` has a row for it, and `tests/lanes/test_portable.py` a test."""


@pytest.mark.required
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_what_other_systems_lack_is_used_in_known_places_alone(system):
    command = [SCRIPTS / "pyrefly", "check", "--python-platform", system, "--min-severity", "error"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*command, "--output-format", "json"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )

    found: dict[str, set[str]] = {}
    for fault in json.loads(done.stdout)["errors"]:
        if fault["severity"] == "error":
            found.setdefault(fault["path"], set()).add(fault["description"].split("`")[1])
    if system == "win32":
        assert found == LINUX_ALONE
    assert found
    assert [(path, name) for path in found for name in found[path] - LINUX_ALONE.get(path, set())] == []


def choices_in(path: Path) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in {"Literal", "typing.Literal"}:
            members = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            yield tuple(ast.unparse(each) for each in members)


def test_equal_choices_are_stated_in_one_order():
    """Python keeps one object for equal choices: pages and errors would depend on what is imported first."""
    orders: dict[frozenset[str], set[tuple[str, ...]]] = {}
    for path in [each for top in TOPS for each in (ROOT / top).glob("*/src/**/*.py")]:
        for choices in choices_in(path):
            orders.setdefault(frozenset(choices), set()).add(choices)

    assert len(orders) > 50
    assert [sorted(found) for found in orders.values() if len(found) > 1] == []


def test_each_helper_that_a_benchmark_imports_is_there():
    """Nothing runs all benchmarks, so that a helper which moves would be missed."""
    imported = {
        (path.name, node.module, alias.name)
        for path in (ROOT / "tests" / "benchmarks").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in {"core", "tests"}
        for alias in node.names
    }

    assert imported
    for name, module, member in imported:
        place = ROOT.joinpath(*module.split("."))
        assert place.with_suffix(".py").exists() or (place / f"{member}.py").exists(), f"{name}: {module}.{member}"
