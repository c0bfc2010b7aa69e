"""Rows of the tables of keys, from a JSON schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

LISTED_KEYS = 12
"""Largest number of keys of a table that a row lists."""

BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def key_row(key: str, value: Schema, is_required: bool) -> str:
    """Return the row of a key: type, unit, default and meaning."""
    meaning, unit = _split_unit(value.get("description", ""))
    default = "required" if is_required else f"`{_toml(value['default'])}`" if "default" in value else ""
    condition = value.get("$comment", "")
    needs = f" {condition[:1].upper()}{condition[1:]}." if condition else ""
    return f"| `{key}` | {_type(value)} | {unit} | {default} | {meaning}{needs} |"


def _split_unit(text: str) -> tuple[str, str]:
    """Return a description without its first unit in brackets, and this unit."""
    found = re.search(r" \[([^\]`]+)\]", text)
    return (text[: found.start()] + text[found.end() :], found[1]) if found else (text, "")


def _type(value: Schema) -> str:
    bounds = [f"{sign} {_toml(value[word])}" for word, sign in BOUNDS.items() if word in value]
    if _is_term(value):
        return "[term](tasks.md)"
    if "if" in value:  # names that may be others
        return "string"
    if "anyOf" in value and value.get("type") == "object":  # a plugin by its `type`
        return "table"
    if "anyOf" in value:
        return " or ".join(" ".join([_type(choice), *bounds]) for choice in value["anyOf"])
    if "enum" in value:
        return " or ".join(f"`{_toml(choice)}`" for choice in value["enum"])
    if value.get("type") == "array":
        count = value["minItems"] if value.get("minItems") == value.get("maxItems", -1) else "list of"
        return f"{count} {_plural(_type(value['items']))}"
    if value.get("type") == "object" and len(value.get("properties", ())) > LISTED_KEYS:
        return "table"
    if value.get("type") == "object" and "properties" in value:
        return "`{ " + ", ".join(f"{key} = …" for key in value["properties"]) + " }`"
    if value.get("type") == "object" and _is_term(value["additionalProperties"]):
        return "table of [terms](tasks.md)"
    if value.get("type") == "object" and _repeats_its_neighbours(value["additionalProperties"]):
        return "table of these"
    if value.get("type") == "object":
        return f"table of {_plural(_type(value['additionalProperties']))}"
    return " ".join([value.get("type", "any"), *bounds])


def _is_term(value: Schema) -> bool:
    """Return whether a value is a plugin with its keys, or the name of one."""
    return "allOf" in value or any("allOf" in choice for choice in value.get("anyOf", ()))


def _plural(kind: str) -> str:
    """Return the plural of a type's name; bounds and names stay unchanged."""
    return re.sub(r"^(boolean|integer|number|string|table)\b", r"\1s", kind)


def _repeats_its_neighbours(values: Schema) -> bool:
    """Return whether a table's values have the same types as the table itself: a number or a table of bounds."""
    return any("properties" in choice for choice in values.get("anyOf", ()))


def _toml(value: Any) -> str:
    """Return a value in TOML syntax; scalars and lists are the same in JSON."""
    number = f"{value:g}" if isinstance(value, float) else None
    return number or json.dumps(value, ensure_ascii=False)
