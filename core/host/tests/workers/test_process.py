"""A function in a process of its own: its messages, its errors, and how its death is told."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pippin.errors import ConfigError, SimulationError
from pippin.workers import WorkerProcess

FUNCTIONS = """
import os
import sys

from pippin.errors import ConfigError

HAS_NEWTON = "newton" in sys.modules


def tell(connection):
    has_gradients = sys.modules["warp"].config.enable_backward if HAS_NEWTON else None
    connection.send((HAS_NEWTON, has_gradients))


def count(connection, start):
    print("not for the caller's standard output")
    connection.send((start, os.getpid(), "pytest" in sys.modules))
    connection.send(start + connection.recv())


def refuse(connection):
    raise ConfigError("scene.worlds: 0; use at least 1")


def die(connection):
    os.abort()


def leave(connection):
    sys.exit(3)


def hang(connection):
    connection.recv()
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    (tmp_path / "functions_of_a_process.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    import functions_of_a_process

    return functions_of_a_process


def test_messages_go_both_ways_and_nothing_is_shared(functions, capfd):
    with WorkerProcess("counter", functions.count, 40) as process:
        start, _, has_pytest = process.receive()
        process.send(2)

        assert (start, has_pytest) == (40, False)
        assert process.receive() == 42

    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("requires_grad", [None, False, True])
def test_newton_may_be_imported_before_the_module_of_the_function(functions, requires_grad):
    with WorkerProcess("teller", functions.tell, requires_grad=requires_grad) as process:
        assert process.receive() == (requires_grad is not None, requires_grad)


@pytest.mark.parametrize(
    ("function", "kind", "text"),
    [
        ("refuse", ConfigError, "scene.worlds: 0; use at least 1"),
        ("die", SimulationError, "solver: the process ended with signal SIGABRT; see what it printed"),
        ("leave", SimulationError, "solver: the process ended with exit code 3; see what it printed"),
        ("hang", SimulationError, "solver: no answer within 1.5 s; give it more time, or less to do"),
    ],
)
def test_a_process_that_refuses_dies_leaves_or_hangs_is_an_error_that_says_so(functions, function, kind, text):
    with WorkerProcess("solver", getattr(functions, function)) as process, pytest.raises(kind) as caught:
        process.receive(timeout=1.5 if function == "hang" else None)

    assert str(caught.value) == text


def test_an_error_has_the_traceback_of_its_process_as_its_cause(functions):
    with WorkerProcess("solver", functions.refuse) as process, pytest.raises(ConfigError) as caught:
        process.receive()

    assert "in the process of solver\nTraceback" in str(caught.value.__cause__)
    assert "functions_of_a_process.py" in str(caught.value.__cause__)


def test_leaving_the_block_ends_a_process_that_waits(functions):
    with WorkerProcess("counter", functions.count, 0) as process:
        _, pid, _ = process.receive()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


CALLER = """
import time

from functions_of_a_process import count
from pippin.workers import WorkerProcess

with WorkerProcess("counter", count, 0) as process:
    print(process.receive()[1], flush=True)
    time.sleep(600.0)
"""


def test_a_process_ends_if_its_caller_is_killed(functions):
    environment = os.environ | {"PYTHONPATH": str(Path(functions.__file__).parent)}
    with subprocess.Popen([sys.executable, "-c", CALLER], stdout=subprocess.PIPE, text=True, env=environment) as caller:
        pid = int(caller.stdout.readline())
        caller.kill()

    end = time.monotonic() + 60.0
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_running(pid)


def is_running(pid):
    """Return whether there is such a process that is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
