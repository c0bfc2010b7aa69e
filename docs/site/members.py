"""Members of a class, read from its source: fields, attributes, properties and methods."""

from __future__ import annotations

import ast
import copy
import itertools
import re
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aliases import is_for_the_core, with_public_types

__all__ = ["Member", "bases_of", "members_of", "parameters_of"]

PUBLIC = runpy.run_path(str(Path(__file__).parents[1] / "public_names.py"))


@dataclass(frozen=True)
class Member:
    """One public member of a class."""

    name: str
    text: str
    kind: str = "attribute"
    """`attribute`, `property` or `method`."""
    type: str = ""
    """The annotation of an attribute or of a property's value."""
    default: str | None = None
    """The default of a field, as in the source; None if it has none."""
    function: ast.FunctionDef | None = None
    is_field: bool = False
    """Whether the constructor that attrs writes takes it."""


def bases_of(module: str, found: ast.ClassDef) -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield the classes of the core that a class is derived from, the nearest first, with their modules."""
    for base in found.bases:
        place = PUBLIC["home_of"](module, ast.unparse(base).partition("[")[0])
        if place and isinstance(place[1], ast.ClassDef):
            yield place[0], place[1]
            yield from bases_of(place[0], place[1])


def members_of(module: str, found: ast.ClassDef) -> list[Member]:
    """Return the public members that a class defines itself, those for the core left out."""
    found = with_public_types(module, found)
    lines = PUBLIC["source_of"](module).splitlines()
    is_attrs = any(re.match(r"(attrs\.|dataclass)", ast.unparse(each)) for each in found.decorator_list)
    members: dict[str, Member] = {}
    for statement, following in itertools.zip_longest(found.body, found.body[1:]):
        match statement:
            case ast.FunctionDef(name="__init__"):
                members |= {each.name: each for each in _assigned(statement, lines) if each.name not in members}
            case ast.FunctionDef():
                members.setdefault(statement.name, _method(statement))
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                text = _below(following) or _above(statement, lines)
                is_field = is_attrs and "ClassVar" not in ast.unparse(annotation) and "init=False" not in _source(value)
                shown = _default(_written(module, value))
                members[name] = Member(name, text, type=_type(annotation), default=shown, is_field=is_field)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if text := _below(following):
                members[name] = Member(name, text, default=_default(value))
    return [each for each in members.values() if not (each.name.startswith("_") or is_for_the_core(each.text))]


def parameters_of(function: ast.FunctionDef) -> tuple[str, ...]:
    """Return the names of a function's parameters, without the object itself."""
    given = function.args
    every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    return tuple(each.arg for each in every if each is not None and each.arg not in ("self", "cls"))


def _method(function: ast.FunctionDef) -> Member:
    decorators = [ast.unparse(each) for each in function.decorator_list]
    is_read = any(each in ("property", "cached_property", "functools.cached_property") for each in decorators)
    returned = _type(function.returns) if function.returns else ""
    kind = "property" if is_read else "method"
    return Member(function.name, ast.get_docstring(function) or "", kind, returned, function=function)


def _assigned(function: ast.FunctionDef, lines: list[str]) -> Iterator[Member]:
    """Yield the attributes that a constructor sets and a comment `#:` explains."""
    for statement in ast.walk(function):
        match statement:
            case ast.Assign(targets=[ast.Attribute(attr=name)]):
                annotation = ""
            case ast.AnnAssign(target=ast.Attribute(attr=name), annotation=written):
                annotation = _type(written)
            case _:
                continue
        if text := _above(statement, lines):
            yield Member(name, text, type=annotation)


def _below(following: ast.stmt | None) -> str:
    match following:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split()) if "\n\n" not in text else text
    return ""


def _above(statement: ast.stmt, lines: list[str]) -> str:
    above = itertools.takewhile(lambda line: line.strip().startswith("#:"), reversed(lines[: statement.lineno - 1]))
    return " ".join(line.strip()[2:].strip() for line in reversed(list(above)))


def _type(annotation: ast.expr) -> str:
    match annotation:
        case ast.Subscript(value=ast.Name(id="ClassVar"), slice=inner):
            return ast.unparse(inner)
        case ast.Constant(value=str(text)):
            return text
    return ast.unparse(annotation)


def _written(module: str, value: ast.expr | None) -> ast.expr | None:
    """Return what a private function of the module returns, its first parameter replaced; else the value itself."""
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id.startswith("_")):
        return value
    place = PUBLIC["home_of"](module, value.func.id)
    if not (place and isinstance(place[1], ast.FunctionDef) and isinstance(place[1].body[-1], ast.Return)):
        return value
    returned = copy.deepcopy(place[1].body[-1].value)
    first = place[1].args.args[:1]
    for each in returned.keywords if isinstance(returned, ast.Call) else []:
        if first and value.args and isinstance(each.value, ast.Name) and each.value.id == first[0].arg:
            each.value = value.args[0]
    return returned


def _default(value: ast.expr | None) -> str | None:
    """Return the default that an assigned value stands for; None if it gives none or a long one."""
    if isinstance(value, ast.Call):
        named = {each.arg: each.value for each in value.keywords}
        called = ast.unparse(value.func).rpartition(".")[2].lstrip("_")
        if "factory" in named:
            shown = f"{ast.unparse(named['factory'])}()".replace("dict()", "{}").replace("list()", "[]")
        elif called == "inherited":
            shown = "None"
        elif called in ("field", "parameter", "number"):
            shown = _source(named.get("default")) or None
        else:
            shown = ast.unparse(value)
    else:
        shown = _source(value) or None
    return shown if shown is not None and len(shown) < 60 else None


def _source(value: ast.expr | None) -> str:
    return "" if value is None else ast.unparse(value)
