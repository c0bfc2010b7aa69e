"""Patterns of rays: their starts and directions in the sensor's frame."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
from attrs.validators import and_, deep_iterable, ge, gt, lt
from pippin.validators import finite, non_negative, positive

__all__ = ["GridConfig", "LidarConfig", "PinholeConfig", "Rays"]

_TOLERANCE = 1e-5
"""Largest deviation of a file's decimals from a whole number of cells or a full turn, relative to one of these."""

Rays = tuple[np.ndarray, np.ndarray]
"""Starts [m] and unit directions in the sensor's frame, each of shape [a, b, 3]."""


def _whole_cells(instance: Any, attribute: Any, value: float) -> None:
    """Reject a resolution that does not divide the size.

    Raises:
        ValueError: It does not divide the size; the error names sizes that it divides.
    """
    for length in instance.size:
        count = length / value
        if abs(count - round(count)) > _TOLERANCE * max(1.0, count):
            near = " or ".join(f"{cells * value:g}" for cells in (math.floor(count), math.ceil(count)))
            raise ValueError(f"'resolution' must divide each 'size': {value:g} in {length:g} m; use a size of {near}")


def _some_length(instance: Any, attribute: Any, value: tuple[float, float, float]) -> None:
    if not any(value):
        raise ValueError(f"'{attribute.name}' must have a length: {list(value)}")


def _elevations(instance: Any, attribute: Any, value: tuple[float, float]) -> None:
    if not -math.pi / 2 <= value[0] <= value[1] <= math.pi / 2:
        raise ValueError(f"'{attribute.name}' must go upwards within -pi/2 and pi/2: {list(value)}")


def _azimuths(instance: Any, attribute: Any, value: tuple[float, float]) -> None:
    if not 0.0 <= value[1] - value[0] <= 2.0 * math.pi * (1.0 + _TOLERANCE):
        raise ValueError(f"'{attribute.name}' must go upwards by 2 pi at most: {list(value)}")


@attrs.frozen(kw_only=True)
class GridConfig:
    """Parallel rays from a grid in the x-y plane, centred at the site: a height scan. Its numbers go along y first."""

    size: tuple[float, float] = attrs.field(validator=deep_iterable(non_negative))
    """Lengths along x and y from the first ray to the last [m]."""

    resolution: float = attrs.field(validator=[positive, _whole_cells])
    """Distance between neighbouring rays [m]."""

    direction: tuple[float, float, float] = attrs.field(
        default=(0.0, 0.0, -1.0), validator=[deep_iterable(finite), _some_length]
    )
    """Direction of the rays, of any length."""

    start_height: float = attrs.field(default=0.0, validator=finite)
    """Height above the site at which rays start [m], to meet higher ground too; distances count from the start."""

    def rays(self) -> Rays:
        """Return one ray for each x and y, shape [x, y, 3]."""
        axes = [self.resolution * (np.arange(count) - 0.5 * (count - 1)) for count in self.counts]
        starts = np.stack([*np.meshgrid(*axes, indexing="ij"), np.full(self.counts, self.start_height)], axis=-1)
        direction = np.array(self.direction) / np.linalg.norm(self.direction)
        return starts, np.broadcast_to(direction, starts.shape)

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of rays along x and y."""
        return tuple(round(length / self.resolution) + 1 for length in self.size)


@attrs.frozen(kw_only=True)
class LidarConfig:
    """Rays from the site in channels, one above the other, that sweep about z; x points ahead."""

    channels: int = attrs.field(validator=ge(1))
    """Number of elevations."""

    vertical_range: tuple[float, float] = attrs.field(validator=[deep_iterable(finite), _elevations])
    """Elevation of the lowest and the highest channel above the x-y plane [rad]; a single channel is in the middle."""

    horizontal_count: int = attrs.field(validator=ge(1))
    """Number of azimuths."""

    horizontal_range: tuple[float, float] = attrs.field(
        default=(-math.pi, math.pi), validator=[deep_iterable(finite), _azimuths]
    )
    """First and last azimuth from x towards y [rad]; in a full turn, the last one is the first and is left out."""

    def rays(self) -> Rays:
        """Return one ray for each channel and azimuth, shape [channels, horizontal_count, 3]."""
        first, last = self.horizontal_range
        is_full = last - first > 2.0 * math.pi * (1.0 - _TOLERANCE)
        azimuth = _spread(first, last, self.horizontal_count, endpoint=not is_full)
        elevation = _spread(*self.vertical_range, self.channels)[:, None]
        parts = np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)
        directions = np.stack(np.broadcast_arrays(*parts), axis=-1)
        return np.zeros_like(directions), directions


@attrs.frozen(kw_only=True)
class PinholeConfig:
    """Rays from the site through the pixels of an image; -z points ahead, x to the right and y up, as for cameras."""

    width: int = attrs.field(validator=ge(1))
    """Number of pixels in a row."""

    height: int = attrs.field(validator=ge(1))
    """Number of rows."""

    vertical_fov: float = attrs.field(validator=and_(finite, gt(0.0), lt(math.pi)))
    """Angle between the upper edge of the image and the lower one [rad]; pixels are square."""

    def rays(self) -> Rays:
        """Return one ray through the middle of each pixel, rows from above, shape [height, width, 3]."""
        pixel = 2.0 * math.tan(0.5 * self.vertical_fov) / self.height
        x = pixel * (np.arange(self.width) - 0.5 * (self.width - 1))
        y = pixel * (0.5 * (self.height - 1) - np.arange(self.height))[:, None]
        directions = np.stack(np.broadcast_arrays(x, y, -1.0), axis=-1)
        directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
        return np.zeros_like(directions), directions


def _spread(first: float, last: float, count: int, *, endpoint: bool = True) -> np.ndarray:
    """Return evenly spaced numbers; a single one is in the middle if both ends belong to the range."""
    if count == 1 and endpoint:
        return np.array([0.5 * (first + last)])
    return np.linspace(first, last, count, endpoint=endpoint)
