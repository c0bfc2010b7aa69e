"""Run tests in a lane: `uv run --group dev python -m tests.lanes NAME [arguments of pytest]`.

Without arguments, the whole suite runs; with `--part`, what `pytest -m slow` runs of it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .patches import LANES, environment, lane_module

ROOT = Path(__file__).parents[2]


def command(lane: str | None, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs pytest in a lane, or in none, and its environment."""
    return [sys.executable, "-m", "pytest", *arguments], environment(lane)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lanes", description=__doc__.splitlines()[0])
    parser.add_argument("lane", choices=LANES)
    parser.add_argument("--part", action="store_true", help="only what `pytest -m slow` runs of the lane")
    options, arguments = parser.parse_known_args()
    part = lane_module(options.lane).PART if options.part else ()
    line, variables = command(options.lane, [*part, *arguments])
    return subprocess.run(line, cwd=ROOT, env=variables | {"PWD": os.fspath(ROOT)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
