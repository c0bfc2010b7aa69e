"""Examples of the API reference: for each public name, the shortest excerpt of a page's Python that uses it.

Every block of a page runs in the tests, so an excerpt does, too. An excerpt is a block, or the statements of a block
that use the name; before it come the statements of the page that bring what it needs, as far as there is room. If it
is too long, docstrings are left out, and the bodies of methods that do not use the name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from statements import Statement, names_in, statements_of

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
    statements = list(statements_of(blocks))
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
        return name in names_in(method, imported)

    yield [each for each in block if not each.is_import]
    yield found
    yield [each.outline(lambda _: True) for each in found]
    yield [each.outline(uses) for each in found]
    yield [each.outline(uses, with_heads=False) for each in found]


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
