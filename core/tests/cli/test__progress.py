"""Output of a command while it shows progress."""

import ctypes
import os

import pytest
from pippin.cli._progress import shown_progress


@pytest.mark.skipif(os.name != "posix", reason="the C library has another name there")
def test_standard_output_is_kept_free_of_what_kernels_print(capfd):
    with shown_progress(is_stdout_reserved=True):
        print("from Python")
        ctypes.CDLL(None).printf(b"from a kernel\n")
    print("the result")

    out, noise = capfd.readouterr()
    assert out == "the result\n"
    assert "from Python" in noise
    assert "from a kernel" in noise
