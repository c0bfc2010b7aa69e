"""What all recorders share: the buffer, the disk, the errors, and what a third party ships."""

import resource
import subprocess
import sys
from pathlib import Path

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.recording import Recorder, RecorderConfig

FORMATS = ("npz", "hdf5", "mcap")


class Kept(Recorder):
    """Keeps its rows and the sizes of the pieces in memory: a recorder as others ship it."""

    suffix = ".kept"

    def open(self, path, header):
        self.pieces, self.is_finished = [], False

    def write(self, rows):
        self.pieces.append(rows.copy())

    def finish(self):
        self.is_finished = True


def keep(folder, **options):
    return Kept(RecorderConfig(path=str(folder / "log.kept"), **options))


def run(configure, chain, recorder, steps, **options):
    config = configure("featherstone", **options)
    with pippin.Simulation(config, {"log": recorder}, chain()) as simulation:
        simulation.step(steps)


def test_rows_are_written_when_the_buffer_is_full(configure, chain, tmp_path):
    recorder = keep(tmp_path, series=["joint_q"], chunk_bytes=64, flush_period=1e9)
    run(configure, chain, recorder, 10)

    assert recorder.header.row_type.itemsize == 16  # [bytes]: the time and two angles
    assert [len(piece) for piece in recorder.pieces] == [4, 4, 2]
    assert (recorder.row_count, recorder.is_finished) == (10, True)


def test_rows_are_written_when_the_time_is_over(configure, chain, tmp_path):
    recorder = keep(tmp_path, flush_period=0.0)
    run(configure, chain, recorder, 4)

    assert [len(piece) for piece in recorder.pieces] == [1] * 4
    np.testing.assert_allclose(np.concatenate(recorder.pieces)["time"], [0.002, 0.004, 0.006, 0.008])


def test_contacts_without_a_place_are_counted_and_noted(configure, tmp_path, caplog):
    box = newton.ModelBuilder(up_axis=newton.Axis.Z)
    body = box.add_body(xform=wp.transform((0.0, 0.0, 0.0999), wp.quat_identity()))
    box.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1)  # [m]
    recorder = keep(tmp_path, series=["contacts/.*"], max_contacts=2)
    with pippin.Simulation(configure("xpbd", scene={"ground": True}), {"log": recorder}, box) as simulation:
        simulation.step()

    rows = recorder.pieces[0]
    assert rows["contacts/count"].tolist() == [[4]]
    assert rows["contacts/point"].shape == (1, 1, 2, 3)
    assert "the first 2 contacts of a world, but there were up to 4; raise max_contacts" in recorder.notes[0]
    assert caplog.messages == [f"plugins:log: {recorder.notes[0]}"]  # who closes a simulation reads its notes no more


def test_a_simulation_without_a_step_leaves_no_file(simulate, tmp_path):
    with simulate(tmp_path / "run", {label: {"type": label} for label in FORMATS}, worlds=1):
        pass

    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"series": ["joint_p"]}, r"recorders\.log\.series: no channel matches 'joint_p'; did you mean 'joint_q'"),
        ({"worlds": "0:9"}, r"recorders\.log\.worlds: '0:9' reaches beyond the 1 worlds"),
        ({"path": "log.txt"}, r"recorders\.log\.path: '.*log.txt' must end with \.npz"),
        ({"period": 0.003}, r"recorders\.log\.period: 0.003 s is not a whole number"),
    ],
)
def test_wrong_options_are_refused_before_the_run(simulate, tmp_path, options, message):
    with pytest.raises(pippin.ConfigError, match=message):
        simulate(tmp_path, {"log": {"type": "npz", **options}}, worlds=1)


@pytest.mark.parametrize(
    "options",
    [{"on_full": "ignore"}, {"chunk_bytes": 0}, {"flush_period": -1.0}, {"series": []}, {"worlds": []}],
)
def test_values_out_of_range_are_refused(options):
    with pytest.raises(pippin.ConfigError, match=r"recorders\.log"):
        pippin.structure({"recorders": {"log": {"type": "npz", **options}}})


def test_a_relative_path_needs_a_folder(simulate):
    with pytest.raises(pippin.ConfigError, match=r"path: 'log\.npz' is relative.*pass folder="):
        simulate(None, {"log": {"type": "npz"}}, worlds=1)


@pytest.mark.parametrize(("name", "library"), [("hdf5", "h5py"), ("mcap", "foxglove")])
def test_a_missing_library_is_named_with_its_cure(simulate, tmp_path, monkeypatch, name, library):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"pippin_record.{name}.recorder", raising=False)

    cure = rf"(--group {name}|pip install 'pippin-record\[{name}\]')"
    with pytest.raises(pippin.PluginError, match=rf"could not be imported .*{library}.*{cure}"):
        simulate(tmp_path, {"log": {"type": name}}, worlds=1)


