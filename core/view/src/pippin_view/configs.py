"""The settings of the viewers: a page in the browser, a window, USD files and videos."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import attrs
from attrs.validators import deep_iterable, ge, le, min_len, optional
from pippin.validators import finite, in_schema, only_where, positive, slice_or_indices
from pippin.viewing import FileViewerConfig, ViewerConfig


@attrs.frozen(kw_only=True)
class ViserConfig(ViewerConfig):
    """A page in the browser that shows the robots, with pause, reset, speed, and sliders for targets."""

    implementation = ".viser.viewer:ViewerViser"
    extra = "viser"

    speed: float | None = attrs.field(default=None, validator=optional(positive))
    """Simulated time per real time; by default as fast as possible. The page can change it."""

    port: int | None = attrs.field(default=None, validator=optional([ge(1), le(65535)]))
    """Port of the page; by default the first free one from 8080."""

    sliders: tuple[str, ...] | None = None
    """Patterns of labels of actuators whose position targets have sliders; by default all of them."""

    plots: tuple[str, ...] = ()
    """Patterns of names of [channels](recordings.md) to plot, such as `"joint_q"`; the page can plot another one."""

    dark: bool | None = None
    """Whether the page is dark; by default as the last browser that opened it prefers. It has a switch for it."""

    keep_open: bool = False
    """Whether the page stays open after the run until Ctrl-C, if the program has a terminal."""


@attrs.frozen(kw_only=True)
class GlConfig(ViewerConfig):
    """A window with Newton's own panel: pause, one step, reset, camera, and what is shown. It needs a display."""

    implementation = ".gl.viewer:ViewerGL"
    extra = "gl"

    size: tuple[int, int] = attrs.field(default=(1280, 720), validator=deep_iterable(ge(64)))
    """Width and height of the window [pixels]."""


@attrs.frozen(kw_only=True)
class UsdConfig(FileViewerConfig):
    """The motion of bodies in USD, as `.usdc` (the default), `.usda` or `.usd`.

    If the scene's only asset is a USD stage, the file is a layer of motion over this stage, which keeps its geometry
    and materials. Otherwise the file holds the shapes of the model that can be seen, cloth and soft bodies as meshes,
    grains as points and cables as curves. A long motion, of more than
    200 000 poses of bodies, is in value clips in a folder beside the file.
    """

    implementation = ".usd.viewer:ViewerUSD"
    extra = "usd"
    suffixes: ClassVar[tuple[str, ...]] = (".usdc", ".usda", ".usd")

    physics: bool = False
    """Whether a program that opens the layer may simulate its bodies, in place of playing the motion."""


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

    implementation = ".video.viewer:ViewerVideo"
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
