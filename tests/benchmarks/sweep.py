"""Time of a sweep of 20 short variants: `uv run python tests/benchmarks/sweep.py [--turns N]`.

A sweep on two processes, divided by the sum of the run times of its variants one by one (`pippin run`, a process each;
and, as a stricter measure, by the times of the variants in the one warm process of a sweep on one). Both take turns,
and medians are printed with the load of the machine: other work makes the ratio larger.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs/examples/cartpole.toml"
PIPPIN = Path(sys.executable).with_name("pippin")
VARIANTS = 20
OPTIONS = ["--set", "simulation.device=cpu", "--steps", "200"]


def sweep(folder: Path, processes: int) -> tuple[float, float]:
    """Return the wall time of a sweep, and the sum of the times of its variants [s]."""
    over = ["--over", f"simulation.seed=0..{VARIANTS - 1}", "--processes", str(processes), "--out", str(folder)]
    began = time.perf_counter()
    subprocess.run([PIPPIN, "sweep", FILE, *over, *OPTIONS], check=True, capture_output=True)
    wall = time.perf_counter() - began
    with (folder / "results.csv").open(newline="") as file:
        return wall, sum(float(row["seconds"]) for row in csv.DictReader(file))


def bare(folder: Path, seed: int) -> float:
    """Return the wall time of one variant in a process of its own [s]."""
    began = time.perf_counter()
    setting = ["--set", f"simulation.seed={seed}", "--out", str(folder)]
    subprocess.run([PIPPIN, "run", FILE, *setting, *OPTIONS], check=True, capture_output=True)
    return time.perf_counter() - began


def main() -> None:
    """Print the medians of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as out:
        bare(Path(out, "warm"), 0)  # fills the kernel cache
        to_runs, to_warm, walls = [], [], []
        for turn in range(turns):
            wall, _ = sweep(Path(out, f"two-{turn}"), 2)
            _, warm = sweep(Path(out, f"one-{turn}"), 1)
            runs = sum(bare(Path(out, f"bare-{turn}-{seed}"), seed) for seed in range(VARIANTS))
            walls.append(wall)
            to_runs.append(wall / runs)
            to_warm.append(wall / warm)
    print(
        f"sweep of {VARIANTS} variants on 2 processes: {statistics.median(walls):.1f} s, load {os.getloadavg()[0]:.1f}"
    )
    print(f"÷ the sum of the runs by `pippin run`: {statistics.median(to_runs):.2f}")
    print(f"÷ the sum of the runs in one warm process: {statistics.median(to_warm):.2f}")


if __name__ == "__main__":
    main()
