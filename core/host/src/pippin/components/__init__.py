"""The components of one simulation: plugin objects, their declarations and their hook calls."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from pippin.support.declaration import Declaration

    from .contract import load_plugin
    from .making import make_component, make_part

__all__ = ["Declaration", "load_plugin", "make_component", "make_part"]

__getattr__ = late(__name__)
