"""Memory that a simulation needs on its device, by owner, for each world and fixed."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

_GIGABYTES = (8, 24, 80, 141)
"""Memory of common GPUs [GB]."""


@attrs.frozen(kw_only=True)
class MemoryOwner:
    """Bytes that one part of a simulation holds."""

    name: str
    per_world: float
    fixed: float
    is_linear: bool
    """Whether the bytes grow with the worlds in a line; if not, the line goes through the two largest counts."""


@attrs.frozen(kw_only=True)
class ArrayMemory:
    """One of the arrays that grow most, with its owner and path, and its shape at `MemoryUse.worlds[1]`."""

    name: str
    shape: tuple[int, ...]
    per_world: float


@attrs.frozen
class MemoryWaste:
    """A buffer with room for more than twice what was needed, for the file's worlds; sizes are values of its key."""

    key: str
    holds: str
    room: int
    used: int
    enough: int
    saved: float
    """What the value `enough` saves, measured in another build [bytes]."""


@attrs.frozen(kw_only=True)
class MemoryUse:
    """Bytes of all arrays of a simulation on its device, and how many worlds fit a device.

    The figures leave out what no array holds: the context of the driver, the code of kernels, recorded graphs, and
    arrays of other libraries.
    """

    device: str
    """The device on which the arrays were counted."""

    worlds: tuple[int, ...]
    """The numbers of worlds at which they were counted."""

    file_worlds: int
    """The number of worlds of the file."""

    owners: tuple[MemoryOwner, ...]
    """Parts of the simulation, the largest first. Besides components, `host` is what steps, resets and checks hold of
    their own, `native` the trees and grids of Warp, and `step` what an eager step allocates and frees again."""

    arrays: tuple[ArrayMemory, ...]
    """The arrays that grow most."""

    wastes: tuple[MemoryWaste, ...]
    """Buffers with room for more than twice the need, the largest saving first."""

    steps: int
    """Control steps, from the start and without actions, in which `used` was seen."""

    per_world: float = attrs.field(default=attrs.Factory(lambda use: _sum(use, "per_world"), takes_self=True))
    """Bytes for each world; an average if worlds differ."""

    fixed: float = attrs.field(default=attrs.Factory(lambda use: _sum(use, "fixed"), takes_self=True))
    """Bytes for any number of worlds."""

    fits: Mapping[int, int] = attrs.field(default=attrs.Factory(lambda use: _fitting(use), takes_self=True))
    """How many worlds fit into a memory, by its size [GB, 10⁹ bytes]."""


def _sum(use: MemoryUse, name: str) -> float:
    return sum(getattr(owner, name) for owner in use.owners)


def _fitting(use: MemoryUse) -> dict[int, int]:
    return {size: max(0, int((size * 1e9 - use.fixed) / max(use.per_world, 1.0))) for size in _GIGABYTES}
