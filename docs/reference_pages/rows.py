"""Rows of tables that several pages of the reference have."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from typing import Any

from pippin.catalog.entries import Catalog


def declaring_solvers(catalog: Catalog) -> dict[str, Any]:
    """Return the classes of the installed solvers that are not made of other solvers, by name."""
    return {name: catalog.find("solver", name).load() for name in catalog.names_without_settings("solver")}


def row_of_solvers(first: str, others: Iterable[str]) -> str:
    """Return a row with a first cell and one for each solver."""
    return "| " + " | ".join([first, *others]) + " |\n"


def inline_toml(value: Any) -> str:
    """Return an option in TOML syntax."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {inline_toml(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)


def summary(documented: Any) -> str:
    """Return the first paragraph of a docstring, without its full stop."""
    text = inspect.getdoc(documented) if documented is not None else None
    return " ".join((text or "").partition("\n\n")[0].split()).rstrip(".")


def named_row(name: str, *texts: str) -> str:
    """Return a row that begins with a name of the code."""
    return "| " + " | ".join([f"`{name}`", *texts]) + " |\n"
