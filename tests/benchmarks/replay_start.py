"""Start of replays: `uv run --group dev python tests/benchmarks/replay_start.py [FILE]`.

A process with Warp alone loads the export of a file and takes a step; another one builds the simulation and takes a
step. `pippin view` opens a page of the recording of a run, and of the file itself, until it tells the address. All take
turns; medians of their CPU times are printed, which hold better than wall times where other work shares the cores.
Python may keep its bytecode, and the kernel cache is filled.
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
PAGE = """
import subprocess, sys
with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
    text = next(line for line in process.stdout if line.startswith("page: "))
    process.terminate()
"""


def main() -> None:
    """Print both, and the median of the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=ANT)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        on_cpu = ["--set", "simulation.device=cpu"]
        run = [PIPPIN, "run", given.file, "--out", folder / "run", "--steps", "20", "--record-worlds", "4", *on_cpu]
        for command in ([PIPPIN, "export", given.file, folder / "step", *on_cpu], run):
            subprocess.run(command, check=True, capture_output=True)
        page = [sys.executable, "-c", PAGE, PIPPIN, "view", "--no-browser"]
        sides = {
            "simulation": [sys.executable, "-c", BUILD, given.file],
            "exported step": [sys.executable, "-c", REPLAY, folder / "step"],
            "page of a simulation": [*page, given.file, *on_cpu],
            "page of a recording": [*page, folder / "run"],
        }
        turns: list[list[Took]] = [[took(each, folder) for each in sides.values()] for _ in range(given.turns + 1)][1:]
    print("| start | CPU [s] | wall [s] |\n|---|---|---|")
    for name, each in zip(sides, zip(*turns, strict=True), strict=True):
        cpu, wall = (statistics.median(getattr(one, field) for one in each) for field in ("cpu", "wall"))
        print(f"| {name} | {cpu:.2f} | {wall:.2f} |")
    for name, index in (("exported step ÷ simulation", 0), ("page of a recording ÷ of a simulation", 2)):
        ratio = statistics.median(turn[index + 1].cpu / turn[index].cpu for turn in turns)
        print(f"| {name} | {ratio:.2f} | |")
    print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
