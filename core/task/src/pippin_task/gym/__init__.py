"""Gymnasium environments of tasks: `VectorEnv` for all worlds, `Env` for one, and adapters for other libraries.

The extra `pippin[gym]` brings Gymnasium. Importing this package registers the tasks that Pippin brings:

    gymnasium.make_vec("pippin_task.gym:Pippin/Ant-v0", num_envs=64)
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise ImportError("pippin_task.gym: Gymnasium is not installed; run `pip install 'pippin[gym]'`") from error

from pippin.late import late

from pippin_task.named_tasks import NAMED_TASKS

from .env import Env
from .vector_env import Mirror, VectorEnv

if TYPE_CHECKING:
    from .rsl_rl import RslRlVecEnvWrapper
    from .sb3 import Sb3VecEnvWrapper

__all__ = ["TASKS", "Env", "Mirror", "RslRlVecEnvWrapper", "Sb3VecEnvWrapper", "VectorEnv"]

TASKS: Mapping[str, Path] = NAMED_TASKS
"""The file of each task that Pippin brings, by the name that Gymnasium knows."""

for _name, _file in TASKS.items():
    gymnasium.register(
        id=_name,
        entry_point="pippin_task.gym:Env",
        vector_entry_point="pippin_task.gym:VectorEnv",
        kwargs={"file": str(_file)},
    )

# The libraries of the adapters take seconds to import.
__getattr__ = late(__name__)
