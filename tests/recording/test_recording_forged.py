"""Recordings that are damaged, or made to do harm: each is refused by its name, before memory is taken or read."""

import io
import json
import struct
import zipfile
import zlib

import h5py
import numpy as np
import pippin
import pytest
from pippin.recording import Recording

MAGIC = b"PIPPINROWS2\n"


@pytest.fixture(scope="module")
def npz(recorded):
    """The members of a whole recording, and the values of its header."""
    with zipfile.ZipFile(recorded.folder / "npz.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return members, json.loads(str(np.load(io.BytesIO(members["header.npy"]))))


def written(folder, members, compression=zipfile.ZIP_STORED, **changes):
    path = folder / "forged.npz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in {**members, **changes}.items():
            archive.writestr(name, data)
    return path


def array(shape, dtype, data=b""):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": shape})
    return header.getvalue() + data


def read(path):
    """Read all channels."""
    with Recording(path) as recording:
        return [np.asarray(recording[name].values[:]) for name in ("time", *recording)]


@pytest.mark.parametrize(
    ("member", "fault"),
    [
        (array((4,), "|O", b"\x01" * 32), "is of type object"),
        (array((2**40, 3, 3), "<f4"), "is of type float32 and shape"),
        (array((2**40, 3, 9), "<f4"), "mmap length is greater than file size"),
        (b"no array", "magic string is not correct"),
    ],
)
def test_a_forged_array_is_refused(npz, tmp_path, member, fault):
    """NumPy would follow the bytes of an array of objects as addresses."""
    path = written(tmp_path, npz[0], **{"joint_q.npy": member})

    with pytest.raises(pippin.ConfigError, match=rf"forged\.npz: not a recording of Pippin \('joint_q': .*{fault}"):
        read(path)


def test_a_packed_array_is_refused(npz, tmp_path):
    """A small file would unpack to one that fills the memory."""
    path = written(tmp_path, npz[0], zipfile.ZIP_DEFLATED)

    with pytest.raises(pippin.ConfigError, match="is packed, which no recorder does"):
        read(path)


def change_column(**changes):
    return lambda header: header["columns"][0].update(changes)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (change_column(dtype="|O"), "is of type object, and not of numbers"),
        (change_column(dtype="<f4,<f4"), "and not of numbers"),
        (change_column(dtype="nonsense"), "nonsense"),
        (change_column(shape=[2**40, 2**40]), "not a recording of Pippin"),
        (change_column(shape=[-1]), r"has shape \(-1,\)"),
        (change_column(other=1), "unexpected keyword argument"),
        (lambda header: header.update(worlds=["a"]), "cannot be interpreted as an integer"),
        (lambda header: header.update(worlds=3), "not iterable"),
        (lambda header: header.pop("period"), "period"),
        (lambda header: header.update(format_version="x"), "not supported between"),
        (lambda header: header.update(format_version=99), "version 99 of the format"),
    ],
)
@pytest.mark.parametrize("kind", ["npz", "rows"])
def test_a_forged_header_is_refused(npz, tmp_path, change, fault, kind):
    members, header = npz[0], json.loads(json.dumps(npz[1]))
    change(header)
    text = json.dumps(header)
    if kind == "npz":
        data = io.BytesIO()
        np.save(data, np.array(text))
        path = written(tmp_path, members, **{"header.npy": data.getvalue()})
    else:
        path = tmp_path / "forged.npz.rows"
        path.write_bytes(
            MAGIC + struct.pack("<QI", len(text), zlib.crc32(text.encode())) + text.encode() + b"\0" * 10_000
        )

    with pytest.raises(pippin.ConfigError, match=rf"forged\.npz.*{fault}"):
        read(path)


@pytest.mark.parametrize("text", [b"[" * 100_000, b"{}", b"[]", b"\xff"])
def test_what_is_no_header_is_refused(tmp_path, text):
    path = tmp_path / "forged.rows"
    for length in (len(text), 2**62):
        path.write_bytes(MAGIC + struct.pack("<QI", length, zlib.crc32(text)) + text)

        with pytest.raises(pippin.ConfigError, match=r"forged\.rows: not a recording of Pippin"):
            read(path)


def test_a_header_without_an_end_takes_no_memory(tmp_path):
    """An HDF5 file of two kilobytes may state a dataset of a terabyte."""
    with h5py.File(tmp_path / "forged.h5", "w") as file:
        file.create_dataset("header", shape=(2**40,), dtype="u1", chunks=(2**20,))

    with pytest.raises(pippin.ConfigError, match=r"forged\.h5: not a recording of Pippin \(its header is of type"):
        read(tmp_path / "forged.h5")


def test_a_header_whose_text_hdf5_keeps_elsewhere_is_refused(tmp_path):
    """One bit of its heap can let HDF5 search it without an end."""
    with h5py.File(tmp_path / "forged.h5", "w") as file:
        file.create_dataset("header", data="{}", dtype=h5py.string_dtype())

    with pytest.raises(pippin.ConfigError, match=r"forged\.h5: not a recording .* header is of type object"):
        read(tmp_path / "forged.h5")


@pytest.mark.parametrize("name", ["npz.npz", "hdf5.h5", "mcap.mcap"])
def test_flipped_bits_and_cuts_raise_no_other_error(recorded, tmp_path, name):
    whole, generator = (recorded.folder / name).read_bytes(), np.random.default_rng(0)
    path, refused = tmp_path / name, 0
    for turn in range(60):
        data = bytearray(whole)
        for place in generator.integers(len(data), size=3):
            data[place] ^= 1 << int(generator.integers(8))
        path.write_bytes(data[: int(generator.integers(len(data)))] if turn % 4 == 0 else data)
        try:
            read(path)
        except pippin.ConfigError:
            refused += 1

    assert refused > 5
