"""Try the newest Newton, Warp and MuJoCo that the index has: `uv run --group dev python -m tests.versions`.

For each library that is newer than the one that Pippin is made for, it makes an environment outside of the repository
with all packages of the workspace, with no bound on that library, imports every plugin, and runs the tests marked
`alone`. It tells what breaks. Nothing of the repository changes. Each library takes some minutes and 1 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEMBERS = [path.parent for kind in ("core", "solvers", "actuators", "sensors") for path in ROOT.glob(f"{kind}/*/src")]

LIBRARIES = {"newton": ("newton",), "warp": ("warp-lang",), "mujoco": ("mujoco", "mujoco-warp")}
"""Distributions that are tried together, by the name of the library."""

LINES = 12
"""Lines of a failure that are told."""


def newest(distribution: str) -> str:
    """Return the newest version of a distribution that is no preview, as the index has it."""
    command = ["uv", "pip", "compile", "-q", "--no-deps", "--no-header", "--no-annotate", "-"]
    found = subprocess.run(command, input=distribution, capture_output=True, text=True, check=True).stdout
    return found.strip().partition("==")[2]


def environment(folder: Path, versions: dict[str, str]) -> Path:
    """Make an environment of the workspace with some versions in place of its own bounds; return its Python."""
    subprocess.run(["uv", "venv", "-q", "--python", sys.executable, folder], check=True)
    overrides = folder / "overrides.txt"
    overrides.write_text("".join(f"{name}=={version}\n" for name, version in versions.items()))
    members = [word for member in MEMBERS for word in ("-e", str(member))]
    command = ["uv", "pip", "install", "-q", "--python", str(folder), "--overrides", str(overrides)]
    subprocess.run([*command, *members, "pytest", "pytest-xdist", "jsonschema"], check=True)
    return folder / "bin" / "python"


def breaks(python: Path) -> Iterator[str]:
    """Yield what breaks: plugins that cannot be imported, and tests that fail."""
    doctor = subprocess.run(
        [python.with_name("pippin"), "plugins", "--doctor", "--json"], capture_output=True, text=True, check=False
    )
    try:
        rows = json.loads(doctor.stdout)
    except ValueError:
        yield f"pippin plugins --doctor: {_last(doctor.stderr)}"
        rows = []
    for row in rows:
        yield from (fault for fault in row["faults"] if ": wants " not in fault)
    options = [
        "-q",
        "-n",
        "2",
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=--import-mode=importlib",
        "-m",
        "alone",
        "-rfE",
    ]
    folders = [str(member / "tests") for member in MEMBERS if (member / "tests").is_dir()]
    command, wide = [python, "-m", "pytest", *options, *folders], {**os.environ, "COLUMNS": "400"}  # whole reasons
    tested = subprocess.run(command, cwd=ROOT, env=wide, capture_output=True, text=True, check=False)
    yield from re.findall(r"^(?:FAILED|ERROR) .*", tested.stdout, re.MULTILINE)
    if tested.returncode and "passed" not in tested.stdout:
        yield f"pytest: {_last(tested.stdout + tested.stderr)}"


def _last(text: str) -> str:
    return "\n  ".join(text.strip().splitlines()[-LINES:])


def main() -> int:
    """Try each library, and return 1 if something breaks."""
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("libraries", nargs="*", choices=[[], *LIBRARIES], help="by default all")
    chosen, is_broken = parser.parse_args().libraries or list(LIBRARIES), False
    for library in chosen:
        versions = {name: newest(name) for name in LIBRARIES[library]}
        installed = {name: metadata.version(name) for name in versions}
        told = ", ".join(f"{name} {version}" for name, version in versions.items())
        if versions == installed:
            print(f"{library}: {told} is the newest, and the one of this environment")
            continue
        print(f"{library}: {told}, in place of {', '.join(installed.values())}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = list(breaks(environment(Path(folder, "environment"), versions)))
            except subprocess.CalledProcessError as error:
                found = [f"it cannot be installed beside the others: {error}"]
        for fault in found:
            print(f"  {fault}")
        print(f"  {len(found)} break" if found else "  nothing breaks", flush=True)
        is_broken |= bool(found)
    return int(is_broken)


if __name__ == "__main__":
    sys.exit(main())
