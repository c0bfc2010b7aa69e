"""The settings of a video: its file, its worlds, and its camera."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import attrs
from attrs.validators import deep_iterable, min_len, optional
from pippin.validators import finite, in_schema, only_where, positive, slice_or_indices
from pippin.viewing import FileViewerConfig

Vector3 = tuple[float, float, float]


@in_schema(items={"minimum": 16, "multipleOf": 2})
def _even_size(instance: Any, attribute: Any, value: tuple[int, int]) -> None:
    if any(side < 16 or side % 2 for side in value):
        raise ValueError(f"'{attribute.name}' must be two even numbers of at least 16, as encoders need: {list(value)}")


@in_schema(exclusiveMinimum=0.0, exclusiveMaximum=math.pi)
def _angle(instance: Any, attribute: Any, value: float) -> None:
    if not 0.0 < value < math.pi:
        raise ValueError(f"'{attribute.name}' must be between 0 and π, in radians: {value}")


def _elsewhere(instance: Any, attribute: Any, value: Vector3 | None) -> None:
    if value is not None and instance.target is not None and math.dist(value, instance.target) < 1e-6:
        raise ValueError(f"'{attribute.name}' must be another point than 'target': {list(value)}")


_free = only_where(lambda config: config.camera is None, "`camera` to be left out")


@attrs.frozen(kw_only=True)
class VideoConfig(FileViewerConfig):
    """A video of a run, `.mp4` (H.264, the default) or `.gif`, ray-traced without a display."""

    implementation = ".viewer:ViewerVideo"
    extra = "video"
    worlds_max: ClassVar[int] = 1
    suffixes: ClassVar[tuple[str, ...]] = (".mp4", ".gif")

    worlds: str | tuple[int, ...] | None = attrs.field(default=None, validator=optional(slice_or_indices))
    """Worlds to show, each in a tile of the image: a slice as in Python (`"0:4"`, `"::2"`) or a list of
    indices; by default the first one."""

    rate: float = attrs.field(default=30.0, validator=positive)
    """Frames per second of the video [Hz]."""

    speed: float = attrs.field(default=1.0, validator=positive)
    """Simulated time per time of the video: 0.25 is slow motion."""

    size: tuple[int, int] = attrs.field(default=(640, 480), validator=_even_size)
    """Width and height of the image [pixels]."""

    camera: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of a camera of the asset, a full-match regular expression, in place of `eye`, `target` and `follow`."""

    target: Vector3 | None = attrs.field(default=None, validator=[optional(deep_iterable(finite)), _free])
    """Point in the middle of the image [m]; by default the middle of the robots in their start pose."""

    eye: Vector3 | None = attrs.field(default=None, validator=[optional(deep_iterable(finite)), _elsewhere, _free])
    """Position of the camera [m]; by default so far away that the robots fill the image."""

    follow: str | None = attrs.field(default=None, validator=[optional(min_len(1)), _free])
    """Full-match regular expression of body names, or of whole labels if it contains a `/`: eye and target move along
    with the mean of these bodies. By default they move along with robots that can go away, unless `eye` or `target` is
    given."""

    fov: float | None = attrs.field(default=None, validator=optional(_angle))
    """Angle between the upper and the lower edge of the image [rad]; by default that of the asset's camera, else 0.7.
    """

    quality: Literal["low", "medium", "high"] = "medium"
    """Rays per pixel at edges (1, 4 or 9), and the encoder's loss."""
