"""The hdf5 recorder, read by h5py."""

import h5py
import numpy as np
import pytest
from pippin_record.hdf5.file import Hdf5File


def test_h5py_reads_values_names_and_units(recorded):
    with h5py.File(recorded.folder / "hdf5.h5") as file:
        np.testing.assert_array_equal(file["joint_q"], recorded.joint_q)
        np.testing.assert_array_equal(file["time"], recorded.times)
        assert file["joint_q"].attrs["labels"][:2].tolist() == ["hinge_0", "hinge_1"]
        assert file["actuators/hinges/applied_effort"].attrs["units"].tolist() == ["N·m", "N·m"]
        assert file["sensors/imu/angular_velocity"].attrs["frame"] == "site"
        assert file["body_q"].attrs["components"].tolist() == ["px", "py", "pz", "qx", "qy", "qz", "qw"]
        assert file["time"].attrs["units"].tolist() == ["s"]


def test_the_attributes_tell_the_run(recorded):
    with h5py.File(recorded.folder / "hdf5.h5") as file:
        attributes = dict(file.attrs)

    assert (attributes["format"], attributes["quaternion_order"], attributes["up_axis"]) == (
        "pippin-recording",
        "xyzw",
        "z",
    )
    assert attributes["worlds"].tolist() == [0, 2, 3]
    assert (attributes["control_dt"], attributes["start_step"]) == (0.002, 0)
    assert 'type = "xpbd"' in attributes["config"]
    assert {"pippin", "newton", "warp"} <= set(attributes)


def test_compressed_values_are_the_same(simulate, tmp_path):
    recorders = {"plain": {"type": "hdf5"}, "small": {"type": "hdf5", "compression": "gzip"}}
    with simulate(tmp_path, recorders, worlds=1) as simulation:
        simulation.step(20)

    with h5py.File(tmp_path / "plain.h5") as plain, h5py.File(tmp_path / "small.h5") as small:
        assert small["joint_q"].compression == "gzip"
        assert plain["joint_q"].compression is None
        np.testing.assert_array_equal(plain["joint_q"], small["joint_q"])
    assert (tmp_path / "small.h5").stat().st_size < (tmp_path / "plain.h5").stat().st_size


@pytest.fixture
def cut(recorded, tmp_path):
    """A file whose last rows have no time yet, as after a kill between two flushes."""
    path = tmp_path / "cut.h5"
    path.write_bytes((recorded.folder / "hdf5.h5").read_bytes())
    with h5py.File(path, "r+") as file:
        file["time"].resize(25, axis=0)
    return path


def test_rows_without_a_time_are_left_out(recorded, cut):
    file = Hdf5File(cut)
    values = file.column("joint_q")

    assert values.shape == (25, 3, 9)
    np.testing.assert_array_equal(values[:], recorded.joint_q[:25])
    np.testing.assert_array_equal(values[-1], recorded.joint_q[24])
    np.testing.assert_array_equal(values[-3:, 1], recorded.joint_q[22:25, 1])
    np.testing.assert_array_equal(values[..., 0], recorded.joint_q[:25, :, 0])
    np.testing.assert_array_equal(values[[0, 2]], recorded.joint_q[[0, 2]])
    with pytest.raises(IndexError, match="row 25 of 25"):
        values[25]
    file.close()


def test_a_repaired_file_has_whole_rows_only(cut):
    assert Hdf5File.repair(cut) == (cut, 25)

    with h5py.File(cut) as file:
        assert {len(file[name]) for name in ("time", "joint_q", "episode", "contacts/point")} == {25}
