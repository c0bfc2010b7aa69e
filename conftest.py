"""Fixtures of every test in the workspace."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Generator

import pytest

# The tests start many processes. Without bytecode each of them would compile the sources of Newton and Warp anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell lets its programs in the background ignore Ctrl-C, and they let theirs. Many tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Import the tests without collecting garbage, and keep the modules of Newton and Warp out of later collections."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Keep what a test or the last test of a file leaves behind out of later collections.

    The modules of a solver and the kernels of Warp are a million objects, which each collection would walk again.
    """
    modules = len(sys.modules)
    result = yield
    if len(sys.modules) > modules or nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return result


@pytest.fixture(scope="session")
def uv() -> str:
    """The uv that runs these tests, or the one on PATH; it builds and installs packages the way a user does."""
    found = os.environ.get("UV") or shutil.which("uv")
    if found is None:
        pytest.fail("uv: not found; install it, or run the tests with `uv run --group dev pytest`")
    return found


@pytest.fixture(params=["cpu", pytest.param("cuda:0", marks=pytest.mark.cuda)])
def device(request: pytest.FixtureRequest) -> str:
    """Each device of this machine: the CPU, and the first CUDA device if there is one."""
    import warp as wp

    if request.param != "cpu" and not wp.is_cuda_available():
        pytest.skip("no CUDA device")
    return request.param
