"""Slurm jobs through submitit, on its own processes: there is no cluster here. They end in every way."""

import time

import pytest
from pippin.scaling import Ended, Job
from pippin.scaling.executors import make_executor

pytest.importorskip("submitit")

FUNCTIONS = """
import os
import signal
import time


def tell(number):
    print("number", number)


def fail():
    raise ValueError("no such gain")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def hang():
    time.sleep(3600.0)
"""


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Return a function that makes a job of one of the functions above."""
    (tmp_path / "functions_of_slurm.py").write_text(FUNCTIONS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def make(function, key=None, timeout=None, **arguments):
        folder = tmp_path / (key or function)
        folder.mkdir()
        name = f"functions_of_slurm:{function}"
        return Job(key=key or function, function=name, arguments=arguments, folder=folder, timeout=timeout)

    return make


def test_jobs_of_a_cluster_return_raise_die_hang_and_are_cancelled(job, tmp_path):
    executor = make_executor("slurm", ["cluster=local", f"folder='{tmp_path}/logs'"])
    jobs = [job("tell", number=7), job("fail"), job("die"), job("hang", timeout=1.0), job("hang", "cancelled")]
    found: dict[str, Ended] = {}

    for each in jobs:
        executor.submit(each)
    executor.cancel("cancelled")
    end = time.monotonic() + 120.0
    while len(found) < len(jobs) and time.monotonic() < end:
        found |= {ended.key: ended for ended in executor.wait(1.0)}
    executor.close()

    assert {key: ended.how for key, ended in found.items()} == {
        "tell": "returned",
        "fail": "raised",
        "die": "lost",
        "hang": "timed-out",
        "cancelled": "cancelled",
    }
    assert found["fail"].text == "ValueError: no such gain"
    assert found["hang"].text == "it took longer than 1 s"
    assert (jobs[0].folder / "log.txt").read_text() == "number 7\n"
