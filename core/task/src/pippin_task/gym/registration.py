"""Registration of the tasks that Pippin brings, under the names `Pippin/NAME-v0`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import gymnasium

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


def register_tasks() -> None:
    """Register the tasks with Gymnasium."""
    for name, file in TASKS.items():
        gymnasium.register(
            id=name,
            entry_point="pippin_task.gym:Env",
            vector_entry_point="pippin_task.gym:VectorEnv",
            kwargs={"file": str(file)},
        )
