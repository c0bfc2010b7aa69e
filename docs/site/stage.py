"""Sources of the site: the pages of the repository with links that hold in the site, and pages made of them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from api import api_pages
from files import file_page
from keys import indexed
from keywords import keywords, with_keywords
from landing import landing, overview
from navigation import navigation
from uses import linked_uses

__all__ = ["DOCS", "ROOT", "Stage", "pages_with_code", "stage"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)(#[^)\s]*)?\)")


class Stage:
    """The sources of one build: pages by their paths in the site."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self._waiting: list[Path] = []

    def place_of(self, path: Path) -> str:
        """Return the path in the site of a file or a folder of the repository, which is staged if it is linked."""
        name = path.relative_to(ROOT).as_posix()
        if path == DOCS / "README.md":
            return "index.md"
        if path == ROOT / "README.md":
            return "overview.md"
        if path == ROOT / "CONTRIBUTING.md":
            return "contributing.md"
        if path.suffix == ".md" or path.is_relative_to(DOCS / "images"):
            return path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else f"files/{name}"
        return f"files/{name}/index.md" if path.is_dir() else f"files/{name}.md"

    def add(self, source: Path, text: str, place: str) -> None:
        """Add a page whose links start from a file of the repository, and wait for the files that it links to."""

        def moved(found: re.Match[str]) -> str:
            opening, target, anchor = found[1], found[2], found[3] or ""
            if re.match(r"\w+:", target):
                return found[0]
            path = (source.parent / target).resolve()
            self._waiting.append(path)
            relative = os.path.relpath(self.place_of(path), Path(place).parent).replace(os.sep, "/")
            return f"{opening}{relative}{anchor})"

        self.pages[place] = outside_fences(text, lambda part: LINK.sub(moved, part))

    def add_linked(self) -> None:
        """Add the pages of linked files and folders, and of those that these link to."""
        while self._waiting:
            path = self._waiting.pop()
            place = self.place_of(path)
            if place in self.pages or path.is_relative_to(DOCS / "images"):
                continue
            if path.suffix == ".md":
                text = path.read_text(encoding="utf-8")
                self.add(path, text if text.startswith("# ") else f"# `{path.name}`\n\n{text}", place)
            else:
                self.add(path / "_" if path.is_dir() else path, file_page(path, ROOT), place)


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Return a text with its parts outside of fenced blocks changed."""
    parts, last = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[last : fence.start()]), fence[0]]
        last = fence.end()
    return "".join([*parts, change(text[last:])])


def stage(folder: Path) -> None:
    """Write the sources of the site into a folder; files whose content stays keep their time."""
    made = Stage()
    readme, index = ROOT / "README.md", DOCS / "README.md"
    docs = [path for path in sorted(DOCS.rglob("*.md")) if path != index]
    groups = navigation(index.read_text(encoding="utf-8"))
    for place, text in groups.items():
        made.add(index, text, place)
    made.add(readme, landing(readme.read_text(encoding="utf-8")), "index.md")
    made.add(readme, overview(readme.read_text(encoding="utf-8")), "overview.md")
    for path in (*docs, ROOT / "CONTRIBUTING.md"):
        made.add(path, path.read_text(encoding="utf-8"), made.place_of(path))
    keys = made.place_of(DOCS / "reference" / "configuration.md")
    made.pages[keys] = indexed(made.pages[keys])
    _add_keywords(made.pages)
    made.add_linked()
    made.pages |= api_pages(linked_uses(pages_with_code(made)))
    _adopt(made.pages)
    _hide_from_the_search(made.pages)
    _write(made.pages, folder)
    shutil.copytree(DOCS / "images", folder / "images", dirs_exist_ok=True)


def _add_keywords(pages: dict[str, str]) -> None:
    """Give the pages their words for the search; those of files and of the API have none."""
    phrases = keywords()
    if unknown := phrases.keys() - pages.keys():
        raise ValueError(f"docs/site/keywords.toml: no page {sorted(unknown)}; name pages of docs/, without suffix")
    for place, text in pages.items():
        pages[place] = with_keywords(text, phrases.get(place, []))


def pages_with_code(made: Stage) -> dict[Path, tuple[str, str]]:
    """Return the texts and the places of all that use public names: pages, and the scripts of the examples."""
    files = [*sorted(DOCS.rglob("*.md")), *sorted((DOCS / "examples").glob("*.py"))]
    return {path: (path.read_text(encoding="utf-8"), made.place_of(path)) for path in files}


def _adopt(pages: dict[str, str]) -> None:
    """Give each page that no table of contents has to the README of its folder, or mark it as outside of them."""
    listed = set()
    for place, text in pages.items():
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {os.path.normpath(f"{Path(place).parent}/{line}") for line in entries}
    for place in sorted(pages):
        if place.removesuffix(".md") in listed or place == "index.md":
            continue
        parent = f"{Path(place).parent}/README.md"
        if parent in pages and parent != place:
            pages[parent] += f"\n```{{toctree}}\n:hidden:\n\n{Path(place).stem}\n```\n"
        else:  # a file: the search need not find it beside the page that explains it
            pages[place] = f"---\norphan: true\nnosearch: true\n---\n\n{pages[place]}"


def _hide_from_the_search(pages: dict[str, str]) -> None:
    """Let the search leave out the examples by name: the entries of the API reference link to them."""
    for place in pages:
        if place.startswith("reference/examples/") and not place.endswith("README.md"):
            pages[place] = f"---\nnosearch: true\n---\n\n{pages[place]}"


def _write(pages: dict[str, str], folder: Path) -> None:
    for old in folder.rglob("*.md"):
        if old.relative_to(folder).as_posix() not in pages:
            old.unlink()
    for place, text in pages.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
