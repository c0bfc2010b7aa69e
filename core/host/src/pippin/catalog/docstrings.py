"""Docstrings of what entry points name, read from the sources: nothing is imported."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

from .entry import Entry


def docstring_of(entry: Entry) -> str | None:
    """Return the docstring of the class or function that an entry point names; None if its source is not found."""
    module, _, name = entry.value.partition(":")
    path = _file_of(module.strip())
    if path is None:
        return None
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef) and statement.name == name.strip():
            return ast.get_docstring(statement)
    return None


def _file_of(module: str) -> Path | None:
    """Return the source of a module; to find one inside a package, Python would import the package."""
    package, *parts = module.split(".")
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not parts:
        return Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
    for folder in spec.submodule_search_locations or ():
        place = Path(folder, *parts)
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                return path
    return None
