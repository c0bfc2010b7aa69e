"""The settings of a window."""

from __future__ import annotations

import attrs
from attrs.validators import deep_iterable, ge
from pippin.viewing import ViewerConfig


@attrs.frozen(kw_only=True)
class GlConfig(ViewerConfig):
    """A window with Newton's own panel: pause, one step, reset, camera, and what is shown. It needs a display."""

    implementation = ".viewer:ViewerGL"
    extra = "gl"

    size: tuple[int, int] = attrs.field(default=(1280, 720), validator=deep_iterable(ge(64)))
    """Width and height of the window [pixels]."""
