"""Sharding: the worlds of a simulation, split over processes of this machine or of several."""

from .folder import read_folder, write_folder
from .shard import Shard, config_of_worlds, shard_count, shard_pool, shards_of
from .simulation import ShardedSimulation

__all__ = [
    "Shard",
    "ShardedSimulation",
    "config_of_worlds",
    "read_folder",
    "shard_count",
    "shard_pool",
    "shards_of",
    "write_folder",
]
