"""Recordings of killed processes, completed."""

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.recording.reading import recover


@pytest.fixture
def killed(simulate, recorded, tmp_path):
    """The folder of a run that is still under way: rows beside the npz file, and an MCAP file without its end."""
    with simulate(tmp_path, {"log": {"type": "npz"}}, worlds=1) as simulation:
        simulation.step(3)
        simulation.recorders["log"].flush()
        (tmp_path / "killed").mkdir()
        rows = tmp_path / "log.npz.rows"
        (tmp_path / "killed" / rows.name).write_bytes(rows.read_bytes())
    data = (recorded.folder / "mcap.mcap").read_bytes()
    (tmp_path / "killed/robot.mcap").write_bytes(data[: len(data) // 2])
    return tmp_path / "killed"


def test_rows_become_an_npz_file(killed):
    target, count = recover(killed / "log.npz")

    assert (target, count) == (killed / "log.npz", 3)
    assert not (killed / "log.npz.rows").exists()
    with np.load(target) as file:
        assert len(file["joint_q"]) == 3
    assert recover(target) == (target, 3)


def test_a_run_is_read_before_and_after_recovery(killed):
    with pippin.Run(killed) as run:
        before = {label: recording["joint_q"].values.copy() for label, recording in run.recordings.items()}

    result = CliRunner().invoke(main, ["recover", str(killed / "log.npz.rows"), str(killed / "robot.mcap")])

    assert result.exit_code == 0, result.output
    first, second, why = result.output.splitlines()
    with pippin.Run(killed) as run:
        times = {label: recording.time for label, recording in run.recordings.items()}
    ends = {label: f"{len(time)} rows, t = {time[0]:.6g} to {time[-1]:.6g} s" for label, time in times.items()}
    assert first == f"{killed / 'log.npz'}: {ends['log']}"
    assert second == f"{killed / 'robot.mcap'}: {ends['mcap']}"
    assert ends["log"].startswith("3 rows")
    assert "their ends differ: each recorder writes when its buffer is full" in why
    with pippin.Run(killed) as run:
        assert set(run.recordings) == set(before) == {"log", "mcap"}
        for label, recording in run.recordings.items():
            np.testing.assert_array_equal(recording["joint_q"].values, before[label])


@pytest.mark.parametrize(("kind", "name"), [("npz", "log.npz"), ("hdf5", "log.h5"), ("mcap", "log.mcap")])
def test_a_recording_that_continues_is_read_and_not_repaired(simulate, tmp_path, kind, name):
    with simulate(tmp_path, {"log": {"type": kind}}, worlds=1) as simulation:
        simulation.step(3)
        simulation.recorders["log"].flush()
        with pippin.Run(tmp_path) as run:
            assert len(run["joint_q"]) == 3

        with pytest.raises(pippin.ConfigError, match="a process still writes it"):
            recover(tmp_path / name)
        with (
            pytest.raises(pippin.ConfigError, match="a process still writes it"),
            simulate(tmp_path, {"log": {"type": kind}}, worlds=1) as other,
        ):
            other.step()


def test_a_complete_recording_stays_as_it_is(recorded, tmp_path):
    for name in ("npz.npz", "hdf5.h5"):
        path = tmp_path / name
        path.write_bytes((recorded.folder / name).read_bytes())

        assert recover(path) == (path, 30)
    with pippin.Run(tmp_path) as run:
        np.testing.assert_array_equal(run.recordings["hdf5"]["joint_q"], recorded.joint_q)


@pytest.mark.parametrize("name", ["missing.npz", "missing.mcap", "notes.txt"])
def test_what_is_not_a_recording_is_refused(tmp_path, name):
    result = CliRunner().invoke(main, ["recover", str(tmp_path / name)])

    assert result.exit_code == 2
    assert "not a recording" in result.output
