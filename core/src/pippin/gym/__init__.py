"""Gymnasium environments of tasks: `VectorEnv` for all worlds, `Env` for one, and adapters for other libraries.

The extra `pippin[gym]` brings Gymnasium. Importing this package registers the tasks that Pippin brings:

    gymnasium.make_vec("pippin.gym:Pippin/Ant-v0", num_envs=64)
"""

try:
    import gymnasium  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("pippin.gym: Gymnasium is not installed; run `pip install 'pippin[gym]'`") from error

from .adapters import rsl_rl, sb3
from .env import Env
from .registration import TASKS, register_tasks
from .vector_env import VectorEnv

__all__ = ["TASKS", "Env", "VectorEnv", "rsl_rl", "sb3"]

register_tasks()
