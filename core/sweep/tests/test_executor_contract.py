"""The check of executors: ours pass it, and one that breaks its promises does not."""

import pytest
from pippin_sweep import JobResult, call_job, executor_faults
from pippin_sweep.executor import make_executor


def test_the_local_executor_keeps_the_contract(tmp_path):
    assert executor_faults(lambda: make_executor("local", ["processes=2"]), tmp_path) == []


@pytest.mark.slow
def test_the_slurm_executor_keeps_the_contract_on_processes_of_submitit(tmp_path):
    pytest.importorskip("submitit")
    settings = ["cluster=local", f"folder='{tmp_path}/logs'"]

    assert executor_faults(lambda: make_executor("slurm", settings), tmp_path / "jobs") == []


class Careless:
    """Runs what returns and raises, forgets the reason and the log, and ends nothing else."""

    slots, keeps_processes = 1, True

    def __init__(self):
        self.ended = []

    def submit(self, job):
        if job.key == "returns":
            call_job(job)
        if job.key in ("returns", "raises"):
            self.ended.append(JobResult(key=job.key, status="returned" if job.key == "returns" else "raised"))

    def wait(self, timeout):
        ended, self.ended = self.ended, []
        return ended

    def cancel(self, key):
        return

    def close(self):
        return


def test_broken_promises_are_named(tmp_path):
    faults = executor_faults(Careless, tmp_path, timeout=0.1)

    assert faults == [
        "the job that dies: expected one end, 'lost', got []",
        "the job that hangs: expected one end, 'timed-out', got []",
        "the job that is-cancelled: expected one end, 'cancelled', got []",
        "the job that raises: expected a reason in one line unless it returned, got ''",
        "the job that raises: its reason '' does not name the exception",
        "the job that returns: what it printed is not in log.txt",
        "the job that returns: its process is left after close",
    ]
