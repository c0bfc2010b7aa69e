"""Heights as text, as a Pippin viewer: the settings. Imports neither Warp nor Newton."""

import attrs
from pippin.viewing import ViewerConfig


@attrs.frozen(kw_only=True)
class DemoConfig(ViewerConfig):
    """Heights of bodies as a line of text."""

    implementation = ".viewer:ViewerDemo"

    digits: int = 2
    """Digits after the point."""
