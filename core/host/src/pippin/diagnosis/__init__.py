"""Faults of an installation: plugins that cannot be imported, and GPUs that cannot be used."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .doctor import gpu_report

__all__ = ["gpu_report"]

__getattr__ = late(__name__)