@pytest.fixture
def small_files():
    """A limit on the size of files [bytes] for this process, as a quota or a full disk would set it."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_300_000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("name", FORMATS)
def test_a_full_disk_ends_the_recording_and_not_the_run(simulate, tmp_path, small_files, name):
    with simulate(tmp_path, {"log": {"type": name, "chunk_bytes": 20_000, "worlds": "0:4"}}) as simulation:
        simulation.step(1000)
        recorder = simulation.recorders["log"]

    assert "ends before t =" in " ".join(recorder.notes)
    with pippin.Run(tmp_path) as run:
        assert len(run.time) == recorder.row_count
        assert 0 < recorder.row_count < 1000
        assert len(run["joint_q"].values) == recorder.row_count


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 4 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no disk of its own: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.slow
def test_recorders_share_a_disk_that_fills_up(simulate, small_disk):
    recorders = {name: {"type": name, "chunk_bytes": 50_000, "worlds": "0:4"} for name in FORMATS}
    with simulate(small_disk / "run", recorders) as simulation:
        simulation.step(1500)
        counts = {label: recorder.row_count for label, recorder in simulation.recorders.items()}
        notes = {label: " ".join(recorder.notes) for label, recorder in simulation.recorders.items()}

    assert all("ends before t =" in note for note in notes.values())
    assert max(counts.values()) < 1500
    with pippin.Run(small_disk / "run") as run:
        assert {label: len(recording.time) for label, recording in run.recordings.items()} == counts
        assert all(np.isfinite(recording["joint_q"].values).all() for recording in run.recordings.values())


def test_a_full_disk_ends_the_run_if_asked(simulate, tmp_path, small_files):
    options = {"type": "npz", "on_full": "stop-run", "chunk_bytes": 600_000, "flush_period": 0.0}
    with (
        pytest.raises(pippin.SimulationError, match=r"log\.npz' ends before t = 0.002 s, as only .* MB are left"),
        simulate(tmp_path, {"log": options}, worlds=1) as simulation,
    ):
        simulation.step(2)


def test_a_folder_that_is_a_file_is_refused(simulate, tmp_path):
    (tmp_path / "run").write_text("")

    with pytest.raises(pippin.ConfigError, match=r"recorders\.log\.path: .*is a file"):
        simulate(tmp_path / "run", {"log": {"type": "npz"}}, worlds=1)


def test_resets_are_counted_by_world_on_each_device(device, configure, chain, tmp_path):
    recorder = keep(tmp_path, worlds="0:3", series=["episode", "joint_q"])
    config = configure("featherstone", scene={"worlds": 3}, device=device)
    with pippin.Simulation(config, {"log": recorder}, chain()) as simulation:
        simulation.step()
        simulation.reset([1])
        simulation.reset([1, 2])
        simulation.step()
        last = simulation.state.joint_q.numpy().reshape(3, -1)

    rows = np.concatenate(recorder.pieces)
    assert rows["episode"].tolist() == [[0, 0, 0], [0, 2, 1]]
    np.testing.assert_array_equal(rows["joint_q"][-1], last)


@pytest.mark.slow
def test_a_killed_process_leaves_what_it_wrote(tmp_path):
    """One process forks three that record in all formats, and kills each at an odd moment."""
    script = tmp_path / "run.py"
    script.write_text(KILLED)
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, check=True)
    written = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("rows: ")]

    assert len(written) == 3
    for number, least in enumerate(written):
        with pippin.Run(tmp_path / str(number)) as run:
            assert set(run.recordings) == set(FORMATS)
            for recording in run.recordings.values():
                rows = recording["joint_q"].values
                assert len(recording.time) == len(rows) >= least
                np.testing.assert_allclose(np.diff(recording.time), 0.002, rtol=1e-9)
                assert np.abs(np.diff(rows[:, 0, 0])).min() > 0.0  # no row is missing, and none is empty


KILLED = """
import gc, os, signal, sys, time
from pathlib import Path
gc.disable()
import newton, pippin
from pippin_conformance import scenes

options = {"chunk_bytes": 5000, "flush_period": 0.002}
tables = {
    "simulation": {"device": "cpu", "dt": 0.002},
    "solver": {"type": "featherstone"},
    "recorders": {name: {"type": name, **options} for name in ("npz", "hdf5", "mcap")},
}

def record(folder, report):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_chain(builder, [0.3, 0.0], length=0.5)
    with pippin.Simulation(pippin.structure(tables), prototype=builder, folder=folder) as simulation:
        while True:
            simulation.step(7)
            for recorder in simulation.recorders.values():
                recorder.flush()
            os.write(report, b"%d\\n" % simulation.step_count)

for number, delay in enumerate((0.0, 0.013, 0.101)):  # [s]
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        record(Path(sys.argv[1]) / str(number), writing)
    os.close(writing)
    written = os.read(reading, 4096)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 4096):
        written += more
    print("rows:", written.split()[-1].decode(), flush=True)
"""


def resident_memory():
    """Return the memory of this process that is in use [bytes]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.first_cases(1)
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not report resident memory")
@pytest.mark.parametrize("name", FORMATS)
def test_memory_does_not_grow_with_the_rows(simulate, tmp_path, name):
    with simulate(tmp_path, {"log": {"type": name, "chunk_bytes": 50_000, "worlds": "0:4"}}) as simulation:
        simulation.step()
        recorder = simulation.recorders["log"]
        record(recorder, simulation, 500)
        before = resident_memory()
        record(recorder, simulation, 7000)

        grown = resident_memory() - before

    assert recorder.row_count * recorder.header.row_type.itemsize > 5e6  # [bytes], more than may be kept
    assert grown < 3e6  # [bytes]


def record(recorder, simulation, count):
    """Add rows of the same state."""
    for _ in range(count):
        recorder.after_step(simulation)
