"""A training in two processes beside one: `uv run --group dev --group rl python tests/benchmarks/train_processes.py`.

Prints steps per second of ants whose physics takes most of the time, each process on one thread. Both sides take turns,
and medians are printed with the load of the machine. The ratio of processor times, which other work changes less, is
what two free cores give at best: twice the processor time of one process, divided by that of two. With `--curves`, a
cart with a pole learns with each of some seeds, in one process with all worlds and in two with half of them each.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PIPPIN = Path(sys.executable).with_name("pippin")
ANT = ROOT / "docs/examples/training/ant.toml"
SOLVERS = {
    "mujoco": 'solver={extends=false, type="mujoco"}',
    "mujoco-native": 'solver={type="mujoco-native", integrator="euler", threads=1}',
}
CARTPOLE = ROOT / "docs/examples/training/cartpole.toml"


def trained(file: Path, out: Path, processes: int, iterations: int, *settings: str) -> list[dict[str, str]]:
    """Return the rows of a training: they are cumulated."""
    words = [word for each in ("simulation.device=cpu", *settings) for word in ("--set", each)]
    command = [PIPPIN, "train", file, "--processes", str(processes), "--iterations", str(iterations), "--out", out]
    subprocess.run([*command, *words], check=True, capture_output=True)
    with (out / "training.csv").open(newline="") as opened:
        return list(csv.DictReader(opened))


def rate(rows: Sequence[dict[str, str]]) -> float:
    """Return steps per second without the first iteration, which warms up."""
    first, last = rows[0], rows[-1]
    return (int(last["steps"]) - int(first["steps"])) / (float(last["seconds"]) - float(first["seconds"]))


def processor_seconds(out: Path) -> float:
    """Return the processor time of the iterations of all processes [s]."""
    return json.loads((out / "training.json").read_text())["cpu_seconds"]


def speeds(folder: Path, solver: str, worlds: int, iterations: int, turns: int) -> None:
    """Print the ratio of two processes to one."""
    ratios, parts, rates = [], [], {1: list[float](), 2: list[float]()}
    for turn in range(turns):
        times = {}
        for processes in (1, 2):
            out = folder / f"{solver}-{turn}-{processes}"
            settings = (f"scene.worlds={worlds}", SOLVERS[solver])
            rates[processes].append(rate(trained(ANT, out, processes, iterations, *settings)))
            times[processes] = processor_seconds(out)
        ratios.append(rates[2][-1] / rates[1][-1])
        parts.append(2.0 * times[1] / times[2])
    print(
        f"{solver}, {worlds} worlds: {statistics.median(rates[1]):,.0f} steps/s in one process,"
        f" {statistics.median(rates[2]):,.0f} in two; ratio {statistics.median(ratios):.2f}"
        f" ({min(ratios):.2f} to {max(ratios):.2f}), by processor times {statistics.median(parts):.2f}"
        f" ({min(parts):.2f} to {max(parts):.2f}); load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def curves(folder: Path, seeds: int, iterations: int) -> None:
    """Print the mean length of episodes [control steps] of each seed, in one process and in two."""
    marks = [iterations * part // 4 for part in (1, 2, 3, 4)]
    print(f"mean length after {', '.join(map(str, marks))} iterations")
    for seed in range(seeds):
        for processes in (1, 2):
            out = folder / f"curve-{seed}-{processes}"
            rows = trained(CARTPOLE, out, processes, iterations, f"simulation.seed={seed}", "solver.threads=1")
            lengths = [float(rows[mark - 1]["mean_length"] or "nan") for mark in marks]
            print(f"seed {seed}, {processes}: " + ", ".join(f"{each:.0f}" for each in lengths), flush=True)


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solver", choices=SOLVERS, action="append")
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--curves", type=int, metavar="SEEDS", default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if chosen.curves:
            curves(Path(name), chosen.curves, chosen.iterations)
            return
        for solver in chosen.solver or SOLVERS:
            speeds(Path(name), solver, chosen.worlds, chosen.iterations, chosen.turns)


if __name__ == "__main__":
    main()
