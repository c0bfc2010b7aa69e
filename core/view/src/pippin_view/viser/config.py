"""The settings of a page in the browser."""

from __future__ import annotations

import attrs
from attrs.validators import ge, le, optional
from pippin.validators import positive
from pippin.viewing import ViewerConfig


@attrs.frozen(kw_only=True)
class ViserConfig(ViewerConfig):
    """A page in the browser that shows the robots, with pause, reset, speed, and sliders for targets."""

    implementation = ".viewer:ViewerViser"
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
