"""Training of policies by other libraries: `pippin train` steps the worlds, and a trainer learns.

A trainer is a plugin in the group `pippin.trainers`: a configuration derived from `TrainerConfig`, and a class that
keeps the contract `Trainer`.
"""

from .configs import TrainerConfig
from .networks import write_policy
from .trainer import Trainer

__all__ = ["Trainer", "TrainerConfig", "write_policy"]
