"""What a sensor offers to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    import numpy as np
    import warp as wp

__all__ = ["Output"]


@attrs.frozen(kw_only=True, eq=False)
class Output:
    """One quantity that a sensor measures."""

    data: wp.array
    """The latest values, shape [worlds, elements, …]; the first axis has the worlds that hold what is measured.

    Overwritten in place by each reading and by each reset, in the same memory for the life of the simulation.
    """

    unit: str
    """SI unit, such as `m/s²`; `1` for what has none."""

    frame: str
    """Frame in which components are given: `world`; `site`, the sensor's own; `joint`, a joint's on its child link;
    `reference`, one that the sensor's configuration names; or `none` for what has no direction."""

    labels: tuple[str, ...] = ()
    """What each entry of the second axis belongs to: labels of bodies, sites or joints of the first world."""

    clean: wp.array = attrs.field(default=attrs.Factory(lambda self: self.data, takes_self=True))
    """The values before `stages`, of the same shape; the same array where there are none."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values with their components, as NumPy sees them: vectors have a last axis of three."""
        return (*self.data.shape, *getattr(self.data.dtype, "_shape_", ()))

    def numpy(self) -> np.ndarray:
        """Return the latest values; on the CPU the same memory, else a copy, for which the device is waited for."""
        return self.data.numpy()
