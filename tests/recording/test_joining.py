"""Files of several processes that become one file."""

import resource

import numpy as np
import pippin
import pytest
from pippin.recording.header import WholeRun
from pippin.recording.joining import join
from pippin.recording.npz.config import NpzConfig
from pippin.recording.npz.file import NpzRecorder
from pippin_record.configs import Hdf5Config
from pippin_record.hdf5.recorder import Hdf5Recorder

SERIES = ("joint_q", "sensors/.*")


@pytest.fixture
def parts(simulate, tmp_path):
    """Files of worlds 0 and 1 and of 2 and 3, by format, as two processes write them."""
    found = {"npz": [], "hdf5": []}
    options = {"worlds": "0:2", "series": list(SERIES)}
    for first in (0, 2):
        with simulate(
            tmp_path / str(first), {kind: {"type": kind, **options} for kind in found}, worlds=2
        ) as simulation:
            for kind, recorder in simulation.recorders.items():
                recorder.whole_run = WholeRun(config=simulation.config, worlds=(2, 0, 1, 3), first_world=first)
                found[kind].append(recorder.path)
            simulation.step(3)
            simulation.reset([1])
            simulation.step(2 + first)
    return found


@pytest.mark.parametrize(
    ("kind", "recorder"), [("npz", NpzRecorder(NpzConfig())), ("hdf5", Hdf5Recorder(Hdf5Config()))], ids=["npz", "hdf5"]
)
def test_joined_files_are_one_recording_and_the_partial_files_are_gone(parts, tmp_path, kind, recorder):
    with pippin.recording.Recording(*parts[kind]) as whole:
        before = {name: whole[name].values.copy() for name in (*whole, "time")}

    target, note = join(recorder, parts[kind], tmp_path / f"deep/log{recorder.suffix}")

    assert note is None
    assert not any(path.exists() for path in parts[kind])
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    with pippin.recording.Recording(target) as joined:
        assert (joined.worlds, joined.header.whole, len(joined.time)) == ((2, 0, 1, 3), None, 5)
        assert [*joined, "time"] == list(before)
        for name, values in before.items():
            assert joined[name].values.tobytes() == values.tobytes(), name


def test_a_single_file_is_moved(parts, tmp_path):
    data = parts["npz"][0].read_bytes()

    target, note = join(NpzRecorder(NpzConfig()), parts["npz"][:1], tmp_path / "log.npz")

    assert (target.read_bytes(), note, parts["npz"][0].exists()) == (data, None, False)


def test_partial_files_stay_if_there_is_no_room_for_the_whole(parts, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limits[1]))
    try:
        target, note = join(Hdf5Recorder(Hdf5Config()), parts["hdf5"], tmp_path / "log.h5")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert target == parts["hdf5"][0]
    assert note is not None
    assert "as there is no room for" in note
    assert not list(tmp_path.glob("log*"))
    with pippin.recording.Recording(*parts["hdf5"]) as whole:
        assert np.isfinite(whole["joint_q"].values).all()
