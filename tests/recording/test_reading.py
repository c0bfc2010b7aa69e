"""Runs read back, whatever the format."""

import json

import numpy as np
import pippin
import pytest
from pippin.recording import Recording, Series


def test_all_formats_have_the_same_numbers_to_the_bit(recorded):
    with pippin.Run(recorded.folder) as run:
        first, *others = (run.recordings[label] for label in ("npz", "hdf5", "mcap"))
        assert len(first) > 10
        for name in (*first, "time"):
            ours = first[name]
            for theirs in (other[name] for other in others):
                assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), name
                assert ours.values.tobytes() == theirs.values.tobytes(), name
                texts = ("labels", "units", "frame", "components")
                assert [getattr(ours, text) for text in texts] == [getattr(theirs, text) for text in texts], name


@pytest.mark.parametrize("label", ["npz", "hdf5", "mcap"])
def test_a_recording_is_read_by_name(recorded, label):
    with pippin.Run(recorded.folder) as run:
        recording = run.recordings[label]

        assert recording.worlds == (0, 2, 3)
        np.testing.assert_array_equal(recording.time, recorded.times)
        np.testing.assert_array_equal(recording["joint_q"], recorded.joint_q)
        np.testing.assert_array_equal(recording["joint_q"][-4:, 1], recorded.joint_q[-4:, 1])
        assert (recording.header.period, recording.header.control_dt) == (0.002, 0.002)
        with pytest.raises(pippin.ConfigError, match="no channel 'joint_p'; did you mean 'joint_q'"):
            recording["joint_p"]


def test_the_only_recording_of_a_folder_is_that_of_the_run(simulate, tmp_path):
    with simulate(tmp_path / "run", {"log": {"type": "npz", "period": 0.004, "worlds": "1:3"}}) as simulation:
        simulation.step(10)
    (tmp_path / "run/summary.json").write_text(json.dumps({"steps": 10}))

    with pippin.Run(tmp_path / "run") as run:
        assert run.worlds == (1, 2)
        np.testing.assert_allclose(run.time, [0.004, 0.008, 0.012, 0.016, 0.020])
        assert run["joint_q"].shape == (5, 2, 9)
        assert "joint_q" in run
        assert "joint_p" not in run
        assert list(run) == list(run.recordings["log"])
        assert (run.summary, run.config) == ({"steps": 10}, None)


@pytest.mark.parametrize("text", ["", "[" * 100_000])
def test_a_damaged_summary_is_refused(tmp_path, text):
    (tmp_path / "summary.json").write_text(text)

    with (
        pippin.Run(tmp_path) as run,
        pytest.raises(pippin.ConfigError, match=r"summary\.json: not the summary of a run"),
    ):
        _ = run.summary


def test_what_is_not_clear_is_asked_for(recorded, tmp_path):
    with pippin.Run(recorded.folder) as run:
        with pytest.raises(pippin.ConfigError, match=r"choose one of run\.recordings: hdf5, mcap, npz"):
            run["joint_q"]
        with pytest.raises(pippin.ConfigError, match="no channel 'joint_p'; did you mean 'joint_q'"):
            run["joint_p"]
        with pytest.raises(pippin.ConfigError, match=r"several recordings or none"):
            _ = run.time
    with pytest.raises(pippin.ConfigError, match="is not a folder"):
        pippin.Run(tmp_path / "nowhere")


def test_two_files_of_one_recorder_are_refused(recorded, tmp_path):
    for name in ("a.npz", "b.npz"):
        (tmp_path / name).write_bytes((recorded.folder / "npz.npz").read_bytes())

    with pytest.raises(pippin.ConfigError, match=r"a\.npz' and .*b\.npz' are both of the recorder 'npz'"):
        pippin.Run(tmp_path)


def test_files_that_are_not_recordings_hide_none(recorded, tmp_path):
    data = (recorded.folder / "npz.npz").read_bytes()
    (tmp_path / "good.npz").write_bytes(data)
    (tmp_path / "cut.npz").write_bytes(data[:-100])
    (tmp_path / "cut.h5").write_bytes((recorded.folder / "hdf5.h5").read_bytes()[:1000])
    np.savez(tmp_path / "checkpoint.npz", joint_q=np.zeros(3))

    with pippin.Run(tmp_path) as run:
        np.testing.assert_array_equal(run["joint_q"], recorded.joint_q)
        assert {path.name for path in run.unread} == {"cut.npz", "cut.h5", "checkpoint.npz"}
        with pytest.raises(pippin.ConfigError, match=r"no channel 'joint_p'(.|\n)*cut\.h5: not a recording"):
            run["joint_p"]


@pytest.mark.parametrize("name", ["other.npz", "other.h5", "other.mcap", "other.npz.rows"])
def test_files_of_others_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"something else, " * 10)

    with pytest.raises(pippin.ConfigError, match="a recording"):
        Recording(tmp_path / name)


def test_series_of_arrays_need_no_file():
    series = Series(values=np.arange(6.0).reshape(3, 2), units=("m",))

    assert (len(series), series.shape) == (3, (3, 2))
    np.testing.assert_array_equal(np.asarray(series, dtype=np.float32), [[0, 1], [2, 3], [4, 5]])
