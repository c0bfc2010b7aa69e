"""The room of scale: many variants of one file, on executors that plugins bring, and shards of many worlds."""

from .executor import Ended, Executor, Job
from .shard import Shard, shards_of

__all__ = ["Ended", "Executor", "Job", "Shard", "shards_of"]
