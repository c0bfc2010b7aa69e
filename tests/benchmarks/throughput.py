"""Throughput of Pippin beside loops written by hand: `uv run python tests/benchmarks/throughput.py`.

Both sides run in this process, in turn, on the same model, and must end in the same bits. A figure is the median of
the ratios of neighbouring runs, so that it holds where the speed of the machine drifts.
"""

from __future__ import annotations

import argparse
import platform
import statistics
from collections.abc import Callable

import numpy as np
import pippin
import robots
import warp as wp
from hand_written import HandWrittenLoop
from in_turn import TURNS, seconds

CASES: tuple[tuple[str, Callable[..., pippin.Simulation], str, float], ...] = (
    ("nv_ant", robots.ant, "mujoco", 0.005),
    ("nv_ant", robots.ant, "xpbd", 0.005),
    ("chain of 8", robots.chain, "mujoco", 0.002),
    ("chain of 8", robots.chain, "xpbd", 0.002),
    ("chain of 8", robots.chain, "featherstone", 0.002),
    ("chain of 8", robots.chain, "semi-implicit", 0.002),
)
DECIMATION = 4


def beside(simulation: pippin.Simulation, solver: str) -> HandWrittenLoop:
    """Return the loop a user would write over the simulation's model, with the same actuators and sensors."""
    (actuator,) = simulation.actuators.values()
    model, step = simulation.model, simulation.config.simulation
    starts = model.joint_qd_start.numpy()
    joints = np.searchsorted(starts, actuator.actuated_dofs.numpy())
    is_ant = "torso" in model.body_label[0]
    feet = [index for index, label in enumerate(model.body_label) if label.endswith("foot")]
    sites = [index for index, label in enumerate(model.shape_label) if label.endswith("torso/site")]
    return HandWrittenLoop(
        model,
        solver,
        joints,
        robots.ANT_GAINS if is_ant else robots.CHAIN_GAINS,
        sites=sites,
        bodies=feet if is_ant else (),
        dt=step.dt,
        decimation=step.decimation,
    )


def ratio(
    ours: Callable[[int], None], theirs: Callable[[int], None], device: wp.Device, budget: float
) -> tuple[float, int]:
    """Return the median of their time over ours, and the steps run on each side.

    Args:
        ours: Advances Pippin by some steps.
        theirs: Advances the loop by hand by as many.
        device: Where both run.
        budget: Time to spend [s].
    """
    once = max(seconds(ours, 3, device), seconds(theirs, 3, device)) / 3
    count = max(1, round(budget / (2 * TURNS) / once))
    found, total = [], 3
    for turn in range(TURNS):
        first, second = (ours, theirs) if turn % 2 else (theirs, ours)
        times = {first: seconds(first, count, device), second: seconds(second, count, device)}
        found.append(times[theirs] / times[ours])
        total += count
    return statistics.median(found), total


def measure(case: tuple, worlds: int, device: str, budget: float) -> dict[str, float | str]:
    """Return one row: ratios to a captured and to an eager loop, and Pippin's own throughput.

    Raises:
        AssertionError: The two sides do not end in the same bits.
    """
    robot, build, solver, dt = case
    with build(solver, worlds, device, dt, DECIMATION) as simulation:
        by_hand = beside(simulation, solver)
        simulation.step()
        by_hand.run(1)
        by_hand.capture()
        captured, steps = ratio(simulation.step, by_hand.replay, simulation.device, budget)
        simulation.raise_errors()
        assert simulation.state.joint_q.numpy().tobytes() == by_hand.joint_q().tobytes(), f"{robot}, {solver} differ"
        elapsed = seconds(simulation.step, max(1, steps // 10), simulation.device)
        row = {"robot": robot, "solver": solver, "worlds": worlds, "captured": captured}
        row["world_steps_per_second"] = worlds * DECIMATION * max(1, steps // 10) / elapsed
        if (robot, solver) == ("nv_ant", "mujoco"):
            row["eager"], _ = ratio(simulation.step, by_hand.run, simulation.device, budget)
    return row


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--worlds", type=int, nargs="+", default=[1, 64, 512])
    parser.add_argument("--seconds", type=float, default=12.0, help="time for each comparison")
    arguments = parser.parse_args()
    print(f"Device {arguments.device}, {platform.machine()}, {DECIMATION} physics steps per control step.\n")
    print("| robot | solver | worlds | ÷ captured by hand | ÷ eager by hand | world-steps/s |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        for worlds in arguments.worlds:
            row = measure(case, worlds, arguments.device, arguments.seconds)
            eager = f"{row['eager']:.1f}" if "eager" in row else ""
            print(
                f"| {row['robot']} | {row['solver']} | {row['worlds']} | {row['captured']:.3f} | {eager}"
                f" | {row['world_steps_per_second']:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    from pippin.devices import leave_out_backward_kernels

    leave_out_backward_kernels()
    main()
