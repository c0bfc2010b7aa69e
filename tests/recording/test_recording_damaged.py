"""Files in which one bit is another: they are refused by name, or read as they were written."""

import attrs
import numpy as np
import pippin
import pytest
from pippin.recording import Recording
from pippin.recording.npz.file import spool_of
from pippin.recording.reading import recover
from pippin.state.checkpoint import Checkpoint


@pytest.fixture(scope="module")
def files(recorded, simulate, tmp_path_factory):
    """A file of each format by name: finished ones, what a kill leaves, and a checkpoint."""
    folder = tmp_path_factory.mktemp("files")
    found = {name: (recorded.folder / name).read_bytes() for name in ("npz.npz", "mcap.mcap")}
    recorders = {"log": {"type": "npz"}, "small": {"type": "hdf5", "chunk_bytes": 2_000}, "robot": {"type": "mcap"}}
    with simulate(folder, recorders, worlds=2) as simulation:
        for _ in range(4):
            simulation.step(5)
            for recorder in simulation.recorders.values():
                recorder.flush()
        found["log.npz.rows"] = spool_of(folder / "log.npz").read_bytes()
        found["killed.h5"], found["killed.mcap"] = (
            (folder / "small.h5").read_bytes(),
            (folder / "robot.mcap").read_bytes(),
        )
        simulation.save(folder / "state.checkpoint")
    found["small.h5"] = (folder / "small.h5").read_bytes()
    found["state.checkpoint"] = (folder / "state.checkpoint").read_bytes()
    return found


FORMATS = ("npz.npz", "mcap.mcap", "log.npz.rows", "killed.h5", "small.h5", "killed.mcap", "state.checkpoint")


def content(path):
    """Return all that is in a file, as text and bytes."""
    if path.suffix == ".checkpoint":
        found = attrs.asdict(Checkpoint.read(path), recurse=False)
        arrays = found.pop("arrays")
        return repr(found), {name: (each.dtype.str, each.shape, each.tobytes()) for name, each in arrays.items()}
    with Recording(path) as recording:
        series = {name: recording[name] for name in ("time", *recording)}
        values = {name: np.asarray(each.values[:]) for name, each in series.items()}
        texts = {name: (each.labels, each.units, each.frame, each.components) for name, each in series.items()}
        return recording.header.to_json(), texts, {name: (each.shape, each.tobytes()) for name, each in values.items()}


def flipped(files, name, folder, count):
    """Return how many of some flips are refused, and the places of those that change what is read."""
    data, path = files[name], folder / name
    path.write_bytes(data)
    right, refused, wrong = content(path), 0, []
    for bit in np.random.default_rng(5).integers(0, 8 * len(data), count):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            is_right = content(path) == right
        except pippin.ConfigError as error:
            refused += name in str(error)
        else:
            wrong += [] if is_right else [int(bit)]
    return refused, wrong


@pytest.mark.parametrize("name", FORMATS)
def test_a_flipped_bit_changes_no_value_without_a_word(files, name, tmp_path):
    refused, wrong = flipped(files, name, tmp_path, 200)

    assert not wrong
    assert refused > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_ten_thousand_flipped_bits_change_no_value_without_a_word(files, name, tmp_path):
    assert not flipped(files, name, tmp_path, 10_000)[1]


def is_first_part(found, right):
    """Return whether what is read are the first rows of what was written."""
    return found[:2] == right[:2] and all(
        shape[1:] == right[2][name][0][1:] and right[2][name][1].startswith(data)
        for name, (shape, data) in found[2].items()
    )


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_cut_anywhere_has_its_first_rows_or_is_refused(files, name, tmp_path):
    data, path = files[name], tmp_path / name
    path.write_bytes(data)
    right, refused, rows = content(path), 0, set()
    for size in np.random.default_rng(3).integers(0, len(data), 100).tolist():
        path.write_bytes(data[:size])
        try:
            found = content(path)
        except pippin.ConfigError as error:
            refused += name in str(error)
        else:
            assert is_first_part(found, right), size
            rows.add(found[2]["time"][0])

    assert refused > 2
    assert (len(rows) > 3) == (name in ("log.npz.rows", "killed.mcap"))


def sizes(data):
    """Return the places of the sizes of all records of an MCAP file that has no end, and whether they are chunks."""
    place = 8
    while place + 9 <= len(data):
        yield place + 1, data[place] == 6
        place += 9 + int.from_bytes(data[place + 1 : place + 9], "little")


def test_a_damaged_size_is_not_taken_for_the_end_of_an_mcap_file(files, tmp_path):
    """Unless it is the last one: then the rows before it are there."""
    data, path = files["killed.mcap"], tmp_path / "killed.mcap"
    found = list(sizes(data))
    last_chunk = max(place for place, is_chunk in found if is_chunk)
    for place in [place for place, _ in found if place <= last_chunk]:
        for bit in (10, 30, 50):
            changed = bytearray(data)
            changed[place + bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            with pytest.raises(pippin.ConfigError, match=r"killed\.mcap"):
                content(path)


@pytest.mark.parametrize("name", ["log.npz.rows", "killed.mcap"])
def test_recover_keeps_what_is_before_the_damage(files, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(files[name])
    with Recording(path) as recording:
        times = recording.time
    changed = bytearray(files[name])
    changed[changed.rfind(b"zstd") + 60 if name.endswith("mcap") else -200] ^= 1  # in the last chunk, or row
    path.write_bytes(changed)

    with pytest.raises(pippin.ConfigError, match=r"damaged \(.*`pippin recover`"), Recording(path) as recording:
        recording.time  # noqa: B018

    target, count = recover(path)
    with Recording(target) as recording:
        np.testing.assert_array_equal(recording.time, times[:count])
    assert 0 < count < len(times)
