"""Viewers: a page in the browser, videos, the motion of a run in USD, a window, and pages of runs for others."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .sharing import SharedPage, share

__all__ = ["SharedPage", "share"]

__getattr__ = late(__name__)
