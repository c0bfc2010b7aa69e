"""Sharding: the worlds of a simulation, split over processes of this machine or of several."""

from .rollout_batch import RolloutBatch
from .rollout_shard import RolloutShard
from .shard import Shard
from .simulation import ShardedSimulation

__all__ = ["RolloutBatch", "RolloutShard", "Shard", "ShardedSimulation"]
