"""49 values of a quadruped in the air by `pippin fit`: `uv run python tests/benchmarks/fit_quadruped.py`.

The case is that of PACE (arXiv 2509.06342): the base of a quadruped is held, and its twelve joints follow chirps from
0.1 Hz to 10 Hz for 20 s at 400 Hz. Armature, damping, friction and the offset of the encoder of each joint are unknown,
and one delay. Goals: each value within 1 %, the delay exact in steps, 10 minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pippin
import pippin_fit
from pippin.config import toml_text

TRUTH = {"armature": 0.1, "damping": 4.5, "friction": 0.05, "offset": 0.05}
STARTS = {"armature": 0.02, "damping": 1.0, "friction": 0.2}
RANGES = {"armature": [1e-5, 1.0], "damping": [0.0, 7.0], "friction": [0.0, 0.5]}
DT, DURATION, LATE = 0.0025, 20.0, 5
LEGS = ("front_left", "front_right", "rear_left", "rear_right")
JOINTS = [f"{leg}_{joint}" for leg in LEGS for joint in ("roll", "pitch", "knee")]


def quadruped() -> str:
    """Return the quadruped as MJCF; its base is held."""
    bodies = ""
    for number, leg in enumerate(LEGS):
        x, y = (0.3 if number < 2 else -0.3), (0.1 if number % 2 == 0 else -0.1)
        bodies += f"""
    <body name="{leg}_hip" pos="{x} {y} 1">
      <inertial pos="0.05 0 0" mass="2.0" diaginertia="0.005 0.005 0.005"/>
      <joint name="{leg}_roll" axis="1 0 0"/>
      <body name="{leg}_thigh" pos="0.06 {y / 2} 0">
        <inertial pos="0 0.01 -0.1" mass="2.5" diaginertia="0.03 0.03 0.005"/>
        <joint name="{leg}_pitch" axis="0 1 0"/>
        <body name="{leg}_shank" pos="0 0 -0.28">
          <inertial pos="0.02 0 -0.12" mass="0.6" diaginertia="0.006 0.006 0.0005"/>
          <joint name="{leg}_knee" axis="0 1 0"/>
        </body>
      </body>
    </body>"""
    return f'<mujoco model="quadruped"><worldbody>{bodies}</worldbody></mujoco>'


def tables(folder: Path, **values: Any) -> dict[str, Any]:
    """Return the tables of the quadruped with its drives."""
    (folder / "quadruped.xml").write_text(quadruped(), encoding="utf-8")
    return {
        "simulation": {"dt": DT, "device": "cpu"},
        "scene": {"assets": [{"path": str(folder / "quadruped.xml")}]},
        "solver": {"type": "mujoco-native"},
        "actuators": {"legs": {"type": "pd", "joints": [".*"], "kp": 85.0, "kd": 0.6, **values}},
    }


def log(folder: Path, noise: float) -> None:
    """Write a log of the true quadruped."""
    times = np.arange(round(DURATION / DT)) * DT
    phase = 2.0 * np.pi * (0.1 * times + (10.0 - 0.1) * times**2 / (2.0 * DURATION))
    signs = np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    told = 0.4 * np.sin(phase)[:, None] * signs * np.minimum(times, 1.0)[:, None]
    own = {name: value for name, value in TRUTH.items() if name != "offset"}
    positions = []
    with pippin.Simulation(tables(folder, **own)) as robot:
        legs = robot.actuators["legs"]
        for step in range(len(times)):
            positions.append(robot.state.joint_q.numpy() + TRUTH["offset"])
            late = told[max(step - LATE, 0)] - TRUTH["offset"]
            legs.position_targets.assign(late[None].astype(np.float32))
            robot.step()
    measured = np.array(positions) + noise * np.random.default_rng(0).normal(size=(len(times), 12))
    np.savez(folder / "log.npz", time=times, position=measured, command=told, joints=np.array(JOINTS))


def main() -> None:
    """Print the worst error of each family, the delay, and the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", type=float, default=0.0, help="on positions [rad]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log(folder, options.noise)
        parameters: dict[str, Any] = {f"actuators.legs.{key}": {"range": ends} for key, ends in RANGES.items()}
        parameters["signals.offset"] = {"range": [-0.1, 0.1]}
        parameters["signals.delay"] = {"range": [0.0, 10 * DT]}
        file = folder / "quadruped.toml"
        fit = {"window": "whole", "burn_in": 1.0, "tolerance": 1e-9, "parameters": parameters}
        file.write_text(toml_text({**tables(folder, **STARTS), "fit": fit}), encoding="utf-8")
        begun, processor = time.perf_counter(), time.process_time()
        result = pippin_fit.fit(file, [folder / "log.npz"], out=folder / "fitted")
        seconds, processor = time.perf_counter() - begun, time.process_time() - processor
    print("| family | worst error |\n|---|---|")
    for family, truth in TRUTH.items():
        key = "signals.offset" if family == "offset" else f"actuators.legs.{family}"
        worst = max(abs(value / truth - 1.0) for value in result.value(key).values())
        print(f"| {family} | {100 * worst:.3g} % |")
    (delay,) = result.value("signals.delay").values()
    print(f"| delay | {delay / DT:.3f} steps for {LATE} |")
    print(
        f"{len(result.verdicts)} values, {sum(each.is_identified for each in result.verdicts)} identified,"
        f" {len(result.costs) - 1} iterations, {result.rollouts} rollouts, {seconds:.0f} s with build,"
        f" {processor:.0f} s of processor time, load {os.getloadavg()[0]:.0f}: {result.ended}"
    )


if __name__ == "__main__":
    main()
