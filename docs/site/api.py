"""Pages of the API reference: every public name with its docstring, as directives of Sphinx's Python domain.

The pages are read from the sources, and nothing is imported: a build needs neither Newton nor a compiler.
"""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aliases import with_public_types
from common import COMMON, COMMON_MEMBERS
from members import Member, bases_of, members_of, parameters_of
from sections import described

__all__ = ["MODULES", "PUBLIC", "api_pages", "content_of"]

INDEX = """\
# API reference

Every public name, with its arguments, types, shapes, units, errors and links to examples.
[Public names](../reference/public-names.md) lists them in one line each, and the [glossary](../reference/glossary.md)
explains the words. The pages are made from the docstrings of the sources.

Every example runs in the tests, as a part of its page.

| module | content |
|---|---|
"""

PUBLIC = runpy.run_path(str(Path(__file__).parents[1] / "public_names.py"))
MEMBER = {"no-contents-entry": None}
"""Options of members: the contents of a page list classes and functions alone, and a build takes less time."""

MODULES = (*PUBLIC["FOR_PLUGINS"], *PUBLIC["FOR_USERS"])
PLACES = {
    (home[0], home[1].name): (module, name)
    for module in MODULES
    for name in PUBLIC["names_of"](module)
    if (home := PUBLIC["home_of"](module, name)) and isinstance(home[1], PUBLIC["Definition"])
}
"""Public module and name of each definition, by the module and the name of its source."""


def api_pages(uses: Mapping[str, str]) -> dict[str, str]:
    """Return the pages by their paths; `uses` has the links of a name, such as `pippin.Simulation`."""
    modules = {module: ast.get_docstring(ast.parse(PUBLIC["source_of"](module))) or "" for module in MODULES}
    rows = "".join(f"| [`{name}`]({name}.md) | {_first(text)} |\n" for name, text in modules.items())
    names = "\n".join(modules)
    pages = {"api/index.md": f"{INDEX}{rows}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"}
    for module, text in modules.items():
        parts = [f"# `{module}`\n\n{text}\n\n```{{py:module}} {module}\n```\n"]
        parts += [_entry(module, name, uses.get(f"{module}.{name}", "")) for name in PUBLIC["names_of"](module)]
        pages[f"api/{module}.md"] = "\n".join(parts)
    return pages


def _entry(module: str, name: str, see: str) -> str:
    home, found, _ = PUBLIC["home_of"](module, name)
    found = with_public_types(home, found)
    see = see and f"\n{see}\n"
    match found:
        case ast.ClassDef():
            return _class(home, name, found, see)
        case ast.FunctionDef():
            text = described(ast.get_docstring(found) or "", parameters_of(found), COMMON)
            return _directive("function", _signature(name, found), text + see)
    value = getattr(found, "value", None)
    shown = ast.unparse(value) if value else ""
    return _directive("data", name, (PUBLIC["text_of"](module, name) or "") + "\n" + see, value=_short(shown))


def content_of(home: str, found: ast.ClassDef) -> tuple[list[Member], ast.FunctionDef | None, list[str]]:
    """Return the members of a class, its constructor, and the public classes that it is derived from.

    Members of a base class that is not public count as its own; a member without a text has that of the base class.
    """
    members = {each.name: each for each in members_of(home, found)}
    constructor, derived = _own(found, "__init__"), []
    for module, base in bases_of(home, found):
        is_public = (module, base.name) in PLACES
        if is_public:
            derived.append(".".join(PLACES[module, base.name]))  # its own entry has its members
        for each in members_of(module, base):
            mine = members.get(each.name)
            if mine and not mine.text:
                members[each.name] = replace(mine, text=each.text)
            elif not mine and not is_public:
                members[each.name] = each
        constructor = constructor or (None if is_public else _own(with_public_types(module, base), "__init__"))
    told = [each if each.text else replace(each, text=_other_text(home, each)) for each in members.values()]
    return told, constructor, derived


def _other_text(home: str, member: Member) -> str:
    """Return the common meaning of a member's name, or else the first paragraph on the class of its values."""
    place = PUBLIC["home_of"](home, member.type.partition(" |")[0])
    text = ast.get_docstring(place[1]) if place and isinstance(place[1], ast.ClassDef) else None
    return COMMON_MEMBERS.get(member.name) or (text or "").partition("\n\n")[0]


def _class(home: str, name: str, found: ast.ClassDef, see: str) -> str:
    members, constructor, derived = content_of(home, found)
    fields = [each for each in members if each.is_field]
    if constructor:
        head = _signature(name, constructor, with_result=False)
    elif fields and not name.endswith("Config"):
        head = f"{name}({', '.join(each.name + _equals(each.default) for each in fields)})"
    else:
        head = name
    text = described(ast.get_docstring(found) or "", parameters_of(constructor) if constructor else (), COMMON)
    inherited = ", ".join(f"{{py:class}}`{each}`" for each in derived)
    text += f"\nDerived from {inherited}, with its members.\n" if derived else ""
    body = "".join(f"\n{_member(each)}" for each in members if each.text)
    kind = "exception" if name.endswith(("Error", "Warning")) else "class"
    return _directive(kind, head, text + see + body, level=5)


def _member(member: Member) -> str:
    if member.kind != "method" or member.function is None:
        kind = "property" if member.kind == "property" else "attribute"
        text = described(member.text)
        return _directive(kind, member.name, text, **MEMBER, type=member.type, value=_short(member.default or ""))
    decorators = {ast.unparse(each).rpartition(".")[2] for each in member.function.decorator_list}
    flags = [each for each in ("classmethod", "staticmethod", "abstractmethod") if each in decorators]
    text = described(member.text, parameters_of(member.function), COMMON)
    return _directive("method", _signature(member.name, member.function), text, **MEMBER, **dict.fromkeys(flags))


def _directive(kind: str, head: str, text: str, level: int = 4, **options: str | None) -> str:
    """Return a directive; an option that is None has no value, and an empty one is left out."""
    given = "".join(f":{key}:{'' if value is None else f' {value}'}\n" for key, value in options.items() if value != "")
    text = _with_links_from_here(text)
    return f"{':' * level}{{py:{kind}}} {head}\n{given}\n{text.strip()}\n{':' * level}\n"


def _with_links_from_here(text: str) -> str:
    """Return a text whose links lead to pages of the reference: docstrings of attributes stand on the page of hooks."""
    text = re.sub(r"\]\((?=[\w-]+\.md)", "](../reference/", text)
    return text.replace("](#", "](../reference/hooks.md#")


def _signature(name: str, found: ast.FunctionDef, with_result: bool = True) -> str:
    arguments = ast.unparse(_without_self(found))
    returned = f" -> {ast.unparse(found.returns)}" if found.returns and with_result else ""
    return " ".join(f"{name}({arguments}){returned}".split())


def _without_self(found: ast.FunctionDef) -> ast.arguments:
    given = ast.parse(ast.unparse(found)).body[0].args  # type: ignore[attr-defined]
    if given.args and given.args[0].arg in ("self", "cls"):
        del given.args[0]
    return given


def _own(found: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((each for each in found.body if isinstance(each, ast.FunctionDef) and each.name == name), None)


def _equals(default: str | None) -> str:
    return "" if default is None else f"={default}"


def _short(text: str) -> str:
    return text if len(text) <= 80 and "\n" not in text else ""


def _first(text: str) -> str:
    return re.sub(r"[:.]$", "", " ".join(text.partition("\n\n")[0].split())).replace("|", "\\|")
