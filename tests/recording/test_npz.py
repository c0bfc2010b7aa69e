"""The npz recorder: arrays for `numpy.load`, and rows that survive a kill."""

import numpy as np
from pippin.recording.npz.file import Spool, SpoolWriter, assemble, spool_of


def test_numpy_loads_the_series_with_labels_and_units(recorded):
    with np.load(recorded.folder / "npz.npz") as file:
        np.testing.assert_array_equal(file["joint_q"], recorded.joint_q)
        np.testing.assert_array_equal(file["time"], recorded.times)
        assert file["labels/joint_q"][:2].tolist() == ["hinge_0", "hinge_1"]
        assert file["units/joint_q"][:3].tolist() == ["rad", "rad", "m"]
        assert file["units/time"].tolist() == ["s"]
        assert file["episode"][[19, 20]].tolist() == [[0, 0, 0], [0, 1, 0]]


def test_nothing_but_the_file_is_left(recorded):
    assert {path.name for path in recorded.folder.iterdir()} == {"npz.npz", "hdf5.h5", "mcap.mcap"}


def test_rows_that_are_cut_off_anywhere_are_read_up_to_the_last_whole_one(simulate, tmp_path):
    with simulate(tmp_path, {"log": {"type": "npz"}}, worlds=1) as simulation:
        simulation.step(5)
        recorder = simulation.recorders["log"]
        recorder.flush()
        data = spool_of(recorder.path).read_bytes()
    size = recorder.header.row_type.itemsize + 4  # and its checksum
    for cut, count in ((0, 5), (1, 4), (size, 4), (size + 1, 3), (5 * size, 0)):
        path = tmp_path / "cut.npz.rows"
        path.write_bytes(data[: len(data) - cut])

        assert Spool(path).count == count
        assemble(Spool(path), tmp_path / "cut.npz")
        with np.load(tmp_path / "cut.npz") as file:
            assert len(file["time"]) == len(file["joint_q"]) == count


def test_a_file_is_assembled_in_blocks(simulate, tmp_path, monkeypatch):
    with simulate(tmp_path, {"log": {"type": "npz"}}, worlds=1) as simulation:
        simulation.step()
        header = simulation.recorders["log"].header
    rows = np.zeros(1000, dtype=header.row_type)
    rows["time"] = np.arange(1000)
    writer = SpoolWriter(tmp_path / "long.npz.rows", header)
    writer.write(rows)
    writer.close()
    monkeypatch.setattr("pippin.recording.npz.file._BLOCK", 7 * rows.itemsize)  # a block of seven rows

    assemble(Spool(tmp_path / "long.npz.rows"), tmp_path / "long.npz")

    with np.load(tmp_path / "long.npz") as file:
        np.testing.assert_array_equal(file["time"], rows["time"])
