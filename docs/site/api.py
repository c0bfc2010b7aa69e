"""The page of classes and functions: every public one with its docstring, read from the sources."""

from __future__ import annotations

import ast
import itertools
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

__all__ = ["python_api_page"]

INTRODUCTION = """\
# Classes and functions

<!-- Written by docs/write_reference.py. -->

This page describes the public classes and functions in full. [Public names](public-names.md) lists all public names,
with the constants, in one line each.
"""

SECTIONS = ("Args", "Returns", "Yields", "Raises")

PUBLIC = runpy.run_path(str(Path(__file__).with_name("public_names.py")))

Definition = ast.ClassDef | ast.FunctionDef


def python_api_page() -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for module in PUBLIC["FOR_PLUGINS"]:
        parts.append(f"\n## `{module}`\n")
        for name in PUBLIC["names_of"](module):
            found = PUBLIC["definition_of"](module, name)
            if isinstance(found, Definition):
                parts.append(_described(name, found))
    return "".join(parts)


def _described(name: str, found: Definition) -> str:
    text = _markdown(ast.get_docstring(found) or "")
    if isinstance(found, ast.FunctionDef):
        return f"\n### `{name}`\n\n```text\n{_signature(found)}\n```\n\n{text}"
    rows = "".join(f"| `{title}` | {meaning} |\n" for title, meaning in _members(found))
    bases = ", ".join(f"`{ast.unparse(base)}`" for base in found.bases)
    heading = f"\n### `{name}`\n\n" + (f"Derived from {bases}. " if bases else "")
    return heading + text + (f"\n| member | meaning |\n|---|---|\n{rows}" if rows else "")


def _signature(found: ast.FunctionDef) -> str:
    returned = f" -> {ast.unparse(found.returns)}" if found.returns else ""
    return f"{found.name}({ast.unparse(found.args)}){returned}"


def _members(found: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield the public attributes and methods of a class, with the first paragraph of each docstring."""
    for statement, following in itertools.zip_longest(found.body, found.body[1:]):
        match statement, following:
            case ast.FunctionDef(name=name), _ if not name.startswith("_"):
                text = ast.get_docstring(statement) or ""
                is_read = any(ast.unparse(each) in ("property", "cached_property") for each in statement.decorator_list)
                yield name if is_read else _call(statement), _first(text)
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                if not name.startswith("_"):
                    yield name, _first(text)


def _call(method: ast.FunctionDef) -> str:
    arguments = [each.arg for each in (*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs)]
    return f"{method.name}({', '.join(arguments[1:])})"


def _first(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def _markdown(text: str) -> str:
    """Return a docstring as Markdown: its sections become lists."""
    paragraphs: list[str] = []
    for part in text.split("\n\n"):
        head, _, rest = part.partition("\n")
        if head.rstrip(":") in SECTIONS and head.endswith(":"):
            paragraphs.append(f"{head}\n\n{_items(rest)}")
        else:
            paragraphs.append(part)
    return "\n\n".join(paragraphs).rstrip() + "\n"


def _items(text: str) -> str:
    """Return the entries of a section as a list; a line that is not indented further begins an entry."""
    lines = text.splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    entries: list[str] = []
    for line in lines:
        if line[indent : indent + 1].strip() or not entries:
            entries.append(line.strip())
        else:
            entries[-1] += f" {line.strip()}"
    return "\n".join(
        re.sub(r"^(\*{0,2}\w+): ", lambda match: f"- `{match[1]}`: ", entry) if ": " in entry else f"- {entry}"
        for entry in entries
    )
