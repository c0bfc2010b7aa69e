"""Sharding: the worlds of a simulation, split over processes of this machine or of several."""

from .shard import Shard
from .simulation import ShardedSimulation

__all__ = ["Shard", "ShardedSimulation"]
