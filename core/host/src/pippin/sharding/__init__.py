"""Sharding: the worlds of a simulation, split over processes of this machine or of several."""

from .shard import Shard, shard_count, shards_of
from .simulation import ShardedSimulation
from .worker_pool import shard_pool

__all__ = ["Shard", "ShardedSimulation", "shard_count", "shard_pool", "shards_of"]
