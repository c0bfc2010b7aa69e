"""Build the documentation site: `uv run --only-group docs python docs/site/build.py`.

The site is in `build/site/html`. Warnings are errors.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.cmd.build import build_main
from stage import ROOT, stage

FOLDER = ROOT / "build" / "site"


def main(folder: Path = FOLDER) -> int:
    """Write the site below a folder, and return 0 if there was no warning."""
    stage(folder / "source")
    places = [folder / "source", folder / "html"]
    options = [
        "-q",
        "-E",  # a build of the changed pages alone loses entries of the search
        "-a",
        "-W",
        "--keep-going",
        "-j",
        "auto",
        "-b",
        "html",
        "-c",
        Path(__file__).parent,
        "-d",
        folder / "cache",
    ]
    failed = build_main([str(each) for each in (*options, *places)])
    if not failed:
        print(folder / "html" / "index.html")
    return failed


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
