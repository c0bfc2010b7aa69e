"""Workers forked from a warm process: what they find there, and when they are fresh processes instead."""

import os
import subprocess
import sys

import pytest
from pippin.workers import WorkerProcess

FUNCTIONS = """
import gc
import os
import sys


def tell(connection):
    parent = os.getppid()
    print("for the caller's standard error")
    connection.send({
        "has_newton": "newton" in sys.modules,
        "parent": parent,
        "threads": len(os.listdir(f"/proc/{parent}/task")),
        "has_cuda": "libcuda" in open(f"/proc/{parent}/maps").read(),
        "collects": gc.isenabled(),
        "folder": os.getcwd(),
        "variables": {name: os.environ.get(name) for name in ("COLOUR", "OMP_NUM_THREADS", "PXR_WORK_THREAD_LIMIT")},
    })
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")


@pytest.fixture
def tell(tmp_path, monkeypatch):
    (tmp_path / "functions_of_a_fork.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("OMP_NUM_THREADS", "PIPPIN_WORKERS", "PXR_WORK_THREAD_LIMIT"):
        monkeypatch.delenv(name, raising=False)
    import functions_of_a_fork

    return functions_of_a_fork.tell


def facts(function, **options):
    with WorkerProcess("teller", function, preload=(), **options) as process:
        return process.receive(120.0)


def test_a_warm_process_has_newton_one_thread_and_no_cuda(tell):
    found = facts(tell)

    assert found["has_newton"]
    assert found["parent"] != os.getpid()
    assert (found["threads"], found["has_cuda"]) == (1, False)
    assert found["collects"]


def test_a_fork_has_folder_environment_and_standard_error_of_its_caller(tell, tmp_path, monkeypatch, capfd):
    facts(tell)
    monkeypatch.setenv("COLOUR", "green")
    capfd.readouterr()

    found = facts(tell, environment={"OMP_NUM_THREADS": "3"})

    assert found["folder"] == str(tmp_path)
    assert found["variables"] == {"COLOUR": "green", "OMP_NUM_THREADS": "3", "PXR_WORK_THREAD_LIMIT": None}
    assert capfd.readouterr().err == "for the caller's standard error\n"


@pytest.mark.parametrize(("name", "value"), [("PIPPIN_WORKERS", "spawn"), ("OMP_NUM_THREADS", "2")])
def test_the_user_may_ask_for_fresh_processes_or_threads(tell, monkeypatch, name, value):
    monkeypatch.setenv(name, value)

    found = facts(tell)

    assert (found["has_newton"], found["parent"]) == (False, os.getpid())


def test_the_environment_of_the_caller_stays_as_it_is(tell):
    before = dict(os.environ)

    facts(tell, environment={"OMP_NUM_THREADS": "3"})

    assert dict(os.environ) == before


STARTERS = {
    "threads": "import threading\n\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n",
    "warp": "import warp\n\nwarp.init()\n",
}

PROGRAM = """
import os
from functions_of_a_fork import tell
from pippin.workers import WorkerProcess

if __name__ == "__main__":
    with WorkerProcess("teller", tell, preload=["starter"]) as process:
        found = process.receive(120.0)
    assert (found["has_newton"], found["parent"]) == (False, os.getpid())
"""


@pytest.mark.slow
@pytest.mark.parametrize("started", STARTERS)
def test_a_module_that_starts_threads_or_warp_makes_workers_fresh_processes(tell, tmp_path, started):
    """In a program of its own, whose first worker names the module."""
    (tmp_path / "starter.py").write_text(STARTERS[started])
    (tmp_path / "program.py").write_text(PROGRAM)

    subprocess.run([sys.executable, "program.py"], check=True, cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.slow
def test_the_imports_of_the_warm_process_do_not_initialise_warp():
    """Warp loads the CUDA driver when it is initialised, so forks of the warm process may use a GPU."""
    look = "print('/warp.so' in open('/proc/self/maps').read())"
    program = f"import pippin.warm, warp; {look}; warp.config.log_level = warp.LOG_ERROR; warp.init(); {look}"

    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout

    assert printed == "False\nTrue\n"


INTERRUPTED = """
import os
import signal
import sys
import threading
from operator import is_not
from pathlib import Path

from pippin.workers import WorkerProcess


def interrupt():
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    while len(children.read_text().split()) < 2:  # one tracks resources of Python
        pass
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    threading.Thread(target=interrupt).start()
    try:
        WorkerProcess("comparer", is_not, bytes(100_000_000))
    except KeyboardInterrupt:
        sys.exit(130)
"""


def test_ctrl_c_in_the_middle_of_a_start_leaves_no_process_that_complains(tmp_path):
    (tmp_path / "interrupted.py").write_text(INTERRUPTED)
    done = subprocess.run([sys.executable, "interrupted.py"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 130
    assert not done.stderr
