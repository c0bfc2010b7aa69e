"""Running simulations in Foxglove, for Pippin: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import and_, ge, le
from pippin.viewing import ViewerConfig


@attrs.frozen(kw_only=True)
class FoxgloveConfig(ViewerConfig):
    """A server for Foxglove, Lichtblick and other clients of its protocol, on this machine."""

    implementation = ".viewer:FoxgloveViewer"

    port: int = attrs.field(default=0, validator=and_(ge(0), le(65535)))
    """Port of the server; 0 takes a free one."""
