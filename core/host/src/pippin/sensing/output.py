"""The output of a sensor: the values, their unit, frame and labels."""

from __future__ import annotations

from typing import Any

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

    def numbers(self, *, is_arithmetic: bool = True) -> wp.array | None:
        """View the latest values as rows of a world, shape [worlds, numbers]; None unless they are real numbers.

        Integers and booleans are not.

        Args:
            is_arithmetic: Whether the caller changes single numbers: quaternions and transforms, which that would make
                invalid, give None then, too.
        """
        values = self.data
        kind: Any = values.dtype
        is_rotation = wp.types.type_is_quaternion(kind) or wp.types.type_is_transformation(kind)
        is_number = getattr(kind, "_wp_scalar_type_", kind) is wp.float32 and not (is_rotation and is_arithmetic)
        if not is_number or not values.is_contiguous:
            return None
        bytes_of_world = wp.types.type_size_in_bytes(values.dtype) * values.size // values.shape[0]
        shape: Any = (values.shape[0], bytes_of_world // 4)
        view = wp.array(ptr=values.ptr, dtype=float, shape=shape, device=values.device)
        view._ref = values  # the memory lives as long as the view
        return view

    def numpy(self) -> np.ndarray:
        """Return the latest values, of shape `shape`: the same memory on the CPU, else a copy, after waiting."""
        return self.data.numpy()
