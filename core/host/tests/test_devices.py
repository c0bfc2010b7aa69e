"""Settings of the process around the import of Newton."""

import gc
import os
import subprocess
import sys

import pytest
from pippin.devices import _DRIVER_FILE, no_garbage_collection

STARTED = """
import warp as wp
{before}
from pippin.devices import start_warp
start_warp()
{after}
print(wp.config.log_level, flush=True)
"""


@pytest.fixture(autouse=True)
def restored():
    was_enabled = gc.isenabled()
    yield
    if was_enabled:
        gc.enable()


@pytest.mark.parametrize("switch", [gc.enable, gc.disable])
def test_the_collector_is_suspended_and_then_as_it_was(switch):
    switch()
    before = gc.isenabled()

    with no_garbage_collection():
        inside = gc.isenabled()

    assert (inside, gc.isenabled()) == (False, before)


def started(before="", after=""):
    """Return what a process that starts Warp prints: on standard output and on standard error."""
    code = STARTED.format(before=before, after=after)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def test_warp_starts_without_a_word():
    printed, complained = started()

    assert printed == "30\n"
    assert complained == "" or _DRIVER_FILE.exists()


def test_a_verbosity_that_the_user_chose_holds():
    printed, _ = started(before="wp.config.log_level = wp.LOG_DEBUG")

    assert "initialized:" in printed


@pytest.mark.slow
def test_a_verbosity_that_is_chosen_later_holds():
    printed, _ = started(after="wp.config.log_level = wp.LOG_INFO; start_warp()")

    assert printed == "20\n"


@pytest.mark.slow
def test_what_else_native_code_says_while_warp_starts_is_printed():
    _, complained = started(before="wp.init = lambda: __import__('os').write(2, b'something else\\n')")

    assert complained == "something else\n"


def test_a_missing_gpu_is_refused_with_the_reason():
    code = """
from pippin.devices import find_device
from pippin.errors import ConfigError
try:
    find_device("cuda")
except ConfigError as error:
    print(error)
"""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)

    assert done.stdout.startswith("simulation.device: no device 'cuda' on this machine, which has cpu")
