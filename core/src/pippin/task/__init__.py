"""Tasks: what makes a simulation an environment to learn in, term by term.

A term is a plugin of one of six kinds: a quantity is measured, a reward and a termination judge it, an action sets
targets, an event changes the simulation at random, and a command is a wish drawn at random.
"""

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
    "Termination",
]
