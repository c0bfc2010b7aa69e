"""Images of worlds: cameras, and what they draw."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .cameras import Cameras, Shot
    from .renderer import Renderer, Tiles, tiles

__all__ = ["Cameras", "Renderer", "Shot", "Tiles", "tiles"]

__getattr__ = late(
    __name__,
    {
        "Cameras": ".cameras",
        "Renderer": ".renderer",
        "Shot": ".cameras",
        "Tiles": ".renderer",
        "tiles": ".renderer",
    },
)
