"""Runs: build, step, grow buffers, note, summarise and write a simulation, and read it back."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .loop import RunLoop

__all__ = ["RunLoop"]

__getattr__ = late(__name__)
