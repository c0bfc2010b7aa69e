"""Sharding: the worlds of a simulation, split over processes of this machine or of several."""

from pippin_task.rollouts.rollout_batch import RolloutBatch
from pippin_task.rollouts.rollout_shard import RolloutShard
from .shard import Shard
from .simulation import ShardedSimulation

__all__ = ["RolloutBatch", "RolloutShard", "Shard", "ShardedSimulation"]
