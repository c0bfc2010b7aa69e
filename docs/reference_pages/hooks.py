"""Page *Hooks*: attributes of components, and the plugins that implement each hook."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
from pippin.catalog.entries import Catalog
from pippin.components.runtime_attributes import RuntimeAttributes
from pippin.config.fields import default_of, field_texts
from pippin.support.declaration import Declaration

REFERENCE = Path(__file__).parents[1] / "reference"

ATTRIBUTES_BEFORE = """
The host reads these once, when the component is registered, before anything is built:

"""

ATTRIBUTES_AFTER = """
It reads these after `bind`, whenever it needs them, so that a component may decide in `bind`:

"""

ATTRIBUTE_COLUMNS = "| attribute | components | default | meaning |\n|---|---|---|---|\n"

_OF_EXTRAS = ("trainer", "logger")
"""Kinds that implement no hook, and whose libraries need not be there."""


def page() -> str:
    """Return the page of hooks with the tables of attributes; the rest of the page is written by hand."""
    page = (REFERENCE / "hooks.md").read_text(encoding="utf-8")
    begin, end = "<!-- attributes -->\n", "<!-- end of attributes -->"
    texts = field_texts(Declaration)
    early = [_attribute(field.name, texts[field.name], default_of(field)) for field in attrs.fields(Declaration)]
    nothing, texts = RuntimeAttributes(object(), "nothing"), field_texts(RuntimeAttributes)
    late = []
    for name in RuntimeAttributes.names():
        default = getattr(nothing, name)
        text = inspect.getdoc(inspect.getattr_static(RuntimeAttributes, name)) or ""
        text = texts.get(name) or " ".join(text.split())
        late.append(_attribute(name, text, "" if callable(default) else default))
    tables = "".join([ATTRIBUTES_BEFORE, ATTRIBUTE_COLUMNS, *early, ATTRIBUTES_AFTER, ATTRIBUTE_COLUMNS, *late])
    page = page.partition(begin)[0] + begin + tables + end + page.partition(end)[2]
    configured = [entry for entry in Catalog.installed().entries if entry.provides == "configuration"]
    plugins = [(entry.name, entry.load()) for entry in configured if entry.kind not in _OF_EXTRAS]
    return "".join(_with_users(section, plugins) for section in re.split(r"(?m)^(?=### )", page))


def _with_users(section: str, plugins: Iterable[tuple[str, type]]) -> str:
    """Return the section of a hook with the plugins that implement it; other sections stay unchanged."""
    hook = re.match(r"### `(\w+)\(", section)
    if hook is None:
        return section
    users = [name for name, plugin in plugins if hasattr(getattr(plugin, hook[1], None), "pippin_impl")]
    told = f"Used by: {', '.join(users) or 'none of this repository'}."
    return re.sub(r"(?m)^Used by: .*?\.$", told, section, count=1)


def _attribute(name: str, text: str, default: Any) -> str:
    """Return a row; its text begins with the kind of component if only this kind may have the attribute."""
    kind, colon, meaning = text.partition(": ")
    who, meaning = (kind.lower(), meaning) if colon and kind.endswith("s") and kind.isalpha() else ("any", text)
    values = sorted(default) if isinstance(default, frozenset) else [default]
    shown = ", ".join(f"`{value!r}`" for value in values if value not in (None, "", (), {}))
    return f"| `{name}` | {who} | {shown} | {meaning[:1].upper()}{meaning[1:]} |\n"
