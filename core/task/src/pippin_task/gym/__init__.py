"""Gymnasium environments of tasks: `VectorEnv` for all worlds, `Env` for one, and adapters for other libraries.

The extra `pippin[gym]` brings Gymnasium. Importing this package registers the tasks that Pippin brings:

    gymnasium.make_vec("pippin_task.gym:Pippin/Ant-v0", num_envs=64)
"""

from typing import TYPE_CHECKING

try:
    import gymnasium  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("pippin_task.gym: Gymnasium is not installed; run `pip install 'pippin[gym]'`") from error

from pippin.late import late

from .env import Env
from .mirror import Mirror
from .registration import TASKS, register_tasks
from .vector_env import VectorEnv

if TYPE_CHECKING:
    from .rsl_rl import RslRlVecEnvWrapper
    from .sb3 import Sb3VecEnvWrapper

__all__ = ["TASKS", "Env", "Mirror", "RslRlVecEnvWrapper", "Sb3VecEnvWrapper", "VectorEnv"]

register_tasks()

# The libraries of the adapters take seconds to import.
__getattr__ = late(__name__)
