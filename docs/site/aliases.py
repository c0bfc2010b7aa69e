"""Aliases of types that are not public: a signature shows what they stand for, and names public types alone."""

from __future__ import annotations

import ast
import copy
import functools
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

__all__ = ["CORE", "is_for_the_core", "private_types", "with_public_types"]

PUBLIC = runpy.run_path(str(Path(__file__).parents[1] / "public_names.py"))
T = TypeVar("T", bound=ast.AST)
CORE = "For the core: "
"""Beginning of the text of a member that is not part of the public contract: the reference leaves it out."""

_MODULES = (*PUBLIC["FOR_PLUGINS"], *PUBLIC["FOR_USERS"])
_PUBLIC_PLACES = {
    (home[0], PUBLIC["name_at"](home[1]))
    for module in _MODULES
    for name in PUBLIC["names_of"](module)
    if (home := PUBLIC["home_of"](module, name))
}


def is_for_the_core(text: str) -> bool:
    """Return whether a member with this text is not part of the public contract."""
    return text.startswith(CORE)


@functools.cache
def with_public_types(home: str, tree: T) -> T:
    """Return a copy of an annotation or a definition of a module, its private aliases replaced by their values.

    Equal calls return the same copy: leave it as it is.
    """
    return _Expanded(home).visit(copy.deepcopy(tree))


def private_types(home: str, annotation: ast.expr) -> Iterator[str]:
    """Yield the classes of the core that an annotation names and that are not public."""
    for name in _names(annotation):
        place = PUBLIC["home_of"](home, name)
        if place and isinstance(place[1], ast.ClassDef) and (place[0], place[1].name) not in _PUBLIC_PLACES:
            yield name


def _names(annotation: ast.expr) -> Iterator[str]:
    for each in ast.walk(annotation):
        if isinstance(each, ast.Name):
            yield each.id


class _Expanded(ast.NodeTransformer):
    """Replaces names of private aliases in annotations."""

    def __init__(self, home: str) -> None:
        self._home = home

    def visit_Name(self, node: ast.Name) -> ast.expr:
        place = PUBLIC["home_of"](self._home, node.id)
        if not place or (place[0], node.id) in _PUBLIC_PLACES:
            return node
        match place[1]:
            case ast.Assign(value=value) if not _is_variable(value):
                return with_public_types(place[0], value)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = self.visit(node.annotation)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        for each in ast.walk(node.args):
            if isinstance(each, ast.arg) and each.annotation:
                each.annotation = self.visit(each.annotation)
        if node.returns:
            node.returns = self.visit(node.returns)
        for each in ast.walk(node):
            if isinstance(each, ast.AnnAssign):
                self.visit(each)
        return node


def _is_variable(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar"
