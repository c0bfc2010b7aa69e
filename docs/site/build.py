"""Build the documentation site: `uv run --only-group docs python docs/site/build.py`.

The site is in `build/site/html`, with `llms.txt` and `llms-full.txt`. Warnings are errors.
"""

from __future__ import annotations

import sys
from pathlib import Path

from llms import full_text, list_of_pages
from sphinx.cmd.build import build_main
from stage import DOCS, ROOT, stage

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
        _write_texts(folder / "html")
        print(folder / "html" / "index.html")
    return failed


def _write_texts(html: Path) -> None:
    """Write the list of pages and their texts, for programs."""
    index, readme = ((place / "README.md").read_text(encoding="utf-8") for place in (DOCS, ROOT))
    pages = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    lead = readme.partition("\n\n")[2].partition("\n\n")[0]
    (html / "llms.txt").write_text(list_of_pages(index, lead), encoding="utf-8")
    (html / "llms-full.txt").write_text(full_text(index, pages), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
