"""Recordings of several processes, read as one."""

import attrs
import numpy as np
import pippin
import pytest
from pippin.recording import Column, Header, Recording
from pippin.recording.npz.file import SpoolWriter

WORLDS = (3, 0, 2, 1)
"""The worlds of the whole recording, in its order."""

VALUES = np.random.default_rng(0).random((6, 4, 2), dtype=np.float32)
"""What was recorded, shape [rows, worlds, coordinates]."""


def header(worlds, **changes):
    column = Column(name="joint_q", shape=(len(worlds), 2), dtype=np.dtype("<f4"), labels=("hip", "knee"))
    whole = Header(
        label="log",
        worlds=tuple(worlds),
        control_dt=0.01,
        period=0.01,
        start_step=0,
        columns=(column,),
        config="",
        versions={},
        whole=WORLDS,
    )
    return attrs.evolve(whole, **changes)


def write(folder, worlds, rows=6, **changes):
    """Write the part of a process, as if it were killed after some rows, and return its path."""
    folder.mkdir()
    path = folder / "log.npz.rows"
    own = header(worlds, **changes)
    table = np.zeros(rows, dtype=own.row_type)
    table["time"] = 0.01 * np.arange(1, rows + 1)
    table["joint_q"] = VALUES[:rows, [WORLDS.index(world) for world in worlds]]
    writer = SpoolWriter(path, own)
    writer.write(table)
    writer.close()
    return path


@pytest.fixture
def folder(tmp_path):
    """The folder of a run of two processes, of which the second one was killed a row earlier."""
    write(tmp_path / "0", [0, 1])
    write(tmp_path / "1", [3, 2], rows=5)
    return tmp_path


def test_a_run_has_one_recording_with_the_rows_that_all_parts_have(folder):
    with pippin.Run(folder) as run:
        log = run.recordings["log"]

        assert (log.worlds, log.header.whole) == (WORLDS, None)
        np.testing.assert_array_equal(log["joint_q"], VALUES[:5])
        np.testing.assert_allclose(run.time, 0.01 * np.arange(1, 6))
        assert run["joint_q"].labels == ("hip", "knee")


@pytest.mark.parametrize(
    "key",
    [0, -1, slice(1, 4), slice(-2, None), slice(None, None, -2), (slice(1, 3), 2), (..., 0), [0, 2], (-2, 1, 0)],
    ids=str,
)
def test_a_choice_of_rows_is_that_of_an_array(folder, key):
    with pippin.Run(folder) as run:
        np.testing.assert_array_equal(run["joint_q"][key], VALUES[:5][key])


def test_a_row_that_one_part_lacks_is_not_a_row(folder):
    with pippin.Run(folder) as run, pytest.raises(IndexError, match="5"):
        run["joint_q"][5]


def test_the_parts_that_are_left_are_read_and_the_header_names_the_whole(tmp_path):
    for index, worlds in enumerate(([0], [3])):
        write(tmp_path / str(index), worlds)

    with pippin.Run(tmp_path) as run:
        log = run.recordings["log"]
        assert (log.worlds, log.header.whole) == ((3, 0), WORLDS)
        np.testing.assert_array_equal(log["joint_q"], VALUES[:, :2])


@pytest.mark.parametrize(
    ("worlds", "changes", "fault"),
    [
        ([2, 1], {}, r"1/log\.npz\.rows: has world 1, and so has '.*0/log"),
        ([2], {"config": "other"}, "as the config of their headers differ"),
        ([2], {"period": 0.02}, "as the period of their headers differ"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(tmp_path, worlds, changes, fault):
    paths = [write(tmp_path / "0", [0, 1]), write(tmp_path / "1", worlds, **changes)]

    with pytest.raises(pippin.ConfigError, match=fault):
        Recording(*paths)
