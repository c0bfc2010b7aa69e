"""Pippin for LeRobot, which finds this package by its name: tasks as environments, simulations as robots, motions as
teleoperators.

lerobot-eval --env.type=pippin --env.task=reach.toml --policy.path=outputs/reach
lerobot-record --robot.type=pippin --robot.file=so101.toml --teleop.type=pippin --teleop.file=so101.toml …
"""

from importlib.util import find_spec

from .env import LeRobotVectorEnv

__all__ = ["LeRobotVectorEnv"]

if find_spec("lerobot") is not None:
    from .config import PippinEnvConfig
    from .robot import PippinRobot, PippinRobotConfig
    from .teleoperator import PippinTeleoperator, PippinTeleoperatorConfig

    __all__ += [
        "PippinEnvConfig",
        "PippinRobot",
        "PippinRobotConfig",
        "PippinTeleoperator",
        "PippinTeleoperatorConfig",
    ]
