"""Time from command to first step, with an empty and with a filled kernel cache.

`uv run python tests/benchmarks/start_up.py docs/examples/*.toml` runs each file twice in processes of their own:
first with a kernel cache that does not exist yet, then with the one that this left behind.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def start(file: Path, cache: Path) -> float:
    """Return how long a whole process takes to simulate one control step of a file [s]."""
    with tempfile.TemporaryDirectory() as folder:
        pippin = Path(sys.executable).with_name("pippin")
        command = [pippin, "run", file, "--steps", "1", "--out", f"{folder}/run", "--json"]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=os.environ | {"WARP_CACHE_PATH": str(cache)})
        return time.perf_counter() - began


def main() -> None:
    """Print a table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    print("| file | cold [s] | warm [s] | compiled [MB] |")
    print("|---|---|---|---|")
    for file in parser.parse_args().files:
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = start(file, Path(folder)), min(start(file, Path(folder)) for _ in range(2))
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        print(f"| {file.stem} | {cold:.0f} | {warm:.1f} | {size / 1e6:.1f} |", flush=True)


if __name__ == "__main__":
    main()
