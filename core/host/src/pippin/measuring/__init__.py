"""Figures of a run that is measured: speed, energy, limits, gaps, distances and memory."""

from typing import TYPE_CHECKING

from pippin.late import late

from .figures import COLUMNS, UNITS, SolverRun, accepting_numbers, figure_text, with_solver

if TYPE_CHECKING:
    from .measured_run import MeasuredRun
    from .measures import PenetrationProbe, kinetic_energy, positions, potential_energy
    from .memory import bytes_held

__all__ = [
    "COLUMNS",
    "UNITS",
    "MeasuredRun",
    "PenetrationProbe",
    "SolverRun",
    "accepting_numbers",
    "bytes_held",
    "figure_text",
    "kinetic_energy",
    "positions",
    "potential_energy",
    "with_solver",
]

__getattr__ = late(__name__)
