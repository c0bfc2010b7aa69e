"""The state of a simulation between steps: resets, checkpoints, records, monitors, random draws."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .kernels import random_state

__all__ = ["random_state"]

__getattr__ = late(__name__, {"random_state": ".kernels"})
