"""Start of a worker from an exported step: `uv run --group dev python tests/benchmarks/replay_start.py [FILE]`.

A process with Warp alone loads the export of a file and takes a step; another one builds the simulation and takes a
step. Both take turns; medians of their CPU times are printed, which hold better than wall times where other work shares
the cores. Python may keep its bytecode, and the kernel cache is filled.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from start_up import ANT, PIPPIN, Took, took

BUILD = """
import sys
from pippin import Simulation
with Simulation.from_file(sys.argv[1], {"simulation.device": "cpu"}) as simulation:
    simulation.step()
    print(simulation.time)
"""
REPLAY = """
import sys
sys.path.insert(0, sys.argv[1])
import replay
step = replay.Replay(sys.argv[1])
step.step()
print(step.time)
"""


def main() -> None:
    """Print both, and the median of the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=ANT)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        export = [PIPPIN, "export", given.file, folder / "step", "--set", "simulation.device=cpu"]
        subprocess.run(export, check=True, capture_output=True)
        sides = ([sys.executable, "-c", BUILD, given.file], [sys.executable, "-c", REPLAY, folder / "step"])
        pairs: list[list[Took]] = [[took(side, folder) for side in sides] for _ in range(given.turns + 1)][1:]
    print("| start | CPU [s] | wall [s] |\n|---|---|---|")
    for name, each in zip(("simulation", "exported step"), zip(*pairs, strict=True), strict=True):
        cpu, wall = (statistics.median(getattr(one, field) for one in each) for field in ("cpu", "wall"))
        print(f"| {name} | {cpu:.2f} | {wall:.2f} |")
    ratio = statistics.median(replay.cpu / build.cpu for build, replay in pairs)
    print(f"| ratio | {ratio:.2f} | |\n\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
