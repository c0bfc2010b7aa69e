"""The driver of a sweep: the order in which it gives variants to an executor."""

import json
import resource
import signal
import sys
from pathlib import Path

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.measuring import measured_run
from pippin.studies import run_study
from pippin.studies.progress import RunProgress, progress_shown_by
from pippin_sweep import JobResult, call_job
from pippin_sweep.driver import Sweep, run_variants
from pippin_sweep.sweep_folder import SweepFolder, publish
from pippin_sweep.variant_run import run_variant
from pippin_sweep.variants import axis_of, variants_of

from tests.scene_files import ARM

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
def arm(tmp_path):
    """The configuration of an arm."""
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "arm.toml").write_text(SCENE)
    return tmp_path / "arm.toml"


@pytest.fixture
def variants(arm):
    return variants_of(arm, [], [axis_of("simulation.seed=0..2")], lambda config: 2)


@pytest.fixture
def recorded(arm):
    return variants_of(arm, ["recorders.log={type='npz'}"], [axis_of("simulation.seed=0,1")], lambda config: 2)


def test_one_variant_alone_compiles_for_the_others(variants, tmp_path):
    executor, folder = Here(), SweepFolder(tmp_path / "out", variants)

    found = run_study(Sweep(variants, folder, executor), None, out=folder)

    assert found.outcomes == {"ok": 3}
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == found.summary()
    assert executor.counts == [1, 2, 1]  # though there is room for three


class Stopped(Here):
    """Gets Ctrl-C when the first job is done."""

    def wait(self, timeout):
        if self.counts:
            signal.raise_signal(signal.SIGINT)
        return super().wait(timeout)


def test_ctrl_c_gives_the_rows_so_far_and_another_call_goes_on(variants, tmp_path):
    folder = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt) as caught:
        run_variants(Path("arm.toml"), variants, Stopped(), timeout=60.0, out=folder)

    assert caught.value.args[0].outcomes == {"ok": 1, "stopped": 2}
    assert (folder / "results.csv").read_text().count("stopped") == 2
    assert run_variants(Path("arm.toml"), variants, Here(), timeout=60.0, out=folder).outcomes == {"ok": 3}
    assert "<title>arm: sweep</title>" in (folder / "results.html").read_text()


class OnSpots(Here):
    """Loses the node of the first jobs, each with what it has written so far."""

    def __init__(self, losses):
        super().__init__()
        self.losses, self.folders = losses, []

    def wait(self, timeout):
        self.folders.append(self.jobs[0].folder)
        if not self.losses:
            return super().wait(timeout)
        self.losses -= 1
        job = self.jobs.pop(0)
        (job.folder / "started").touch()
        return [JobResult(key=job.key, status="node-lost", text="its node died")]


def test_a_variant_whose_node_is_lost_begins_again_in_a_folder_of_its_own(variants, tmp_path):
    executor, told = OnSpots(losses=2), Told()

    with progress_shown_by(told):
        found = run_variants(Path("arm.toml"), variants, executor, timeout=60.0, retries=2, out=tmp_path / "out")

    first = variants[0].id
    assert found.outcomes == {"ok": 3}
    assert [row["id"] for row in found.rows] == [each.id for each in variants]
    assert len(set(executor.folders)) == 5
    again = [line for line in told.lines if "begins again" in line]
    assert again == [f"{first}: its node died; it begins again, retry {count} of 2" for count in (1, 2)]
    assert {path.name for path in (tmp_path / "out/variants").iterdir()} == {each.id for each in variants}


def test_a_variant_whose_node_is_lost_too_often_waits_for_the_next_run(variants, tmp_path):
    options = {"timeout": 60.0, "out": tmp_path / "out"}

    found = run_variants(Path("arm.toml"), variants, OnSpots(losses=2), retries=1, **options)

    assert found.outcomes == {"ok": 2, "stopped": 1}
    assert found.rows[0]["reason"] == "its node died 2 times; the same command runs it again"
    assert run_variants(Path("arm.toml"), variants, Here(), **options).outcomes == {"ok": 3}


