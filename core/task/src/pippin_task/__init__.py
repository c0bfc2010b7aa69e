"""Tasks: what makes a simulation an environment to learn in, term by term.

A term is a plugin of one of eight kinds: a quantity is measured, a reward and a termination judge it, an action sets
targets, an event changes the simulation at random, a command is a target that is drawn at random, a curriculum
changes numbers of the others while a policy learns, and a metric tells how episodes go.
"""

from typing import TYPE_CHECKING

from pippin.late import late

from .config import ObservationConfig, PolicyConfig, SymmetryConfig, TaskConfig
from .terms import (
    Action,
    Command,
    CommandConfig,
    Curriculum,
    Event,
    EventConfig,
    Metric,
    Quantity,
    QuantityReward,
    QuantityRewardConfig,
    Reward,
    RewardConfig,
    Termination,
    TerminationConfig,
)

if TYPE_CHECKING:
    from .all_terms import make_term
    from .context import TermContext
    from .episodes import EpisodeBuffers
    from .motion_conversion import convert_motion
    from .named_tasks import TASK_FILE
    from .passport import passport_of, read_passport, write_passport
    from .rollouts.player import Player
    from .rollouts.rollout_batch import RolloutBatch
    from .rollouts.rollout_shard import RolloutShard
    from .task import Task

__all__ = [
    "TASK_FILE",
    "Action",
    "Command",
    "CommandConfig",
    "Curriculum",
    "EpisodeBuffers",
    "Event",
    "EventConfig",
    "Metric",
    "ObservationConfig",
    "Player",
    "PolicyConfig",
    "Quantity",
    "QuantityReward",
    "QuantityRewardConfig",
    "Reward",
    "RewardConfig",
    "RolloutBatch",
    "RolloutShard",
    "SymmetryConfig",
    "Task",
    "TaskConfig",
    "TermContext",
    "Termination",
    "TerminationConfig",
    "convert_motion",
    "make_term",
    "passport_of",
    "read_passport",
    "write_passport",
]

__getattr__ = late(__name__)
