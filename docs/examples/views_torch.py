"""Sixteen quadrupeds driven from PyTorch without copies: they stand at different heights.

`uv run --group torch python docs/examples/views_torch.py [STEPS]`. Tensors share the memory of the views, on the
CPU and on a GPU, and the views read the computed tensors in place.
"""

import sys
from pathlib import Path

import pippin
import torch
import warp as wp

STIFFNESS, DAMPING, LIMIT = 100.0, 2.0, 80.0  # [N·m/rad], [N·m·s/rad], [N·m]
CROUCH = 0.5  # how much further the last robot bends its legs [1]


def run(step_count: int = 300, device: str = "auto") -> torch.Tensor:
    """Drive the quadrupeds, and return the height of each base at the end [m], shape [count]."""
    overrides = {"simulation.device": device, "simulation.decimation": 1}
    with pippin.Simulation.from_file(Path(__file__).with_name("quadruped.toml"), overrides) as simulation:
        simulation.set_enabled(simulation.actuators["legs"], False)  # the efforts are ours
        robots = simulation.view.articulations("*")
        positions = wp.to_torch(robots.get_dof_positions())
        velocities = wp.to_torch(robots.get_dof_velocities())
        bend = torch.linspace(1.0, 1.0 + CROUCH, robots.count, device=positions.device)
        targets = positions * bend[:, None]
        efforts = torch.empty_like(targets)

        for _ in range(step_count):
            robots.get_dof_positions()
            robots.get_dof_velocities()
            torch.sub(targets, positions, out=efforts)
            efforts.mul_(STIFFNESS).sub_(velocities, alpha=DAMPING).clamp_(-LIMIT, LIMIT)
            robots.set_dof_forces(efforts)
            simulation.step()
        simulation.raise_errors()
        return wp.to_torch(robots.get_root_transforms())[:, 2].clone()


if __name__ == "__main__":
    print(run(*map(int, sys.argv[1:])).round(decimals=2))
