"""An arm of seven hinges with a gripper, and a cube before it."""

from pathlib import Path

import pippin
from pippin.config import structure

ARM = Path(__file__).parents[2] / "docs" / "examples" / "arm.xml"
START = {"shoulder_lift": 0.3, "elbow_lift": 1.6, "wrist_lift": 1.24}
DRIVEN = ["shoulder_.*", "elbow_.*", "upper_roll", "forearm_roll", "wrist_.*"]


def simulate(controller, worlds=1, dt=0.01, gravity=(0.0, 0.0, 0.0), objects=(), **tables):
    """Build a simulation of the arm, whose group `arm` a controller `hand` commands, unless it is None."""
    config = {
        "simulation": {"dt": dt, "device": "cpu", **tables.pop("simulation", {})},
        "scene": {
            "worlds": worlds,
            "gravity": gravity,
            "assets": [{"path": str(ARM), "joint_positions": START}],
            "objects": list(objects),
        },
        "solver": {"type": "mujoco"},
        "actuators": {"arm": {"type": "solver-pd", "joints": DRIVEN, "kp": 2000.0, "kd": 100.0}},
    }
    if controller is not None:
        tool = {} if "body" in controller else {"site": "grip"}
        config["controllers"] = {"hand": {"actuator": "arm", **tool, **controller}}
    return pippin.Simulation(structure({**config, **tables}))
