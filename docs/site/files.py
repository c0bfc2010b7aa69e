"""Pages of files and folders of the repository that a page links to: their content, highlighted."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

__all__ = ["file_page"]

LANGUAGES = {".toml": "toml", ".py": "python", ".xml": "xml", ".json": "json"}


def file_page(path: Path, root: Path) -> str:
    """Return the page of a file or a folder."""
    name = path.relative_to(root).as_posix()
    if path.is_dir():
        return _folder(path, name)
    return f"# `{name}`\n\n{_block(path)}"


def _folder(path: Path, name: str) -> str:
    """Return the page of a folder: a list of its files, and the module if the folder is a package of a plugin."""
    tracked = subprocess.run(["git", "ls-files", "."], cwd=path, capture_output=True, text=True, check=True)
    files = tracked.stdout.split()
    is_examples = name == "docs/examples"
    lines = [f"- [`{each}`]({each})" if is_examples and _is_text(path / each) else f"- `{each}`" for each in files]
    page = f"# `{name}`\n\n" + "\n".join(lines) + "\n"
    for module in path.glob("src/*/__init__.py"):
        page += f"\n## `{module.relative_to(path).as_posix()}`\n\n{_block(module)}"
    return page


def _block(path: Path) -> str:
    text = path.read_text(encoding="utf-8").rstrip()
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}\n{fence}\n"


def _is_text(path: Path) -> bool:
    return path.suffix in LANGUAGES
