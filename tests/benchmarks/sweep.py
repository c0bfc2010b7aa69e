"""Time of a sweep of 20 short variants: `uv run python tests/benchmarks/sweep.py [--turns N] [--items]`.

A sweep on two processes, divided by 20 bare runs (`pippin run`, a process each), at two lengths of a variant. Both take
turns, and medians of the ratios are printed with the load of the machine: other work makes the ratio larger. The ratio
of processor times, which other work changes less, tells what is saved altogether; two cores halve the wall time of
it at best.

What a sweep saves are imports and builds, so the ratio grows with the length: physics is computed in a sweep, too.
With `--items`, processor times of the parts are printed: of the imports of the warm process, and of a warm variant
with its replays of graphs; and the ratio of a sweep that does nothing but import and replay on two cores, which no
sweep can be below.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from pippin.config import dump_toml
from pippin_sweep import variant_job
from pippin_sweep.variants import axis_of, plan, preload_of

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs/examples/cartpole.toml"
PIPPIN = Path(sys.executable).with_name("pippin")
VARIANTS, BARE_RUNS = 20, 4
LENGTHS = (40, 200)
"""Control steps of a variant: 0.8 s and 4 s of simulated time, 400 and 2000 steps of physics."""
_ADOPT = 36
"""The option of prctl by which processes whose parent has ended become those of this process: Linux."""
DEVICE = "simulation.device=cpu"


def timed(*command: str | Path) -> tuple[float, float]:
    """Return the wall time and the processor time of a command and its processes [s]."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    wall = time.perf_counter() - began
    with suppress(ChildProcessError):
        while os.wait():  # for the warm process, which ends after the command, and counts then
            pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sweep(out: Path, steps: int) -> tuple[float, float]:
    """Return the times of a sweep on two processes [s]."""
    over = ["--over", f"simulation.seed=0..{VARIANTS - 1}", "--processes", "2", "--out", out]
    return timed(PIPPIN, "sweep", FILE, *over, "--set", DEVICE, "--steps", str(steps))


def bare(out: Path, steps: int, seed: int = 0) -> tuple[float, float]:
    """Return the times of one variant in a process of its own [s]."""
    setting = ["--set", f"simulation.seed={seed}", "--set", DEVICE]
    return timed(PIPPIN, "run", FILE, *setting, "--steps", str(steps), "--out", out)


def ratios(folder: Path, steps: int, turns: int) -> None:
    """Print the ratio of a sweep to the bare runs, by the wall and by the processor."""
    walls, by_wall, by_processor = [], [], []
    for turn in range(turns):
        runs = [bare(folder / f"bare-{steps}-{turn}-{seed}", steps, seed) for seed in range(BARE_RUNS)]
        wall, processor = sweep(folder / f"sweep-{steps}-{turn}", steps)
        sums = [sum(each) * VARIANTS / BARE_RUNS for each in zip(*runs, strict=True)]
        walls.append(wall)
        by_wall.append(wall / sums[0])
        by_processor.append(processor / sums[1])
    print(
        f"{VARIANTS} variants of {steps} steps: {statistics.median(walls):.1f} s (at best {min(walls):.1f} s),"
        f" ÷ bare runs {statistics.median(by_wall):.3f} (at best {min(by_wall):.3f}),"
        f" by processor times {statistics.median(by_processor):.3f}; load {os.getloadavg()[0]:.1f}"
    )


def items(folder: Path, turns: int) -> None:
    """Print the processor times of a bare run and of the parts of a sweep."""
    variants = plan(FILE, [axis_of(f"simulation.seed=0..{turns + 1}")], [DEVICE], LENGTHS[0], None)
    modules = ", ".join(("pippin.warm", *(preload_of([each.config for each in variants]) or ())))
    start = statistics.median(
        timed(sys.executable, "-c", f"import os, {modules}; os._exit(0)")[1] for _ in range(turns)
    )
    print(f"imports of the warm process {start:.2f} s; load {os.getloadavg()[0]:.1f}")
    variant_job.prepare(requires_grad=False)
    import warp as wp

    replays, replay = [], wp.capture_launch

    def noted(graph: Any, *arguments: Any) -> None:
        began = time.process_time()
        replay(graph, *arguments)
        replays.append(time.process_time() - began)

    wp.capture_launch = noted
    for steps in LENGTHS:
        run = statistics.median(bare(folder / f"bare-{steps}-{turn}", steps)[1] for turn in range(turns))
        whole, parts = [], []
        for variant in variants:
            config = folder / f"{variant.id}-{steps}"
            config.mkdir()
            (config / "config.toml").write_text(dump_toml(variant.config), encoding="utf-8")
            facts = {"kernels": variant.kernels, "requires_grad": False, "settings": {}, "is_shared": True}
            replays.clear()
            began = time.process_time()
            variant_job.run(folder=str(config), final=f"{config}-done", steps=steps, **facts)
            whole.append(time.process_time() - began)
            parts.append(sum(replays))
        variant, physics = statistics.median(whole[1:]), statistics.median(parts[1:])
        at_best = [(start + VARIANTS * each / 2) / (VARIANTS * run) for each in (physics, variant)]
        print(
            f"{steps} steps: a bare run {run:.2f} s; a warm variant {variant:.3f} s, of it replays {physics:.3f} s;"
            f" the first {whole[0]:.2f} s; imports and replays ÷ bare runs {at_best[0]:.3f},"
            f" imports and variants {at_best[1]:.3f}"
        )


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--items", action="store_true")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(_ADOPT, 1)
    with tempfile.TemporaryDirectory() as out:
        bare(Path(out, "warm"), LENGTHS[0])  # fills the kernel cache
        if options.items:
            items(Path(out), options.turns)
        else:
            for steps in LENGTHS:
                ratios(Path(out), steps, options.turns)


if __name__ == "__main__":
    main()
