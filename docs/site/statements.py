"""Statements of the blocks of a page: what each binds, needs and changes, and shorter forms of it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

__all__ = ["Statement", "names_in", "statements_of"]


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a block, with the comment above it."""

    tree: ast.stmt
    text: str
    block: int
    position: int
    """Place among all statements of the page."""

    @cached_property
    def bound(self) -> dict[str, str]:
        """The names that it binds, and the full name of what is imported under each; empty if it is no import."""
        match self.tree:
            case ast.ImportFrom(module=module, names=names):
                return {each.asname or each.name: f"{module}.{each.name}" for each in names}
            case ast.Import(names=names):
                return {each.asname or each.name.partition(".")[0]: each.name if each.asname else "" for each in names}
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                return {name: ""}
        stored = (each for each in ast.walk(self.tree) if isinstance(each, ast.Name))
        return {each.id: "" for each in stored if isinstance(each.ctx, ast.Store)}

    @cached_property
    def needed(self) -> set[str]:
        """The names that it reads and does not bind."""
        nodes = list(ast.walk(self.tree))
        own = {each.arg for each in nodes if isinstance(each, ast.arg)} | set(dir(builtins))
        for each in nodes:
            if isinstance(each, (ast.Import, ast.ImportFrom)):
                own |= {(alias.asname or alias.name).partition(".")[0] for alias in each.names}
        own |= {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        return {each.id for each in nodes if isinstance(each, ast.Name)} - own

    @property
    def is_import(self) -> bool:
        """Whether it only imports."""
        return isinstance(self.tree, (ast.Import, ast.ImportFrom))

    def changes(self, name: str) -> bool:
        """Return whether it may change an object, such as `robot.add_body()` or `robot.scale = 2.0`."""
        inner = self.tree.body if isinstance(self.tree, ast.For) else [self.tree]
        return any(_changes(each, name) for each in inner)

    def outline(self, keeps: Callable[[ast.FunctionDef], bool], *, with_heads: bool = True) -> Statement:
        """Return the statement without docstrings, and of a class, without the bodies of methods that it need not keep.

        Such a method is shown by its first line, or else three dots stand for all of them.
        """
        if not isinstance(self.tree, (ast.ClassDef, ast.FunctionDef)):
            return self
        lines = self.text.splitlines()
        above = len(lines) - (self.tree.end_lineno or 0)  # minus the block's lines above the text
        kept = lines[: self.tree.body[0].lineno - 1 + above]
        for each in self.tree.body:
            first, last = _first_line(each) - 1 + above, (each.end_lineno or 0) + above
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                continue
            if not isinstance(each, ast.FunctionDef):
                kept += lines[first:last]
            elif keeps(each) or last - first < 2:
                kept += ["", *lines[first:last]]
            elif with_heads:
                head = lines[first : each.body[0].lineno - 1 + above]
                kept += [*([] if kept[-1].endswith(": ...") else [""]), *head[:-1], f"{head[-1]} ..."]
            elif not kept[-1].endswith("    ..."):
                kept += ["", "    ..."]
        text = "\n".join(kept)
        return replace(self, text=text, tree=ast.parse(text).body[0])

    def uses(self, imported: dict[str, str]) -> set[str]:
        """Return the full names that it reads, such as `pippin.labels.match`, by the names that are imported so far."""
        return names_in(self.tree, imported)


def statements_of(blocks: list[str]) -> Iterator[Statement]:
    """Yield the statements of all blocks, in order."""
    position = 0
    for block, text in enumerate(blocks):
        lines = text.splitlines()
        for tree in ast.parse(text).body:
            first = _first_line(tree) - 1
            while first and lines[first - 1].startswith("#"):
                first -= 1
            yield Statement(tree, "\n".join(lines[first : tree.end_lineno]), block, position)
            position += 1


def _changes(tree: ast.stmt, name: str) -> bool:
    match tree:
        case ast.Expr(value=ast.Call(func=called) as changed) if _chain(called) != ("print", ""):
            pass
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as changed, *_]) | ast.AugAssign(target=changed):
            pass
        case _:
            return False
    return name in {each.id for each in ast.walk(changed) if isinstance(each, ast.Name)}


def names_in(tree: ast.AST, imported: dict[str, str]) -> set[str]:
    """Return the full names in a statement, such as `pippin.labels.match`, by the names that are imported so far."""
    chains = (_chain(each) for each in ast.walk(tree) if isinstance(each, (ast.Name, ast.Attribute)))
    return {f"{imported.get(head) or head}{rest}" for head, rest in filter(None, chains)}


def _first_line(tree: ast.stmt) -> int:
    """Return the line that a statement begins in, with its decorators, counted from 1."""
    return min([tree.lineno, *(each.lineno for each in getattr(tree, "decorator_list", []))])


def _chain(node: ast.expr) -> tuple[str, str] | None:
    """Return the first name of `a.b.c`, and the rest with its dots; None if it is no chain of names."""
    rest = ""
    while isinstance(node, ast.Attribute):
        node, rest = node.value, f".{node.attr}{rest}"
    return (node.id, rest) if isinstance(node, ast.Name) else None
