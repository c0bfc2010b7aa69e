"""Sections of a docstring as field lists of MyST: arguments, results and errors."""

from __future__ import annotations

import re

__all__ = ["described"]

FIELDS = {"Args": "param", "Returns": "returns", "Yields": "yields", "Raises": "raises"}


def described(text: str, names: tuple[str, ...] = (), common: dict[str, str] | None = None) -> str:
    """Return a docstring as MyST; arguments that it does not mention get the common meaning of their names."""
    parts = []
    for part in text.split("\n\n"):
        head, _, rest = part.partition("\n")
        field = FIELDS.get(head.rstrip(":")) if head.endswith(":") else None
        if field is None:
            parts.append(part)
            continue
        for entry in _entries(rest):
            name, meaning = _split(entry, field)
            parts.append(f":{field}{name and f' {name}'}: {meaning}")
    missing = [name for name in names if name in (common or {}) and not re.search(rf"\b{name}\b", text)]
    position = next((index for index, part in enumerate(parts) if part.startswith(":")), len(parts))
    parts[position:position] = [f":param {name}: {(common or {})[name]}" for name in missing]
    return _joined(parts)


def _entries(text: str) -> list[str]:
    """Return the entries of a section, one line each; a line that is not indented further begins an entry."""
    lines = text.splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    entries: list[str] = []
    for line in lines:
        if line[indent : indent + 1].strip() or not entries:
            entries.append(line.strip())
        else:
            entries[-1] += f" {line.strip()}"
    return entries


def _split(entry: str, field: str) -> tuple[str, str]:
    """Return the name that an entry begins with, and the rest; a result has no name."""
    found = re.fullmatch(r"(\*{0,2}[\w.]+): (.*)", entry) if field in ("param", "raises") else None
    return (found[1].lstrip("*"), found[2]) if found else ("", entry)


def _joined(parts: list[str]) -> str:
    """Join paragraphs by empty lines, and fields of one list by none."""
    lines = ""
    for part in parts:
        both_fields = part.startswith(":") and lines.rpartition("\n")[2].startswith(":")
        lines += ("\n" if both_fields else "\n\n") + part
    return lines.strip() + "\n"
