"""No circle of files in the core, over all imports: at the top, in functions, for type checkers, and by name."""

import ast
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = sorted(path for path in Path(__file__).parents[2].glob("core/*/src/*") if (path / "__init__.py").exists())

BY_NAME = "import_module"
"""Function that imports the module that its string names."""


def files_of(package: Path) -> dict[str, Path]:
    """Return the files of a package by the names of their modules; templates are packages of their own."""
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        if "templates" not in parts[:-2]:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def absolute(name: str, package: str) -> str:
    """Return a name with leading points as a full one."""
    level = len(name) - len(name.lstrip("."))
    if not level:
        return name
    base = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join([*base, *filter(None, [name[level:]])])


def named_in(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a file names in imports; of `from a import b`, also `a.b`, which may be one."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    is_by_name = any(getattr(call.func, "id", getattr(call.func, "attr", "")) == BY_NAME for call in calls)
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                source = "." * level + (module or "")
                yield from (f"{source.rstrip('.') or source}{'.' * bool(module)}{alias.name}" for alias in names)
            case ast.Constant(value=str(text)) if is_by_name and re.fullmatch(r"\.*\w+(\.\w+)*", text):
                yield text


def graph_of(package: Path) -> dict[str, set[str]]:
    """Return the files that each file imports; the import of a parent package that Python adds does not count."""
    files, graph = files_of(package), {}
    for name, path in files.items():
        own = name if path.name == "__init__.py" else name.rpartition(".")[0]
        found = {absolute(each, own) for each in named_in(ast.parse(path.read_text(encoding="utf-8")))}
        graph[name] = {each if each in files else each.rpartition(".")[0] for each in found} & files.keys() - {name}
    return graph


def circle_of(graph: dict[str, set[str]]) -> list[str]:
    """Return the files of a circle, the first one twice; none if there is no circle."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_no_files_of_a_package_import_each_other(package):
    """The root is left out: its table of late names reaches up to all rooms, and built-in plugins import it as others
    do.
    """
    graph, root = graph_of(package), package.name
    assert len(graph) > 1

    assert circle_of({name: found - {root} for name, found in graph.items() if name != root}) == []


@pytest.mark.parametrize(
    "back",
    [
        "from .low import f",
        "from . import low",
        "def g():\n    from house import low",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import house.low",
        "from importlib import import_module\nimport_module('house.low')",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .low import f\n__getattr__ = late(__name__)",
        "from house import f",
    ],
)
def test_a_circle_is_found(tmp_path, back):
    """From `low` to `high` and back; the last one goes through the file of the package, which imports `low`."""
    (house := tmp_path / "house").mkdir()
    (house / "__init__.py").write_text("from .low import f" if back == "from house import f" else "")
    (house / "low.py").write_text("from .high import g")
    (house / "high.py").write_text(back)

    assert {"house.low", "house.high"} <= set(circle_of(graph_of(house)))
