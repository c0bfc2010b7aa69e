"""Sharding: the worlds of a simulation, split over processes of this machine or of several."""

from .shard import Shard, shard_count, shards_of
from .shard_pool import shard_pool
from .simulation import ShardedSimulation

__all__ = ["Shard", "ShardedSimulation", "shard_count", "shard_pool", "shards_of"]
