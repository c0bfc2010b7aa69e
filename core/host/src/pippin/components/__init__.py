"""The components of one simulation: plugin objects, their declarations and their hook calls."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .parts import make_part

__all__ = ["make_part"]

__getattr__ = late(__name__, {"make_part": ".parts"})
