"""The components of one simulation: plugin objects, their declarations and their hook calls."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from pippin.support.declaration import Declaration

    from .alone import make_component
    from .contract import load_plugin
    from .parts import make_part

__all__ = ["Declaration", "load_plugin", "make_component", "make_part"]

__getattr__ = late(
    __name__,
    {
        "Declaration": "pippin.support.declaration",
        "load_plugin": ".contract",
        "make_component": ".alone",
        "make_part": ".parts",
    },
)
