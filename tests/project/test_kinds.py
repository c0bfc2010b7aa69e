"""Kinds of plugins are data: outside of their records, the host has no list of them, and no case for one of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

from pippin.catalog import Catalog

ROOT = Path(__file__).parents[2]
HOST = ROOT / "core" / "host" / "src" / "pippin"

KINDS = frozenset(Catalog.installed().kinds) - {"command", "plugin", "table"}  # words for other things, too
"""Names of the kinds."""


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Yield the place and the syntax tree of each module of the host but the records."""
    for path in sorted(HOST.rglob("*.py")):
        if path != HOST / "kinds.py":
            yield path.relative_to(HOST).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def texts(node: ast.AST) -> set[str]:
    """Return the kinds that stand directly in a list, a tuple, a set, the keys of a dictionary or a `Literal`."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.Dict(keys=parts):
            found = {part.value for part in parts if isinstance(part, ast.Constant)}
        case _:
            found = set()
    return found & KINDS


def compared(node: ast.AST) -> set[str]:
    """Return the kinds that something called `kind` is compared with."""
    if not isinstance(node, ast.Compare):
        return set()
    sides = [node.left, *node.comparators]
    is_kind = any(getattr(side, "attr", getattr(side, "id", "")) == "kind" for side in sides)
    return {side.value for side in sides if isinstance(side, ast.Constant)} & KINDS if is_kind else set()


def test_no_module_of_the_host_but_the_records_lists_kinds():
    lists = {
        place: sorted(found) for place, tree in trees() for node in ast.walk(tree) if len(found := texts(node)) > 1
    }

    assert lists == {}


def test_no_module_of_the_host_treats_one_kind_in_a_way_of_its_own():
    special = {place: sorted(found) for place, tree in trees() for node in ast.walk(tree) if (found := compared(node))}

    assert special == {}


def test_a_list_and_a_special_case_would_be_found():
    tree = ast.parse("x = ('solver', 'sensor')\nif entry.kind == 'viewer':\n    pass\n")
    nodes = list(ast.walk(tree))

    assert {"solver", "sensor"} in map(texts, nodes)
    assert {"viewer"} in map(compared, nodes)