def test_a_wrong_number_of_retries_is_refused(variants, tmp_path):
    for retries in (-1, 0.5):
        with pytest.raises(pippin.ConfigError, match="retries: "):
            run_variants(Path("arm.toml"), variants, Here(), timeout=60.0, retries=retries, out=tmp_path / "out")


def test_a_note_of_a_recorder_is_in_the_table_with_the_final_folder(variants, tmp_path):
    folder = SweepFolder(tmp_path / "out", variants)
    hidden, final = folder.begin(variants[0]), folder.final(variants[0])
    notes = {"recorders:log": [f"{hidden}/log.npz: the disk is full"], "solver": ["slow"]}
    publish(hidden, final, {"outcome": "ok", "notes": notes})

    first, second, _ = Sweep(variants, folder, Here()).rows
    folder.close()

    assert first["notes"] == f"recorders:log: {final}/log.npz: the disk is full"
    assert second["notes"] is None


class Told(RunProgress):
    """Keeps the lines that stay."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def note(self, text, *, once=""):
        self.lines.append(text)


def test_a_variant_whose_recorder_had_no_room_is_incomplete_and_runs_again(recorded, tmp_path, monkeypatch):
    """Files may have half a megabyte, and recorders leave a whole one."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it would be cut, and the next process would stumble over it
    told, limits, results = Told(), resource.getrlimit(resource.RLIMIT_FSIZE), []

    with progress_shown_by(told):
        for limit in (500_000, limits[0]):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
            try:
                options = {"timeout": 60.0, "out": tmp_path / "out"}
                results.append(run_variants(Path("arm.toml"), recorded, Here(), **options))
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert [dict(result.outcomes) for result in results] == [{"incomplete": 2}, {"ok": 2}]
    assert "recordings lack rows, as a disk was full: make room, and run the same command again" in told.lines
    assert not any("finished already" in line for line in told.lines)
    for before, after in zip(*(result.rows for result in results), strict=True):
        folder = tmp_path / "out" / "variants" / after["id"]
        assert f"'{folder / 'log.npz'}' ends before t = " in before["reason"]
        assert after["reason"] is None
        with np.load(folder / "log.npz") as data:
            assert len(data["time"]) == 2
        assert f'href="variants/{after["id"]}/"' in (tmp_path / "out" / "results.html").read_text()


def test_a_note_in_the_kernel_cache_lets_other_variants_begin_at_once(arm, tmp_path, monkeypatch):
    def build(*arguments, folder):
        has_begun.append((folder / "begun").exists())
        return pippin.Simulation(*arguments, folder=folder)

    monkeypatch.setattr(measured_run, "Simulation", build)
    has_begun, kernels = list[bool](), f"of_a_test_{tmp_path.parent.name}"
    note = Path(wp.config.kernel_cache_dir, f"wp_{kernels}_{newton.__version__}")
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        run_variant(pippin.load(arm), tmp_path / name, 1, kernels)
    note.rmdir()

    assert has_begun == [False, True]


def test_a_solver_that_the_file_does_not_name_may_ignore_numbers_as_in_a_comparison(arm, tmp_path):
    (tmp_path / "arm.xml").write_text(ARM.replace('name="shoulder"', 'name="shoulder" armature="0.1"'))
    solvers = variants_of(arm, [], [axis_of("solver.type=featherstone,xpbd")], lambda config: 2)
    own = variants_of(arm, ["solver.type=xpbd"], [axis_of("simulation.seed=0")], lambda config: 2)

    sweeps = {"other": solvers, "own": own}
    results = [run_variants(arm, each, Here(), timeout=60.0, out=tmp_path / name) for name, each in sweeps.items()]
    rows = [row for result in results for row in result.rows]

    assert [(row["outcome"], row["ignores"]) for row in rows] == [
        ("ok", None),
        ("ok", "armature"),
        ("refused", None),
    ]
