"""Controllers beside Newton's, both recorded: `uv run python tests/benchmarks/controllers.py`.

Arms of seven hinges, a tool each, follow goals. One side is what the host does at the start of a control step, which is
the whole of `differential-ik`; the other is Newton's `ControllerDifferentialIK` alone, whose outputs are the targets.
Both are replayed from a graph. A figure is the median of the ratios of the times of neighbouring turns, Newton's over
ours: 1 is as fast.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pippin
import warp as wp
from in_turn import in_turn, recorded
from newton.controllers import ControllerDifferentialIK

ARM = Path(__file__).parents[2] / "docs" / "examples" / "arm.xml"


def build(arms: int, device: str) -> pippin.Simulation:
    """Return a simulation of arms, whose goals are shifted by up to 5 cm."""
    config = {
        "simulation": {"dt": 0.01, "device": device},
        "scene": {
            "worlds": arms,
            "assets": [
                {"path": str(ARM), "joint_positions": {"shoulder_lift": 0.3, "elbow_lift": 1.6, "wrist_lift": 1.2}}
            ],
        },
        "solver": {"type": "mujoco"},
        "actuators": {
            "arm": {"type": "solver-pd", "joints": ["(?!.*slide).*"], "kp": 2000.0, "kd": 100.0},
        },
        "controllers": {"hand": {"type": "differential-ik", "actuator": "arm", "site": "grip"}},
    }
    simulation = pippin.Simulation(pippin.structure(config))
    hand = simulation.controllers["hand"]
    goals = hand.goals.numpy()
    goals[:, 0, :3] += np.random.default_rng(0).uniform(-0.05, 0.05, (arms, 3)).astype(np.float32)
    hand.goals.assign(goals)
    return simulation


def turns_of(arms: int, device: str) -> Iterator[tuple[float, float]]:
    """Yield the seconds of one step on each side, turn by turn; both are compared first, on the way to goals.

    They are timed at the goals, so that both compute with the same numbers.
    """
    with build(arms, device) as simulation, wp.ScopedDevice(device):
        hand, dt = simulation.controllers["hand"], simulation.control_dt
        law = ControllerDifferentialIK(
            simulation.model,
            joints=hand.joints.ravel().tolist(),
            tool_sites=hand.sites.ravel().tolist(),
            bandwidth=10.0,
            damping=0.05,
        )
        inputs, outputs = law.input(), law.output()
        inputs.joint_q = simulation.state.joint_q
        inputs.desired_tool_pose_world.assign(hand.goals.numpy()[:, 0])
        hand.start_step(simulation.state, dt)
        law.step(inputs=inputs, outputs=outputs, dt=dt)
        expected = outputs.joint_qd_target.numpy().reshape(arms, -1)
        np.testing.assert_allclose(hand.velocities.numpy(), expected, atol=1e-3)
        hand.hold()
        inputs.desired_tool_pose_world.assign(hand.goals.numpy()[:, 0])
        ours = recorded(lambda: hand.start_step(simulation.state, dt), device)
        newtons = recorded(lambda: law.step(inputs=inputs, outputs=outputs, dt=dt), device)
        yield from in_turn(ours, newtons, device)


def main() -> None:
    """Print one row for each number of arms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--arms", type=int, nargs="*", default=[64, 4096])
    arguments = parser.parse_args()
    print("| arms | ours [ms] | Newton's [ms] | Newton's ÷ ours |\n|---|---|---|---|")
    for arms in arguments.arms:
        turns = list(turns_of(arms, arguments.device))
        ratio = statistics.median(theirs / mine for mine, theirs in turns)
        mine, theirs = (1e3 * statistics.median(side) for side in zip(*turns, strict=True))
        print(f"| {arms} | {mine:.3f} | {theirs:.3f} | {ratio:.3f} |", flush=True)


if __name__ == "__main__":
    main()
