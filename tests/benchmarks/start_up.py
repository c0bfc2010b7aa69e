"""Size of the environment, and time from command to first step: `uv run python tests/benchmarks/start_up.py [FILE...]`.

The environment is what the README's run command installs, made anew. The ant then runs beside `bare_start.py`, in turn:
medians of whole processes, and of their ratio. Further files run twice: with a kernel cache that does not exist yet,
and with the one that this left behind. Times are wall times; CPU times hold better where other work shares the cores.
Python may keep its bytecode, as it does for a user, in a folder that the first run fills.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[2]
ANT = ROOT / "docs/examples/ant.toml"
BARE = ROOT / "tests/benchmarks/bare_start.py"
PIPPIN = Path(sys.executable).with_name("pippin")


@attrs.frozen
class Took:
    """What a whole process took [s]."""

    wall: float
    cpu: float
    first_line: float
    """From the start to the first line that it printed."""


def took(command: list[str | Path], folder: Path, cache: Path | None = None) -> Took:
    """Run a process to its end; `folder` keeps Python's bytecode."""
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "PYTHONUNBUFFERED": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if cache is not None:
        environment["WARP_CACHE_PATH"] = str(cache)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.perf_counter() - began
        process.stdout.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(time.perf_counter() - began, cpu, first)


def run(file: Path, folder: Path, cache: Path | None = None) -> Took:
    """Simulate one control step of a file."""
    with tempfile.TemporaryDirectory() as out:
        return took([PIPPIN, "run", file, "--steps", "1", "--out", f"{out}/run"], folder, cache)


def environment_size(folder: Path) -> float:
    """Return the size of what the run command installs, without bytecode [MB]."""
    environment = os.environ | {"UV_PROJECT_ENVIRONMENT": str(folder / "environment")}
    environment.pop("VIRTUAL_ENV", None)
    subprocess.run([os.environ.get("UV", "uv"), "sync", "-q"], cwd=ROOT, env=environment, check=True)
    files = (path for path in (folder / "environment").rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


def print_start(folder: Path, turns: int) -> None:
    """Print how the command starts beside a first step by hand, with filled caches."""
    by_hand: list[str | Path] = [sys.executable, BARE]
    run(ANT, folder)
    took(by_hand, folder)
    pairs = [(run(ANT, folder), took(by_hand, folder)) for _ in range(turns)]
    print("| | wall [s] | CPU [s] | first line [s] |\n|---|---|---|---|")
    for name, sides in zip(("pippin run ant.toml --steps 1", "by hand"), zip(*pairs, strict=True), strict=True):
        wall, cpu, first = (
            statistics.median(getattr(one, field) for one in sides) for field in ("wall", "cpu", "first_line")
        )
        print(f"| {name} | {wall:.1f} | {cpu:.1f} | {first:.2f} |")
    wall, cpu = (
        statistics.median(getattr(a, field) / getattr(b, field) for a, b in pairs) for field in ("wall", "cpu")
    )
    print(f"| ratio | {wall:.2f} | {cpu:.2f} | |\n", flush=True)


def print_cold(file: Path, folder: Path) -> None:
    """Print a row: a start with no kernel compiled, and one with all of them."""
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = run(file, folder, Path(cache)), min(run(file, folder, Path(cache)).wall for _ in range(2))
        size = sum(path.stat().st_size for path in Path(cache).rglob("*") if path.is_file()) / 1e6
    print(f"| {file.stem} | {cold.wall:.0f} | {cold.cpu:.0f} | {warm:.1f} | {size:.1f} |", flush=True)


def main() -> None:
    """Print everything as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=[ANT])
    parser.add_argument("--turns", type=int, default=5, help="Pairs of the ant and the loop by hand, by default 5.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"environment: {environment_size(folder):.0f} MB\n", flush=True)
        print_start(folder, arguments.turns)
        print("| file | cold [s] | cold, CPU [s] | warm [s] | compiled [MB] |\n|---|---|---|---|---|")
        for file in arguments.files:
            print_cold(file, folder)


if __name__ == "__main__":
    main()
