"""The kinds of images of a camera: types, units and frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import warp as wp
from newton.sensors import SensorCamera

__all__ = ["IMAGES", "Image"]


@attrs.frozen(kw_only=True)
class Image:
    """One kind of image."""

    argument: str
    """Name of the argument of Newton's camera."""

    stored: str
    """Warp type of a pixel as Newton's camera writes it."""

    read: str
    """Warp type of a pixel as it is read, of the same size."""

    nothing: str
    """Name of the value of a pixel with nothing in sight, in `SensorCamera.ClearData`."""

    unit: str
    frame: str

    def allocate(self, shape: tuple[int, ...], clear: SensorCamera.ClearData, device: wp.Device) -> wp.array:
        """Return images with nothing in sight, shape [views, height, width], in the types of Newton's camera."""
        return wp.full(shape, value=getattr(clear, self.nothing), dtype=getattr(wp, self.stored), device=device)

    def per_world(self, images: wp.array, sites: np.ndarray) -> wp.array:
        """View the images in the types that are read, shape [worlds, cameras, height, width]."""
        shape: Any = (*sites.shape, *images.shape[1:])
        view = wp.array(ptr=images.ptr, dtype=getattr(wp, self.read), shape=shape, device=images.device)
        view._ref = images  # the memory lives as long as the view
        return view


def _depth(argument: str) -> Image:
    return Image(argument=argument, stored="float32", read="float32", nothing="clear_depth", unit="m", frame="none")


def _color(argument: str, nothing: str) -> Image:
    return Image(argument=argument, stored="uint32", read="vec4ub", nothing=nothing, unit="1", frame="none")


IMAGES: Mapping[str, Image] = {
    "depth": _depth("forward_depth_image"),
    "distance": _depth("depth_image"),
    "normal": Image(
        argument="normal_image", stored="vec3f", read="vec3f", nothing="clear_normal", unit="1", frame="world"
    ),
    "segmentation": Image(
        argument="shape_index_image",
        stored="uint32",
        read="int32",
        nothing="clear_shape_index",
        unit="1",
        frame="none",
    ),
    "color": _color("color_image", "clear_color"),
    "albedo": _color("albedo_image", "clear_albedo"),
}
"""Every kind of image, by the name of its output."""
