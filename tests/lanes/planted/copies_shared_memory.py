"""Faults that show only where the host shares no memory: views, and pinned memory for which nobody waits."""

import numpy as np
import pytest
import warp as wp
from pippin.state.host_mirror import HostMirror


@pytest.fixture
def numbers():
    return wp.zeros(3, dtype=float, device="cpu")


class Hasty(HostMirror):
    """Reads without waiting."""

    def read(self, count=None):
        if self._host is not None:
            wp.copy(self._host, self.array)
        return self.numbers


def test_a_write_through_a_view_reaches_the_array(numbers):
    numbers.numpy()[1] = 5.0

    np.testing.assert_array_equal(numbers.numpy(), [0, 5, 0])


def test_a_view_shows_what_was_written_later(numbers):
    seen = numbers.numpy()

    numbers.fill_(5.0)

    np.testing.assert_array_equal(seen, 5.0)


def test_numpy_takes_the_array_itself(numbers):
    numbers.fill_(5.0)

    np.testing.assert_array_equal(np.asarray(numbers), 5.0)


def test_an_array_lies_over_the_memory_of_numpy():
    memory = np.zeros(3, dtype=np.float32)
    numbers = wp.array(memory, device="cpu", copy=False)

    memory[:] = 5.0

    np.testing.assert_array_equal(numbers.numpy(), 5.0)


def test_numbers_are_there_before_the_host_waits(numbers):
    mirror = Hasty(numbers, is_read=True)

    numbers.fill_(5.0)

    np.testing.assert_array_equal(mirror.read(), 5.0)


def test_pinned_memory_may_be_written_while_it_is_copied(numbers):
    mirror = HostMirror(numbers, is_read=True)

    for value in (4.0, 5.0):
        mirror.numbers[:] = value
        mirror.write()

    np.testing.assert_array_equal(numbers.numpy(), 5.0)
