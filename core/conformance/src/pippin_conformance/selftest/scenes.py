"""Scenes of a self-test: robots of Newton's own assets, as tables of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ASSETS = "pkg:newton/examples/assets"
_ANT = {"path": f"{_ASSETS}/nv_ant.xml", "ignore": ["floor"]}
_ANT |= {"joint_positions": {"ankle_[14]": 1.0, "ankle_[23]": -1.0}}
_KNEES = {"L[FH]_HFE": 0.4, "R[FH]_HFE": -0.4, "L[FH]_KFE": -0.6, "R[FH]_KFE": 0.6}
_QUADRUPED = {"path": f"{_ASSETS}/quadruped.urdf", "floating": True, "position": [0.0, 0.0, 0.7]}
_QUADRUPED |= {"self_collisions": False, "armature": 0.02, "joint_positions": _KNEES}

ROBOTS: Mapping[str, dict[str, Any]] = {
    "ant": {"scene": {"ground": True, "assets": [_ANT]}},
    "quadruped": {"scene": {"ground": True, "assets": [_QUADRUPED]}},
    "cartpole": {"scene": {"assets": [{"path": f"{_ASSETS}/cartpole.urdf"}]}},
}
"""Robots without actuators and sensors, whose steps are those of the solver."""

_EYE = {"body": "base", "position": [0.5, 0.0, 0.1], "look_at": [1.3, 0.0, -0.3], "width": 16, "height": 12}
SENSORS: Mapping[str, dict[str, Any]] = {
    "joint-state": {"joints": [".*_KFE"]},
    "imu": {"body": "base"},
    "object-state": {"bodies": {"of": ".*_SHANK"}},
    "contact": {"bodies": [".*_SHANK"]},
    "frame-transform": {"body": ".*_SHANK", "reference": {"body": "base"}},
    "joint-wrench": {"joints": [".*_KFE"]},
    "ray-caster": {"body": "base", "align": "yaw", "grid": {"size": [1.0, 0.5], "resolution": 0.25}},
    "camera": {**_EYE, "horizontal_fov": 1.2, "outputs": ["depth"], "no_hit": "max-distance", "max_distance": 5.0},
}
"""A sensor of each type, on the quadruped."""

EPISODE = 5
"""Control steps of an episode of the task."""

_OBSERVED = {"positions": {"of": "joint-positions"}, "velocities": {"of": "joint-velocities"}}
TASK: dict[str, Any] = {
    **ROBOTS["cartpole"],
    "actuators": {"cart": {"type": "pd", "joints": ["slider_to_cart"], "kp": 50.0, "kd": 5.0}},
    "task": {
        "episode_length": 0.02 * EPISODE,
        "actions": {"cart": {"type": "joint-targets", "actuator": "cart"}},
        "observations": {"policy": _OBSERVED},
        "rewards": {"alive": {"type": "alive", "weight": 1.0}},
        "events": {"start": {"type": "joints", "position": [-0.1, 0.1], "velocity": [-0.1, 0.1]}},
    },
}
"""A task whose episodes are short and begin with random joints."""

SETTINGS: Mapping[str, dict[str, Any]] = {
    "implicit-mpm": {"config": {"separate_worlds": True, "grid_type": "dense"}},
    "kamino": {"config": {"max_contacts_per_world": 64}, "dt": 0.004},
    "semi-implicit": {"config": {"angular_damping": 0.0}, "dt": 0.0005},
}
"""What solvers need to simulate the scene of the conformance kit."""


def tables(robot: Mapping[str, Any], solver: str, worlds: int, device: str, capture: str = "auto") -> dict[str, Any]:
    """Return the tables of a simulation of a robot."""
    step = {"device": device, "dt": 0.005, "decimation": 4, "capture": capture}
    return {**robot, "simulation": step, "scene": {**robot["scene"], "worlds": worlds}, "solver": {"type": solver}}
