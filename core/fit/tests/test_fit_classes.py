"""Classes of a fit stay small, and their problem asks candidates, which never ask back."""

import ast
import functools
from pathlib import Path

import pippin_fit
import pytest

ROOM = Path(pippin_fit.__file__).parent
MOST_LINES, MOST_ATTRIBUTES = 300, 15


def tree(file):
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def classes():
    """Each class of the package but settings, by file and name."""
    files = [file for file in sorted(ROOM.rglob("*.py")) if file.stem not in ("config", "configs")]
    nodes = [(file, node) for file in files for node in ast.walk(tree(file))]
    return {f"{file.stem}.{node.name}": node for file, node in nodes if isinstance(node, ast.ClassDef)}


def attributes(node):
    """Names of the attributes of an instance: fields of the class, and what its methods assign to `self`."""
    fields = {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}
    stored = (each for each in ast.walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
    return fields | {each.attr for each in stored if ast.unparse(each.value) == "self"}


def names(file):
    """All names that a file imports, reads or calls."""
    found = set()
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module, *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Name | ast.Attribute):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found


def test_the_attributes_of_a_class_are_counted():
    node = ast.parse("class A:\n x: int\n def f(self):\n  self.y, self.z = 1, 2\n  self.y.w = 3").body[0]

    assert attributes(node) == {"x", "y", "z"}


@pytest.mark.parametrize("name", classes())
def test_a_class_of_a_fit_is_small(name):
    node = classes()[name]

    assert node.end_lineno - node.lineno + 1 <= MOST_LINES
    assert len(attributes(node)) <= MOST_ATTRIBUTES


def test_a_problem_asks_candidates_which_never_ask_back():
    assert {"candidates", "Candidates", "play"} <= names(ROOM / "problem.py")
    for file in ("candidates", "log_player"):
        assert not {"rollouts", "Rollouts", "roll_out", "evaluate", "residuals"} & names(ROOM / f"{file}.py")
