"""The state of a simulation between steps: resets, checkpoints, records, monitors."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .world_rows import arrays_of, worlds_of

__all__ = ["arrays_of", "worlds_of"]

__getattr__ = late(__name__, {"arrays_of": ".world_rows", "worlds_of": ".world_rows"})
