"""The settings of a camera: its pose, its field of view and its images."""

from __future__ import annotations

import math
from typing import Any, Literal

import attrs
import numpy as np
from attrs.validators import deep_iterable, ge, min_len, optional
from pippin import sensing
from pippin.validators import finite, in_schema, only_where, positive, unit_quaternion

__all__ = ["CameraConfig"]

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

_UNTURNED = (0.0, 0.0, 0.0, 1.0)


@in_schema(exclusiveMinimum=0.0, exclusiveMaximum=math.pi)
def _angle(instance: Any, attribute: Any, value: float) -> None:
    if not 0.0 < value < math.pi:
        raise ValueError(f"'{attribute.name}' must be between 0 and π, in radians: {value}")


def _one_angle(instance: Any, attribute: Any, value: float | None) -> None:
    if value is None and instance.horizontal_fov is None and instance.camera is None:
        raise ValueError("how wide it sees is missing; add 'vertical_fov' or 'horizontal_fov' [rad]")


def _elsewhere(instance: Any, attribute: Any, value: Vector3 | None) -> None:
    if value is not None and math.dist(value, instance.position) < 1e-6:
        raise ValueError(f"'{attribute.name}' must be another point than 'position': {value}")


def _no_repeats(instance: Any, attribute: Any, value: tuple[str, ...]) -> None:
    repeated = [name for index, name in enumerate(value) if name in value[:index]]
    if repeated:
        raise ValueError(f"'{attribute.name}' must name each image once: {repeated[0]!r} is there twice")


@attrs.frozen(kw_only=True)
class CameraConfig(sensing.SensorConfig):
    """A pinhole camera. It looks along the −z axis of its frame; +x is to the right in the image, +y up."""

    implementation = ".sensor:SensorCamera"

    body: str | tuple[str, ...] | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Full-match regular expressions of body names, or of whole labels if they contain a `/`: one camera for each body.

    By default each world has one fixed camera, and the world's frame takes the place of the body's.
    """

    site: str | tuple[str, ...] | None = attrs.field(
        default=None,
        validator=[optional(min_len(1)), only_where(lambda config: config.body is None, "`body` to be left out")],
    )
    """The same of the names of the asset's own sites; the frame of the site then takes the place of the body's."""

    camera: str | tuple[str, ...] | None = attrs.field(
        default=None,
        validator=[
            optional(min_len(1)),
            only_where(lambda config: config.body is None and config.site is None, "`body` and `site` to be left out"),
        ],
    )
    """The same of the names of the cameras of an MJCF file that are fixed to a body; the frame of the camera then takes
    the place of the body's, and its angle of view holds unless one is given here."""

    position: Vector3 = attrs.field(default=(0.0, 0.0, 0.0), validator=deep_iterable(finite))
    """Position of the camera in the body's frame [m]."""

    rotation: Quaternion = attrs.field(default=_UNTURNED, validator=[deep_iterable(finite), unit_quaternion])
    """Orientation of the camera's frame in the body's frame: unit quaternion (x, y, z, w)."""

    look_at: Vector3 | None = attrs.field(
        default=None,
        validator=[
            optional(deep_iterable(finite)),
            _elsewhere,
            only_where(lambda config: config.rotation == _UNTURNED, "`rotation` to be left out"),
        ],
    )
    """Point in the middle of the image, in the body's frame [m], in place of `rotation`.

    The body's z axis is upright in the image, or its x axis if the camera looks along z.
    """

    width: int = attrs.field(validator=ge(1))
    """Number of pixels in a row."""

    height: int = attrs.field(validator=ge(1))
    """Number of rows."""

    vertical_fov: float | None = attrs.field(default=None, validator=[optional(_angle), _one_angle])
    """Angle between the upper and the lower edge of the image [rad]; the pixels are square."""

    horizontal_fov: float | None = attrs.field(
        default=None,
        validator=[
            optional(_angle),
            only_where(lambda config: config.vertical_fov is None, "`vertical_fov` to be left out"),
        ],
    )
    """Angle between the left and the right edge of the image [rad], in place of `vertical_fov`."""

    outputs: tuple[Literal["depth", "distance", "normal", "segmentation", "color", "albedo"], ...] = attrs.field(
        default=("depth",), validator=[min_len(1), _no_repeats]
    )
    """The images to render."""

    max_distance: float = attrs.field(default=1000.0, validator=positive)
    """Range of the camera along the ray of a pixel [m]."""

    no_hit: Literal["infinity", "max-distance", "zero"] = "infinity"
    """Value of `depth` and `distance` if nothing is in sight."""

    shadows: bool = attrs.field(
        default=False, validator=only_where(lambda config: "color" in config.outputs, '`"color"` among the outputs')
    )
    """Whether objects between the light and a surface cast shadows."""

    @property
    def fov(self) -> float | None:
        """Angle between the upper and the lower edge of the image [rad]; None if that of the asset's camera holds."""
        if self.vertical_fov is not None or self.horizontal_fov is None:
            return self.vertical_fov
        return 2.0 * math.atan(math.tan(self.horizontal_fov / 2.0) * self.height / self.width)

    @property
    def orientation(self) -> Quaternion:
        """`rotation`, or the rotation that points the camera at `look_at`: unit quaternion (x, y, z, w)."""
        import warp as wp

        if self.look_at is None:
            return self.rotation
        back = np.subtract(self.position, self.look_at)
        back = back / np.linalg.norm(back)
        upright = (1.0, 0.0, 0.0) if abs(back[2]) > 1.0 - 1e-6 else (0.0, 0.0, 1.0)
        right = np.cross(upright, back)
        right /= np.linalg.norm(right)
        axes = np.stack([right, np.cross(back, right), back], axis=1)
        x, y, z, w = wp.quat_from_matrix(wp.mat33(*axes.ravel()))  # pyrefly: ignore[no-matching-overload]
        return x, y, z, w

    @property
    def depth_of_no_hit(self) -> float:
        """Value of `depth` and `distance` if nothing is in sight [m]."""
        return {"infinity": math.inf, "max-distance": self.max_distance, "zero": 0.0}[self.no_hit]
