"""The checks of the source itself, so that the test command is the only command to remember."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent
TOPS = ("core", "solvers", "sensors", "actuators")


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "pyrefly check", "lint-imports"])
def test_source_passes(command):
    script, *arguments = command.split()

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [SCRIPTS / script, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def choices_in(path: Path) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in {"Literal", "typing.Literal"}:
            members = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            yield tuple(ast.unparse(each) for each in members)


def test_equal_choices_are_stated_in_one_order():
    """Python keeps one object for equal choices: pages and errors would depend on what is imported first."""
    orders: dict[frozenset[str], set[tuple[str, ...]]] = {}
    for path in [each for top in TOPS for each in (ROOT / top).glob("*/src/**/*.py")]:
        for choices in choices_in(path):
            orders.setdefault(frozenset(choices), set()).add(choices)

    assert len(orders) > 50
    assert [sorted(found) for found in orders.values() if len(found) > 1] == []


def test_each_helper_that_a_benchmark_imports_is_there():
    """Nothing runs all benchmarks, so that a helper which moves would be missed."""
    imported = {
        (path.name, node.module, alias.name)
        for path in (ROOT / "tests" / "benchmarks").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in {"core", "tests"}
        for alias in node.names
    }

    assert imported
    for name, module, member in imported:
        place = ROOT.joinpath(*module.split("."))
        assert place.with_suffix(".py").exists() or (place / f"{member}.py").exists(), f"{name}: {module}.{member}"
