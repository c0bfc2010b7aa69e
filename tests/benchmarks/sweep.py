"""Time of a sweep of 20 short variants: `uv run python tests/benchmarks/sweep.py [--turns N] [--items]`.

A sweep on two processes, divided by the sum of the run times of its variants one by one (`pippin run`, a process each;
and, as a stricter measure, by the times of the variants in the one warm process of a sweep on one). Both take turns,
and medians are printed with the load of the machine: other work makes the ratio larger. With `--items`, processor
times are printed instead, which other work changes less: of a bare run, of the imports of the warm process, and of a
warm variant with its parts; and the ratio of a sweep that does nothing but import, and replay graphs on two cores.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pippin.config import dump_toml
from pippin.sweeps import variant_job
from pippin.sweeps.run_sweep import plan
from pippin.sweeps.sweep import preload_of
from pippin.sweeps.values import axis_of

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


def processor_time(command: list[str | Path]) -> float:
    """Return the processor time of a command and its processes [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def items(folder: Path, turns: int) -> None:
    """Print the processor times of a bare run and of the parts of a sweep."""
    bare(folder / "warm", 0)  # fills the kernel cache
    variants = plan(FILE, [axis_of(f"simulation.seed=0..{turns + 1}")], OPTIONS[1:2], 200, None)
    modules = ", ".join(("pippin.warm", *(preload_of([each.config for each in variants]) or ())))
    runs, imports = [], []
    for turn in range(turns):
        out = ["--out", folder / f"bare-{turn}"]
        runs.append(processor_time([PIPPIN, "run", FILE, *OPTIONS, *out]))
        imports.append(processor_time([sys.executable, "-c", f"import os, {modules}; os._exit(0)"]))
    variant_job.prepare(requires_grad=False)
    import warp as wp

    replays, replay = [], wp.capture_launch

    def timed(graph: Any, *arguments: Any) -> None:
        began = time.process_time()
        replay(graph, *arguments)
        replays.append(time.process_time() - began)

    wp.capture_launch, whole, parts = timed, [], []
    for variant in variants:
        began = time.process_time()
        replays.clear()
        config = folder / variant.id
        config.mkdir()
        (config / "config.toml").write_text(dump_toml(variant.config), encoding="utf-8")
        facts = {"requires_grad": False, "settings": {}, "is_shared": True}
        variant_job.run(folder=str(config), final=str(folder / f"{variant.id}-done"), steps=200, **facts)
        whole.append(time.process_time() - began)
        parts.append(sum(replays))
    run, start = statistics.median(runs), statistics.median(imports)
    variant, physics = statistics.median(whole[1:]), statistics.median(parts[1:])
    print(f"a bare run {run:.2f} s; imports of the warm process {start:.2f} s; load {os.getloadavg()[0]:.1f}")
    print(f"a warm variant {variant:.3f} s, of it replays of graphs {physics:.3f} s; the first one {whole[0]:.2f} s")
    print(f"imports and replays alone ÷ bare runs: {(start + VARIANTS * physics / 2) / (VARIANTS * run):.3f}")
    print(f"imports and variants ÷ bare runs: {(start + VARIANTS * variant / 2) / (VARIANTS * run):.3f}")


def main() -> None:
    """Print the medians of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--items", action="store_true")
    options = parser.parse_args()
    turns = options.turns
    if options.items:
        with tempfile.TemporaryDirectory() as out:
            items(Path(out), turns)
        return
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
