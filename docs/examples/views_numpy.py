"""Sixteen quadrupeds driven from NumPy through views alone: all stand, and then every other one lies down.

`python docs/examples/views_numpy.py [STEPS]`
"""

import sys
from pathlib import Path

import numpy as np
import pippin

STIFFNESS, DAMPING, LIMIT = 100.0, 2.0, 80.0  # [N·m/rad], [N·m·s/rad], [N·m]
LYING = {"HFE": 1.1, "KFE": -2.2}  # hip and knee of a left leg [rad]; right legs turn the other way


def lying_pose(names: tuple[str, ...]) -> np.ndarray:
    """Return the position of each DOF of a quadruped that lies [rad], shape [dofs]."""
    sign = np.array([1.0 if name.startswith("L") else -1.0 for name in names])
    return (sign * [LYING.get(name.rpartition("_")[2], 0.0) for name in names]).astype(np.float32)


def run(step_count: int = 600) -> np.ndarray:
    """Drive the quadrupeds, and return the height of each base at the end [m], shape [count]."""
    overrides = {"simulation.device": "cpu", "simulation.decimation": 1}
    with pippin.Simulation.from_file(Path(__file__).with_name("quadruped.toml"), overrides) as simulation:
        simulation.set_enabled(simulation.actuators["legs"], False)  # the efforts are ours
        robots = simulation.view.articulations("*")
        targets = robots.get_dof_positions().numpy().copy()
        positions, velocities = np.zeros_like(targets), np.zeros_like(targets)

        for step in range(step_count):
            if step == step_count // 2:
                targets[::2] = lying_pose(robots.dof_names)
            robots.get_dof_positions(out=positions)
            robots.get_dof_velocities(out=velocities)
            efforts = STIFFNESS * (targets - positions) - DAMPING * velocities
            robots.set_dof_forces(np.clip(efforts, -LIMIT, LIMIT))
            simulation.step()
        simulation.raise_errors()
        return robots.get_root_transforms().numpy()[:, 2].copy()


if __name__ == "__main__":
    print(np.round(run(*map(int, sys.argv[1:])), 2))
