"""The local executor: jobs in real processes, which return, raise, die, hang and are cancelled."""

import os
import time

import pytest
from pippin_sweep import Job, JobResult
from pippin_sweep.executor import make_executor

FUNCTIONS = """
import os
import signal
import time


def tell(number):
    print("process", os.getpid())


def fail():
    raise ValueError("no such\\n gain")


def leave():
    raise SystemExit(0)


def die():
    os.kill(os.getpid(), signal.SIGSEGV)


def hang():
    time.sleep(3600.0)
"""


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Return a function that makes a job of one of the functions above."""
    (tmp_path / "functions_of_jobs.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)

    def make(function, key=None, timeout=None, **arguments):
        folder = tmp_path / (key or function)
        folder.mkdir(exist_ok=True)
        name = f"functions_of_jobs:{function}"
        return Job(key=key or function, function=name, arguments=arguments, folder=folder, timeout=timeout)

    return make


@pytest.fixture
def executor():
    executor = make_executor("local", ["processes=1"])
    yield executor
    executor.close()


def ends(executor, count):
    """Return the ends of some jobs, by key."""
    found: dict[str, JobResult] = {}
    start = time.monotonic()
    while len(found) < count:
        found |= {ended.key: ended for ended in executor.wait(1.0)}
        assert time.monotonic() - start < 120.0
    return found


def process_of(job):
    return int((job.folder / "log.txt").read_text().split()[-1])


def test_one_process_runs_all_jobs_and_is_replaced_after_a_crash(executor, job):
    jobs = [job("tell", "first", number=1), job("fail"), job("tell", "second", number=2), job("die")]
    last = job("tell", "last", number=3)

    for each in [*jobs, last]:
        executor.submit(each)
    found = ends(executor, 5)

    assert [found[key].status for key in ("first", "fail", "second", "die", "last")] == [
        "returned",
        "raised",
        "returned",
        "lost",
        "returned",
    ]
    assert found["fail"].text == "ValueError: no such gain"
    assert found["die"].text == "the process ended with signal SIGSEGV"
    assert "Segmentation fault" in (jobs[3].folder / "log.txt").read_text()
    assert process_of(jobs[0]) == process_of(jobs[2]) != process_of(last)


def test_a_job_that_hangs_ends_at_its_limit_and_leaves_no_process(executor, job):
    executor.submit(job("tell", number=1))
    ends(executor, 1)
    pid = process_of(job("tell", number=1))

    executor.submit(job("hang", timeout=0.2))
    found = ends(executor, 1)

    assert (found["hang"].status, found["hang"].text) == ("timed-out", "it took longer than 0.2 s")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_job_that_exits_has_raised(executor, job):
    executor.submit(job("leave"))

    found = ends(executor, 1)["leave"]

    assert (found.status, found.text) == ("raised", "SystemExit: 0")


def test_a_cancelled_job_ends_whether_it_runs_or_waits(executor, job):
    executor.submit(job("hang", "running"))
    executor.submit(job("hang", "waiting"))

    executor.cancel("waiting")
    executor.cancel("running")
    executor.cancel("unknown")

    assert {key: ended.status for key, ended in ends(executor, 2).items()} == {
        "running": "cancelled",
        "waiting": "cancelled",
    }


@pytest.mark.parametrize("processes", ["0", "many", "true"])
def test_a_wrong_number_of_processes_is_refused(processes):
    from pippin.errors import ConfigError

    with pytest.raises(ConfigError, match=r"executor\.processes"):
        make_executor("local", [f"processes={processes}"])


def test_auto_takes_no_more_processes_than_cores():
    executor = make_executor("local")

    assert 1 <= executor.slots <= len(os.sched_getaffinity(0))
