"""Figures of a run that is measured: speed, energy, limits, gaps and distances."""

from typing import TYPE_CHECKING

from pippin.late import late

from .figures import COLUMNS, UNITS, SolverRun, figure_text
from .solver_choice import accepting_numbers, with_solver

if TYPE_CHECKING:
    from .measured_run import MeasuredRun
    from .measures import PenetrationProbe

__all__ = [
    "COLUMNS",
    "UNITS",
    "MeasuredRun",
    "PenetrationProbe",
    "SolverRun",
    "accepting_numbers",
    "figure_text",
    "with_solver",
]

__getattr__ = late(__name__, {"MeasuredRun": ".measured_run", "PenetrationProbe": ".measures"})
