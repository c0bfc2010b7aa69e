"""Sections of a page that commands of their own write, between two comments."""

from __future__ import annotations

import re
from pathlib import Path


def section(page: Path, name: str) -> str:
    """Return a section of a page, with its comments."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    found = re.search(_pattern(name), text)
    return found.group() if found else f"<!-- {name} -->\n\n<!-- end of {name} -->"


def replace_section(page: Path, name: str, text: str) -> None:
    """Write a section of a page anew."""
    whole = f"<!-- {name} -->\n\n{text.strip()}\n\n<!-- end of {name} -->"
    old = page.read_text(encoding="utf-8")
    page.write_text(re.sub(_pattern(name), lambda _: whole, old), encoding="utf-8")


def _pattern(name: str) -> str:
    return rf"(?s)<!-- {name} -->.*<!-- end of {name} -->"
