"""Settings of the process around the import of Newton."""

import gc

import pytest
from pippin.devices import no_garbage_collection


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
