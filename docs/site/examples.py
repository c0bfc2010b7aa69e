"""Examples of the API reference: for each public name, the shortest excerpt of a page's Python that uses it.

Every block of a page runs in the tests, so an excerpt does, too. An excerpt is a block, or the statements of a block
that use the name; before it come the statements of the page that bring what it needs, as far as there is room. If it
is too long, docstrings are left out, and the bodies of methods that do not use the name.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

__all__ = ["BLOCK", "MOST_LINES", "Example", "examples_of"]

MOST_LINES = 12
"""Lines of an excerpt at most, without empty ones."""

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """An excerpt, and the place of its page in the site."""

    text: str
    place: str
    is_complete: bool
    """Whether it has everything that it needs, so that it runs alone."""

    @property
    def rank(self) -> tuple[bool, bool, int, int]:
        """The smallest is the best."""
        return ": ..." in self.text, not self.is_complete, _size(self.text), len(self.text)


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
        return _names(self.tree, imported)


def examples_of(names: Iterable[str], pages: Iterable[tuple[list[str], str]]) -> dict[str, Example]:
    """Return the example of each full name that has one, from the blocks of each page and its place in the site."""
    wanted, best = set(names), dict[str, Example]()
    for blocks, place in pages:
        for name, excerpt, is_complete in _excerpts(blocks, wanted):
            example = Example(excerpt, place, is_complete)
            if name not in best or example.rank < best[name].rank:
                best[name] = example
    return best


def _excerpts(blocks: list[str], wanted: set[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield names that a page uses, each with an excerpt that is short enough, and whether it is complete."""
    statements = list(_statements(blocks))
    imported: dict[str, str] = {}
    for block in sorted({each.block for each in statements}):
        own = [each for each in statements if each.block == block]
        users: dict[str, list[Statement]] = {}
        for each in own:
            if each.is_import:
                imported |= each.bound
            else:
                for name in each.uses(imported) & wanted:
                    users.setdefault(name, []).append(each)
        for name, found in users.items():
            for chosen in _ever_shorter(own, found, name, imported):
                if excerpt := _with_needs(chosen, statements):
                    yield name, *excerpt
                    break


def _ever_shorter(
    block: list[Statement], found: list[Statement], name: str, imported: dict[str, str]
) -> Iterator[list[Statement]]:
    """Yield a block, the statements found in it that use a name, and these with less and less of their methods."""

    def uses(method: ast.FunctionDef) -> bool:
        return name in _names(method, imported)

    yield [each for each in block if not each.is_import]
    yield found
    yield [each.outline(lambda _: True) for each in found]
    yield [each.outline(uses) for each in found]
    yield [each.outline(uses, with_heads=False) for each in found]


def _statements(blocks: list[str]) -> Iterator[Statement]:
    position = 0
    for block, text in enumerate(blocks):
        lines = text.splitlines()
        for tree in ast.parse(text).body:
            first = _first_line(tree) - 1
            while first and lines[first - 1].startswith("#"):
                first -= 1
            yield Statement(tree, "\n".join(lines[first : tree.end_lineno]), block, position)
            position += 1


def _with_needs(chosen: list[Statement], statements: list[Statement]) -> tuple[str, bool] | None:
    """Return statements with those that bring what they need, and whether all came along; None if they are too long.

    Imports always come along. What else a page defines comes along if there is room for all of it.
    """
    full, short = _closed(chosen, statements, lambda _: True), _closed(chosen, statements, lambda each: each.is_import)
    for taken in (full, short):
        if _size(text := _text(taken)) <= MOST_LINES:
            return text, len(taken) == len(full)
    return None


def _closed(
    chosen: list[Statement], statements: list[Statement], may_come: Callable[[Statement], bool]
) -> list[Statement]:
    """Return statements and those before them that bind or change what they need, in the order of the page."""
    taken = {each.position: each for each in chosen}
    waiting = list(chosen)
    while waiting:
        reader = waiting.pop()
        for name in reader.needed:
            for each in _makers(name, statements[: reader.position]):
                if each.position not in taken and may_come(each):
                    taken[each.position] = each
                    waiting.append(each)
    return [taken[position] for position in sorted(taken)]


def _makers(name: str, before: list[Statement]) -> Iterator[Statement]:
    """Yield the last statement that binds a name, and those after it that may change its object."""
    for each in reversed(before):
        if name in each.bound:
            yield each
            return
        if each.changes(name):
            yield each


def _text(statements: list[Statement]) -> str:
    """Return the text, with a line between imports and the rest, and imported names that are needed alone."""
    rest = [each for each in statements if not each.is_import]
    needed = set().union(*(each.needed for each in rest))
    shown = [
        f"\n{each.text}\n" if isinstance(each.tree, (ast.ClassDef, ast.FunctionDef)) else each.text for each in rest
    ]
    imports = list(_imports([each.tree for each in statements if each.is_import], needed))
    joined = "\n".join([*imports, *([""] if imports else []), *shown])
    return re.sub(r"\n{3,}", "\n\n", joined).strip("\n")


def _changes(tree: ast.stmt, name: str) -> bool:
    match tree:
        case ast.Expr(value=ast.Call(func=called) as changed) if _chain(called) != ("print", ""):
            pass
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as changed, *_]) | ast.AugAssign(target=changed):
            pass
        case _:
            return False
    return name in {each.id for each in ast.walk(changed) if isinstance(each, ast.Name)}


def _imports(trees: list[ast.stmt], needed: set[str]) -> Iterator[str]:
    """Yield imports of what is needed, one for each module."""
    members: dict[str, list[str]] = {}
    for tree in trees:
        if isinstance(tree, ast.ImportFrom):
            names = [ast.unparse(each) for each in tree.names if (each.asname or each.name) in needed]
            members.setdefault(tree.module or "", []).extend(names)
        elif isinstance(tree, ast.Import):
            names = [each for each in tree.names if (each.asname or each.name.partition(".")[0]) in needed]
            yield from (f"import {ast.unparse(each)}" for each in names)
    yield from (f"from {module} import {', '.join(sorted(set(names)))}" for module, names in members.items() if names)


def _size(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def _names(tree: ast.AST, imported: dict[str, str]) -> set[str]:
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
