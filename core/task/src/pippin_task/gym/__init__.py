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

from .env import Env
from .vector_env import Mirror, VectorEnv

if TYPE_CHECKING:
    from .rsl_rl import RslRlVecEnvWrapper
    from .sb3 import Sb3VecEnvWrapper

__all__ = ["TASKS", "Env", "Mirror", "RslRlVecEnvWrapper", "Sb3VecEnvWrapper", "VectorEnv"]

_FOLDER = Path(__file__).parent / "tasks"

TASKS: Mapping[str, Path] = {
    "Pippin/Ant-v0": _FOLDER / "ant.toml",
    "Pippin/CartpoleSwingUp-v0": _FOLDER / "swing_up.toml",
    "Pippin/G1Velocity-v0": _FOLDER / "g1_velocity.toml",
    "Pippin/Go1GetUp-v0": _FOLDER / "go1_getup.toml",
    "Pippin/Go1Handstand-v0": _FOLDER / "go1_handstand.toml",
    "Pippin/Go1Velocity-v0": _FOLDER / "go1_velocity.toml",
    "Pippin/Go1VelocityRough-v0": _FOLDER / "go1_rough.toml",
    "Pippin/HalfCheetah-v0": _FOLDER / "half_cheetah.toml",
    "Pippin/Hopper-v0": _FOLDER / "hopper.toml",
    "Pippin/Humanoid-v0": _FOLDER / "humanoid.toml",
    "Pippin/HumanoidStandup-v0": _FOLDER / "humanoid_standup.toml",
    "Pippin/InvertedDoublePendulum-v0": _FOLDER / "inverted_double_pendulum.toml",
    "Pippin/InvertedPendulum-v0": _FOLDER / "inverted_pendulum.toml",
    "Pippin/Pusher-v0": _FOLDER / "pusher.toml",
    "Pippin/QuadrupedMotion-v0": _FOLDER / "quadruped_motion.toml",
    "Pippin/QuadrupedVelocity-v0": _FOLDER / "quadruped_velocity.toml",
    "Pippin/Reacher-v0": _FOLDER / "reacher.toml",
    "Pippin/Swimmer-v0": _FOLDER / "swimmer.toml",
    "Pippin/Walker2d-v0": _FOLDER / "walker2d.toml",
    "Pippin/YamLift-v0": _FOLDER / "yam_lift.toml",
}
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
