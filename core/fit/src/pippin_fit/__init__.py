"""Parameters of a robot from its logs: `pippin fit` and `pippin excite`."""

from typing import TYPE_CHECKING

from pippin.late import late

from .config import FitConfig, FitParameterConfig, FitSignalConfig, PriorConfig

if TYPE_CHECKING:
    from .result import FitResult, Trace
    from .run_fit import fit
    from .verdicts import FitVerdict, is_explained, is_worse

__all__ = [
    "FitConfig",
    "FitParameterConfig",
    "FitResult",
    "FitSignalConfig",
    "FitVerdict",
    "PriorConfig",
    "Trace",
    "fit",
    "is_explained",
    "is_worse",
]

__getattr__ = late(__name__)
