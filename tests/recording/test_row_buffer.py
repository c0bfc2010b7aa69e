"""Buffers of rows, on the CPU and as on a CUDA device."""

import numpy as np
import pytest
from pippin.recording.channels import channels
from pippin.recording.row_buffer import DeviceRowBuffer, HostRowBuffer, row_buffer

EVERY = [".*", ".*/.*"]

IN_SHARED_MEMORY = pytest.param(
    HostRowBuffer, marks=pytest.mark.not_in_lane("copies", reason="it reads arrays in place")
)


@pytest.fixture(scope="module")
def simulation(simulate):
    with simulate(None, {}) as simulation:
        simulation.step()
        yield simulation


@pytest.mark.parametrize("worlds", [[0, 1, 2, 3], [1, 3], [3, 0, 1]])
@pytest.mark.parametrize("kind", [IN_SHARED_MEMORY, DeviceRowBuffer])
def test_rows_are_the_values_after_each_step(simulation, kind, worlds):
    """The way of a CUDA device is tried on the CPU, too: the same copies, without a wait."""
    found = channels(simulation, worlds, EVERY)
    rows, expected = kind(found, 50_000), []

    for time in range(3):
        simulation.step()
        rows.add(float(time))
        expected.append({channel.name: channel.numpy().copy() for channel in found})
    taken = rows.take()

    assert taken["time"].tolist() == [0.0, 1.0, 2.0]
    for row, values in zip(taken, expected, strict=True):
        for name, array in values.items():
            np.testing.assert_array_equal(row[name], array)
    assert len({row["joint_q"].tobytes() for row in taken}) == 3


@pytest.mark.parametrize("kind", [IN_SHARED_MEMORY, DeviceRowBuffer])
def test_a_buffer_is_used_again(simulation, kind):
    rows = kind(channels(simulation), 600)

    counts = []
    for time in range(5):
        rows.add(float(time))
        if rows.is_full:
            counts.append(len(rows.take()))
    rows.add(5.0)

    assert rows.capacity * rows.row_size <= 600
    assert counts == [rows.capacity] * (5 // rows.capacity)
    assert rows.take()["time"][-1] == 5.0


def test_a_row_that_is_larger_than_the_buffer_has_room(simulation):
    assert row_buffer(channels(simulation), 1, simulation.device).capacity == 1
