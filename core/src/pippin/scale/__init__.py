"""The room of scale: many variants of one file, on executors that plugins bring, and shards of many worlds."""

from pippin.sharding.shard import Shard, shards_of
from pippin.sharding.simulation import ShardedSimulation

from .executor import Ended, Executor, Job
from .rollout_block import RolloutBlock
from .rollout_shard import RolloutShard

__all__ = ["Ended", "Executor", "Job", "RolloutBlock", "RolloutShard", "Shard", "ShardedSimulation", "shards_of"]
