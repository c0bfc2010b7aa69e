"""Training of policies by other libraries: `pippin train` steps the worlds, and a trainer learns.

A trainer is a plugin in the group `pippin.trainers`: a configuration derived from `TrainerConfig`, and a class that
keeps the contract `Trainer`. A logger is one in the group `pippin.loggers`, whose class derives from `Logger`.
"""

from typing import TYPE_CHECKING

from pippin.late import late

from .configs import Trainer, TrainerConfig
from .loggers.logger import LoggedRun, Logger

if TYPE_CHECKING:
    from .networks import RecurrentLayer, write_policy
    from .train import train_policy
    from .training import Training

__all__ = [
    "LoggedRun",
    "Logger",
    "RecurrentLayer",
    "Trainer",
    "TrainerConfig",
    "Training",
    "train_policy",
    "write_policy",
]

__getattr__ = late(__name__)
