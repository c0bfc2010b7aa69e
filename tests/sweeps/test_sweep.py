"""The driver of a sweep: the order in which it gives variants to an executor."""

from pathlib import Path

import pytest
from pippin.sweeps import JobResult, call_job
from pippin.sweeps.sweep import Sweep
from pippin.sweeps.sweep_folder import SweepFolder, publish
from pippin.sweeps.values import axis_of
from pippin.sweeps.variants import variants_of

ARM = '<mujoco><worldbody><body name="arm"><joint name="shoulder"/><geom size="0.1"/></body></worldbody></mujoco>'

SCENE = """
[simulation]
device = "cpu"

[scene]
[[scene.assets]]
path = "arm.xml"

[solver]
type = "featherstone"
"""


class Here:
    """Runs the jobs in this process, one each time that somebody waits; notes how many there were to choose from."""

    slots, keeps_processes = 3, False

    def __init__(self):
        self.jobs, self.counts = [], []

    def submit(self, job):
        self.jobs.append(job)

    def wait(self, timeout):
        self.counts.append(len(self.jobs))
        job = self.jobs.pop(0)
        call_job(job)
        return [JobResult(key=job.key, status="returned")]

    def cancel(self, key):
        self.jobs = [job for job in self.jobs if job.key != key]

    def close(self):
        self.jobs.clear()


@pytest.fixture
def variants(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "arm.toml").write_text(SCENE)
    seeds = axis_of("simulation.seed=0..2")
    return variants_of(Path(tmp_path, "arm.toml"), [], [seeds], lambda config: 2)


def test_one_variant_alone_compiles_for_the_others(variants, tmp_path):
    executor, folder = Here(), SweepFolder(tmp_path / "out", variants)

    sweep = Sweep(variants, folder, executor)
    for _ in sweep.run():
        pass
    folder.close()

    assert sweep.counts == {"ok": 3}
    assert executor.counts == [1, 2, 1]  # though there is room for three


def test_a_note_of_a_recorder_is_in_the_table_with_the_final_folder(variants, tmp_path):
    folder = SweepFolder(tmp_path / "out", variants)
    hidden, final = folder.begin(variants[0]), folder.final(variants[0])
    notes = {"recorders:log": [f"{hidden}/log.npz: the disk is full"], "solver": ["slow"]}
    publish(hidden, final, {"outcome": "ok", "notes": notes})

    first, second, _ = Sweep(variants, folder, Here()).rows
    folder.close()

    assert first["notes"] == f"recorders:log: {final}/log.npz: the disk is full"
    assert second["notes"] is None
