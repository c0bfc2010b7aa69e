"""Start of a worker that steps a scene: `uv run --group dev python tests/benchmarks/worker_start.py [FILE]`.

A fork of the warm process builds the simulation of a file and takes a step; a fresh process does the same. Both take
turns; medians of their CPU times are printed, which hold better than wall times where other work shares the cores. The
warm process has started, as it does once for all workers of a program, and the kernel cache is filled.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

from pippin.sharding import ShardedSimulation

ROOT = Path(__file__).parents[2]
ANT = ROOT / "docs/examples/ant.toml"
STARTS = {"fork": {}, "fresh process": {"PIPPIN_WORKERS": "spawn"}}


def own_cpu(simulation: object) -> float:
    """Return the CPU time of this process [s]."""
    return time.process_time()


def start(file: Path, variables: dict[str, str]) -> tuple[float, float]:
    """Return CPU time of a worker until its first step is taken, and the wall time [s]."""
    os.environ.update(variables)
    began = time.perf_counter()
    try:
        with ShardedSimulation(file, shards=1, overrides={"simulation.device": "cpu"}) as simulation:
            simulation.step()
            (cpu,) = simulation.call("worker_start:own_cpu")
            return cpu, time.perf_counter() - began
    finally:
        for name in variables:
            del os.environ[name]


def main() -> None:
    """Print both, and the median of the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=ANT)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    pairs = [[start(given.file, each) for each in STARTS.values()] for _ in range(given.turns + 1)][1:]
    print("| start | CPU [s] | wall [s] |\n|---|---|---|")
    for name, each in zip(STARTS, zip(*pairs, strict=True), strict=True):
        cpu, wall = (statistics.median(values) for values in zip(*each, strict=True))
        print(f"| {name} | {cpu:.2f} | {wall:.2f} |")
    ratios = [statistics.median(fork[i] / fresh[i] for fork, fresh in pairs) for i in range(2)]
    print(f"| ratio | {ratios[0]:.2f} | {ratios[1]:.2f} |\n\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
