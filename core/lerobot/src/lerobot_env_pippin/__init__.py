"""Tasks of Pippin as environments of LeRobot, which finds this package by its name.

lerobot-eval --env.type=pippin --env.task=reach.toml --policy.path=outputs/reach
"""

from importlib.util import find_spec

from .env import LeRobotVectorEnv

__all__ = ["LeRobotVectorEnv"]

if find_spec("lerobot") is not None:
    from .config import PippinEnvConfig

    __all__ += ["PippinEnvConfig"]
