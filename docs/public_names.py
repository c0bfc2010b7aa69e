"""Public names of Pippin, which plugins and users import, with their docstrings, read from the sources.

`write_reference.py` makes a page of them, and `tests/test_public_names.py` holds plugins to them.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "core" / "src"

FOR_PLUGINS = (
    "pippin",
    "pippin.actuation",
    "pippin.sensing",
    "pippin.solving",
    "pippin.task",
    "pippin.task.draws",
    "pippin.task.place",
    "pippin.recording",
    "pippin.recording.channels",
    "pippin.viewing",
    "pippin.scale",
    "pippin.scale.contract",
    "pippin.scale.export",
    "pippin.conformance",
    "pippin.labels",
    "pippin.axes",
    "pippin.validators",
    "pippin.arrays",
)
"""Modules that plugins and users may import."""

FOR_USERS = ("pippin.gym", "pippin.isaac", "pippin.views")
"""Modules for users only."""


def names_of(module: str) -> list[str]:
    """Return a module's `__all__`; empty if it has none."""
    for statement in _statements(module):
        if isinstance(statement, ast.Assign) and _targets(statement) == ["__all__"]:
            return list(ast.literal_eval(statement.value))
    return []


def text_of(module: str, name: str) -> str | None:
    """Return the docstring of a public name, or the string below a constant, from the module that defines it."""
    body = _statements(module)
    for statement, following in itertools.zip_longest(body, body[1:]):
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if name == (alias.asname or alias.name):
                    return text_of(_absolute(module, statement), alias.name)
        elif isinstance(statement, ast.ClassDef | ast.FunctionDef) and statement.name == name:
            return ast.get_docstring(statement)
        elif name in _targets(statement):
            is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            return str(following.value.value) if is_text else None
    return None


def definition_of(module: str, name: str) -> ast.ClassDef | ast.FunctionDef | None:
    """Return the class or the function with a public name, from the module that defines it; None for a constant."""
    for statement in _statements(module):
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if name == (alias.asname or alias.name):
                    return definition_of(_absolute(module, statement), alias.name)
        elif isinstance(statement, ast.ClassDef | ast.FunctionDef) and statement.name == name:
            return statement
    return None


def imports_of(path: Path) -> Iterator[tuple[str, str | None]]:
    """Yield each import of a file, at any depth: the module, and the name taken from it, None for the module itself.

    Relative imports are left out: they stay inside the package.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)


def _statements(module: str) -> list[ast.stmt]:
    """Return the statements of a module, with those of its blocks for type checkers: a room may import names late."""
    body = ast.parse(_file(module).read_text(encoding="utf-8")).body
    return [inner for each in body for inner in (each.body if isinstance(each, ast.If) else [each])]


def _file(module: str) -> Path:
    path = SOURCE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _absolute(module: str, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    parts = module.split(".") if _file(module).name == "__init__.py" else module.split(".")[:-1]
    parts = parts[: len(parts) - statement.level + 1]
    return ".".join([*parts, *([statement.module] if statement.module else [])])


def _targets(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
