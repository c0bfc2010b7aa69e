"""The output of a sensor: the values, their unit, frame and labels."""

from __future__ import annotations

import attrs
import numpy as np
import warp as wp


@attrs.frozen(kw_only=True, eq=False)
class Output:
    """One quantity that a sensor measures."""

    data: wp.array
    """The latest values, shape [worlds, elements, …]; the first axis has the worlds that contain measured elements.

    Each reading and each reset overwrites the values in place; the memory is the same for the life of the simulation.
    """

    unit: str
    """SI unit, such as `m/s²`; `1` for values without a unit."""

    frame: str
    """Frame of the components: `world`; `site`, the sensor's own frame; `joint`, a joint's frame on its child link;
    `reference`, a frame that the sensor's configuration names; or `none` for values without a direction."""

    labels: tuple[str, ...] = ()
    """Label of each entry of the second axis: of a body, site or joint of the first world."""

    clean: wp.array = attrs.field(default=attrs.Factory(lambda self: self.data, takes_self=True))
    """The values before `stages`, of the same shape; the same array if there are none."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values with their components, as NumPy sees them: vectors have a last axis of three."""
        return (*self.data.shape, *getattr(self.data.dtype, "_shape_", ()))

    def numpy(self) -> np.ndarray:
        """Return the latest values, of shape `shape`: the same memory on the CPU, else a copy, after waiting."""
        return self.data.numpy()
