"""The room of scale: many variants of one file, on executors that plugins bring, and shards of many worlds."""

from pippin.sharding.shard import Shard, shards_of

from .executor import Ended, Executor, Job

__all__ = ["Ended", "Executor", "Job", "Shard", "shards_of"]
