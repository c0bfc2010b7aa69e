"""Public names of Pippin, which plugins and users import, with their docstrings, read from the sources.

`write_reference.py` makes a page of them, and `tests/project/test_public_names.py` holds plugins to them.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator
from pathlib import Path

CORE = Path(__file__).parents[1] / "core"

Definition = ast.ClassDef | ast.FunctionDef

FOR_PLUGINS = (
    "pippin",
    "pippin.actuation",
    "pippin.actuation.clampings",
    "pippin.sensing",
    "pippin.assets",
    "pippin.objects",
    "pippin.terrains",
    "pippin.matter",
    "pippin.controllers",
    "pippin.motions",
    "pippin.solving",
    "pippin.coupling",
    "pippin_task",
    "pippin.recording",
    "pippin.recording.channels",
    "pippin_record.demonstrations",
    "pippin_record.mcap",
    "pippin.viewing",
    "pippin.viewing.bounding_box",
    "pippin.sharding",
    "pippin.console",
    "pippin.report",
    "pippin.studies",
    "pippin.state",
    "pippin.runs",
    "pippin.measuring",
    "pippin.workers",
    "pippin_fit",
    "pippin_judge",
    "pippin_optimise",
    "pippin_sweep",
    "pippin_benchmark",
    "pippin_train",
    "pippin.export",
    "pippin.assembly",
    "pippin.rendering",
    "pippin.config",
    "pippin_conformance",
    "pippin_deploy",
    "pippin_robot",
    "pippin_robot.bus",
    "pippin_robot.motors",
    "pippin_ros2",
    "pippin_ros2.cdr",
    "pippin_ros2.dds",
    "pippin_ros2.wire",
    "pippin_unitree",
    "pippin_engines",
    "pippin.labels",
    "pippin.late",
    "pippin.axes",
    "pippin.extras",
    "pippin.indices",
    "pippin.files",
    "pippin.quaternions",
    "pippin.validators",
    "pippin.arrays",
    "pippin.array_files",
    "pippin.catalog",
    "pippin.devices",
    "pippin.components",
    "pippin.diagnosis",
)
"""Modules that plugins and users may import."""

FOR_USERS = ("pippin_task.gym", "pippin.views", "pippin_view")
"""Modules for users only."""


def names_of(module: str) -> list[str]:
    """Return a module's `__all__`; empty if it has none."""
    for statement in _statements(module):
        if isinstance(statement, ast.Assign) and _targets(statement) == ["__all__"]:
            return list(ast.literal_eval(statement.value))
    return []


def home_of(module: str, name: str) -> tuple[str, ast.stmt, ast.stmt | None] | None:
    """Return the module that defines a name of a module, its statement there, and the statement below that.

    None if the module has no such name, or takes it from another library.
    """
    body = _statements(module) if _file(module).exists() else []
    for statement, following in itertools.zip_longest(body, body[1:]):
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if name == (alias.asname or alias.name):
                    return home_of(_absolute(module, statement), alias.name)
        elif (isinstance(statement, Definition) and statement.name == name) or name in _targets(statement):
            return module, statement, following
    return None


def name_at(statement: ast.stmt) -> str:
    """Return the name that a statement defines."""
    return statement.name if isinstance(statement, Definition) else _targets(statement)[0]


def text_of(module: str, name: str) -> str | None:
    """Return the docstring of a public name, or the string below a constant, from the module that defines it."""
    match home_of(module, name):
        case _, ast.ClassDef() | ast.FunctionDef() as found, _:
            return ast.get_docstring(found)
        case _, _, ast.Expr(value=ast.Constant(value=text)):
            return str(text)
    return None


def source_of(module: str) -> str:
    """Return the source of a module of a package of `core`."""
    return _file(module).read_text(encoding="utf-8")


def imports_of(path: Path) -> Iterator[tuple[str, str | None]]:
    """Yield each import of a file, at any depth: the module, and the name taken from it, None for the module itself.

    Relative imports are left out: they stay inside the package.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)


@functools.cache
def _statements(module: str) -> list[ast.stmt]:
    """Return the statements of a module, with those of its blocks for type checkers: a room may import names late."""
    body = ast.parse(source_of(module)).body
    return [inner for each in body for inner in (each.body if isinstance(each, ast.If) else [each])]


def _file(module: str) -> Path:
    package, *_ = module.split(".")
    source = CORE / (package.removeprefix("pippin_") if package != "pippin" else "host") / "src"
    path = source.joinpath(*module.split("."))
    return package if (package := path / "__init__.py").exists() else path.with_suffix(".py")


def _absolute(module: str, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    parts = module.split(".") if _file(module).name == "__init__.py" else module.split(".")[:-1]
    parts = parts[: len(parts) - statement.level + 1]
    return ".".join([*parts, *([statement.module] if statement.module else [])])


def _targets(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
