"""Arms with known parameters, and logs of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pippin

PENDULUM = """
<mujoco model="pendulum">
  <compiler autolimits="true"/>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <inertial pos="0 0 -0.2" mass="1.2" diaginertia="0.012 0.012 0.001"/>
      <joint name="shoulder" axis="0 1 0"/>
      <body name="lower" pos="0 0 -0.4">
        <inertial pos="0.02 0 -0.15" mass="0.7" diaginertia="0.005 0.005 0.0005"/>
        <joint name="elbow" axis="0 1 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

TRUTH = {"armature": (0.08, 0.03), "damping": (0.6, 0.25), "friction": (0.3, 0.12)}
STARTS = {"armature": 0.03, "damping": 0.25, "friction": 0.1}


def tables(folder: Path, solver: str = "mujoco-native", **values: Any) -> dict[str, Any]:
    """Return the tables of a double pendulum that a drive moves."""
    file = folder / "pendulum.xml"
    file.write_text(PENDULUM, encoding="utf-8")
    drive = {"type": "pd", "joints": [".*"], "kp": 60.0, "kd": 2.0, **STARTS, **values}
    drive = {name: value for name, value in drive.items() if value is not None}
    return {
        "simulation": {"dt": 0.005, "device": "cpu"},
        "scene": {"assets": [{"path": str(file)}]},
        "solver": {"type": solver},
        "actuators": {"arm": drive},
    }


def commands(times: np.ndarray, seed: int = 0, joints: int = 2) -> np.ndarray:
    """Return targets of the joints [rad]: tones with random phases."""
    tones = np.array([0.2, 0.5, 0.9, 1.7, 2.6])
    phases = np.random.default_rng(seed).uniform(0.0, 2 * np.pi, (joints, len(tones)))
    swings = 0.25 / np.sqrt(tones / tones[0])
    angles = (swings * np.sin(2 * np.pi * tones * times[:, None, None] + phases)).sum(axis=2)
    return angles * np.minimum(times, 1.0)[:, None]


def log(
    file: Path, tables: dict[str, Any], seconds: float, noise: float = 0.0, lag: int = 0, seed: int = 0
) -> dict[str, np.ndarray]:
    """Write a log of a simulated robot: its commands, which act `lag` steps late, and what it measured with noise."""
    random = np.random.default_rng(seed)
    rows: dict[str, list[Any]] = {"time": [], "position": [], "velocity": [], "command": []}
    with pippin.Simulation(tables) as simulation:
        arm = simulation.actuators["arm"]
        told = commands(np.arange(round(seconds / simulation.control_dt)) * simulation.control_dt, seed)
        for step, command in enumerate(told):
            rows["time"].append(simulation.time)
            rows["position"].append(simulation.state.joint_q.numpy().copy())
            rows["velocity"].append(simulation.state.joint_qd.numpy().copy())
            rows["command"].append(command)
            arm.position_targets.assign(told[max(step - lag, 0)][None].astype(np.float32))
            simulation.step()
        joints = list(arm.joint_labels)
    arrays = {name: np.array(values, dtype=float) for name, values in rows.items()}
    arrays["position"] += noise * random.normal(size=arrays["position"].shape)
    arrays["velocity"] += 10.0 * noise * random.normal(size=arrays["velocity"].shape)
    arrays["joints"] = np.array([joint.rpartition("/")[2] for joint in joints])
    np.savez(file, **arrays)
    return arrays
