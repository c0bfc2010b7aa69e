"""Arrays from files of others: numbers come back as they are, and files made to do harm are refused."""

import io
import pickle
import zipfile

import numpy as np
import pytest
from pippin.array_files import read_array, read_arrays


def header(shape, dtype="<f4"):
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, {"descr": dtype, "fortran_order": False, "shape": shape})
    return text.getvalue()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back_as_they_were(tmp_path, save):
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.asfortranarray(np.eye(3, dtype="i4")), "c": np.zeros((0, 2))}
    arrays["flat"] = np.zeros(2**20)  # eight million bytes of zeros, in a file of some thousand
    save(tmp_path / "some.npz", **arrays)
    np.save(tmp_path / "one.npy", arrays["a"])

    found = read_arrays(tmp_path / "some.npz")

    assert found.keys() == arrays.keys()
    for name, expected in arrays.items():
        assert found[name].dtype == expected.dtype
        np.testing.assert_array_equal(found[name], expected)
    np.testing.assert_array_equal(read_array(tmp_path / "one.npy"), arrays["a"])


class Run:
    def __reduce__(self):
        return print, ("this ran",)


FORGED = {
    "a terabyte": (header((2**40,)), "does not have the size that it states"),
    "one number more": (header((3,)) + b"\0" * 8, "does not have the size that it states"),
    "one number less": (header((1,)) + b"\0" * 8, "does not have the size that it states"),
    "a negative size": (header((-1,)), "does not have the size that it states"),
    "objects": (header((1,), "|O") + pickle.dumps(Run()), "holds Python objects"),
    "a record with an object": (header((1,), [("x", "|O")]) + pickle.dumps(Run()), "holds Python objects"),
    "no array": (b"hello", "magic string"),
    "nothing": (b"", "EOF"),
    "a long header": (b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535, "[Hh]eader"),
}


@pytest.mark.parametrize("kind", FORGED)
def test_forged_arrays_are_refused(tmp_path, kind, capsys):
    data, fault = FORGED[kind]
    (tmp_path / "one.npy").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "some.npz", "w") as archive:
        archive.writestr("a.npy", data)

    for read, name in ((read_array, "one.npy"), (read_arrays, "some.npz")):
        with pytest.raises(ValueError, match=fault):
            read(tmp_path / name)
    assert not capsys.readouterr().out


def test_a_file_that_unpacks_to_far_more_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", header((2**24 + 1,)) + b"\0" * (2**26 + 4))

    with pytest.raises(ValueError, match="its members are far larger than the file"):
        read_arrays(tmp_path / "bomb.npz")


def test_broken_archives_and_missing_files_are_told_apart(tmp_path):
    np.savez(tmp_path / "some.npz", a=np.ones(100))
    data = bytearray((tmp_path / "some.npz").read_bytes())
    data[300] ^= 1
    (tmp_path / "flipped.npz").write_bytes(data)
    (tmp_path / "cut.npz").write_bytes(data[:-50])

    for name in ("flipped.npz", "cut.npz"):
        with pytest.raises(ValueError, match=r"."):
            read_arrays(tmp_path / name)
    for read in (read_array, read_arrays):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "none")
