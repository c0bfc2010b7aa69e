"""Optimisation by gradients: `pippin optimise` varies numbers of a simulation, and lowers a loss through rollouts."""

from typing import TYPE_CHECKING

from pippin.late import late

from .config import LossConfig, OptimiseConfig, VariableConfig

if TYPE_CHECKING:
    from .result import OptimisationResult
    from .run_optimise import optimise

__all__ = ["LossConfig", "OptimisationResult", "OptimiseConfig", "VariableConfig", "optimise"]

__getattr__ = late(__name__)
