"""Growth of buffers: the sizes of a second start, for keys that the file leaves out."""

import pippin
import pytest
from pippin.runs.growth import Growth, sizes_for
from pippin.solving import Capacity

CAPACITIES = (
    Capacity(field="solver.njmax", holds="rows", allocated=64),
    Capacity(field="solver.nconmax", holds="contacts", allocated=400, shared_by=4),
    Capacity(field="collision.rigid_contact_max", holds="contacts", allocated=10),
)


def config(**solver):
    return pippin.structure({"solver": {"type": "mujoco", **solver}})


def overflow(**needed):
    return pippin.BufferOverflowError("full", needed={key.replace("__", "."): size for key, size in needed.items()})


@pytest.mark.parametrize(("needed", "size"), [(None, 128), (70, 128), (200, 250)])
def test_a_size_doubles_or_exceeds_the_need_by_a_quarter(needed, size):
    assert sizes_for(config(), CAPACITIES, overflow(solver__njmax=needed)) == {"solver.njmax": size}


def test_a_size_is_in_the_unit_of_its_key():
    """400 elements for four worlds are 100 per world."""
    assert sizes_for(config(), CAPACITIES, overflow(solver__nconmax=110)) == {"solver.nconmax": 200}


def test_a_size_that_the_file_gives_does_not_grow():
    given = config(njmax=64)

    assert sizes_for(given, CAPACITIES, overflow(solver__njmax=70)) is None
    assert sizes_for(given, CAPACITIES, overflow(solver__njmax=70, solver__nconmax=110)) is None


def test_a_buffer_without_a_key_does_not_grow():
    assert sizes_for(config(), CAPACITIES, overflow(solver=None)) is None


def test_the_sizes_are_written_where_the_file_would_have_them():
    growth = Growth(config())

    growth.grow({"solver.njmax": 128, "collision.rigid_contact_max": 20}, time=1.5)

    assert growth.config == pippin.structure(
        {"solver": {"type": "mujoco", "njmax": 128}, "collision": {"rigid_contact_max": 20}}
    )
