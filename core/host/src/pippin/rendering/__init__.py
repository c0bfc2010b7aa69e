"""Images of worlds: cameras, and what they draw."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .cameras import Cameras, CameraSettings
    from .renderer import Renderer, Tiles

__all__ = ["CameraSettings", "Cameras", "Renderer", "Tiles"]

__getattr__ = late(__name__)
