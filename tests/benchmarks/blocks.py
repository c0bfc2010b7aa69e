"""Worlds in blocks, and blocks on threads, beside all worlds in one simulation on one thread:
`uv run python tests/benchmarks/blocks.py [--worlds N] [--solver NAME] [--threads]`.

Ants with PD legs, an IMU and contacts of feet. Blocks are simulations of their own, so that the arrays of a block fit
the cache while its kernels run one after the other. Threads replay the recorded steps themselves: a step of a
simulation holds a lock for all of Warp. Sides take turns, and medians of world steps per second are printed, each
divided by that of one simulation. On `mujoco`, threads end the process: see the decision page `processes-not-threads`.
"""

from __future__ import annotations

import argparse
import contextlib
import operator
import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pippin

ANT = Path(__file__).parents[2] / "docs/examples/ant.toml"
SUBSTEPS = {"mujoco": 2, "xpbd": 4}
WARM_UP, STEPS, TURNS = 20, 2, 7


Replay = Callable[[], object]


def replay_of(stack: contextlib.ExitStack, solver: str, worlds: int) -> Replay:
    """Build a simulation, and return what replays its recorded step."""
    accepted = [] if solver == "mujoco" else ["armature", "joint_damping"]
    settings = {
        "simulation.device": "cpu",
        "simulation.substeps": SUBSTEPS[solver],
        "simulation.accept_unsupported": accepted,
        "scene.worlds": worlds,
        "solver.type": solver,
    }
    simulation = stack.enter_context(pippin.Simulation(pippin.load(ANT, settings)))
    simulation.step(WARM_UP)  # they stand on their feet
    (segment,) = simulation.program.segments
    (replay,) = segment.calls()
    return replay


def seconds(blocks: Sequence[Replay], pool: ThreadPoolExecutor | None) -> float:
    """Return how long all blocks take for some steps [s], on this thread or on those of a pool."""
    start = time.perf_counter()
    for _ in range(STEPS):
        for _ in (map if pool is None else pool.map)(operator.call, blocks):
            pass
    return time.perf_counter() - start


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=4096)
    parser.add_argument("--solver", choices=SUBSTEPS, default="mujoco")
    parser.add_argument("--threads", action="store_true")
    options = parser.parse_args()
    sizes = [*(size for size in (64, 256, 1024) if size < options.worlds), options.worlds]
    threads = os.cpu_count() or 1
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(threads) as pool:
        sides: dict[tuple[int, bool], Sequence[Replay]] = {}
        for size in sizes:
            blocks = [replay_of(stack, options.solver, size) for _ in range(options.worlds // size)]
            sides[size, False] = blocks
            if options.threads and len(blocks) >= threads:
                sides[size, True] = blocks
        times: dict[tuple[int, bool], list[float]] = {side: [] for side in sides}
        for turn in range(TURNS):
            for size, is_threaded in sorted(sides, reverse=bool(turn % 2)):
                blocks = sides[size, is_threaded]
                times[size, is_threaded].append(seconds(blocks, pool if is_threaded else None))
    whole = statistics.median(times[sizes[-1], False])
    print(f"{options.solver}, {options.worlds} ants, load {os.getloadavg()[0]:.1f} on {threads} cores")
    print("block  threads  world steps/s  ÷ one simulation")
    for (size, is_threaded), own in sorted(times.items()):
        rate = options.worlds * STEPS / statistics.median(own)
        print(f"{size:5d}  {threads if is_threaded else 1:7d}  {rate:13.0f}  {whole / statistics.median(own):.2f}")


if __name__ == "__main__":
    main()
