"""Solvers and laws of actuators, judged by logs of a robot: `pippin judge`."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .judgement import Candidate, Judgement
    from .laws import LAWS
    from .run_judge import judge

__all__ = ["LAWS", "Candidate", "Judgement", "judge"]

__getattr__ = late(__name__)
