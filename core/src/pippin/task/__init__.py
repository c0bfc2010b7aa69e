"""Tasks: what makes a simulation an environment to learn in, term by term.

A term is a plugin of one of six kinds: a quantity is measured, a reward and a termination judge it, an action sets
targets, an event changes the simulation at random, and a command is a wish drawn at random.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .terms import (
    Action,
    Command,
    CommandConfig,
    Event,
    EventConfig,
    Law,
    LawConfig,
    Quantity,
    Reward,
    RewardConfig,
    Termination,
)

if TYPE_CHECKING:
    from .task import Task

__all__ = [
    "Action",
    "Command",
    "CommandConfig",
    "Event",
    "EventConfig",
    "Law",
    "LawConfig",
    "Quantity",
    "Reward",
    "RewardConfig",
    "Task",
    "Termination",
]


def __getattr__(name: str) -> Any:
    """Import the task at its first use: it needs Newton and Warp."""
    if name != "Task":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(".task", __name__).Task
