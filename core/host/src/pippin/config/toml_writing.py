"""TOML text of plain data: one line per value, so that a comment can follow each value.

tomlkit also writes short lists and comments, but does not align comments in a column. It would save about 50 lines
and add a dependency: the data are only tables, lists and four kinds of scalars.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from .tree import KeyPath, key_text, path_text


@attrs.frozen
class _Line:
    text: str
    path: KeyPath | None = None


def toml_text(data: Mapping[str, Any], comment: Callable[[KeyPath], str] | None = None) -> str:
    """Return a table as a TOML document.

    Args:
        data: The table, of plain data.
        comment: Returns the comment after the value at a path, or nothing.
    """
    lines = list(_table(data, (), ()))
    if lines and not lines[0].text:
        del lines[0]  # the blank line before the first header
    if comment is None:
        return "".join(f"{line.text}\n" for line in lines)
    width = max((len(line.text) for line in lines if line.path and len(line.text) <= 60), default=0)
    texts = [comment(line.path) if line.path else "" for line in lines]
    return "".join(
        f"{line.text:<{width}}  # {text}\n" if text else f"{line.text}\n"
        for line, text in zip(lines, texts, strict=True)
    )


def value_paths(data: Mapping[str, Any]) -> list[KeyPath]:
    """Return the key path of every line of `toml_text(data)` that holds a value."""
    return [line.path for line in _table(data, (), ()) if line.path]


def _table(table: Mapping[str, Any], path: KeyPath, header: tuple[str, ...]) -> Iterator[_Line]:
    """Yield the values of a table, then its inner tables: in TOML, a value after a header belongs to that header."""
    inner = {key: value for key, value in table.items() if _is_table(value) or _is_table_list(value)}
    for key, value in table.items():
        if key not in inner:
            yield _Line(f"{key_text(key)} = {inline_text(value)}", (*path, key))
    for key, value in inner.items():
        name = (*header, key)
        if _is_table(value):
            yield from _section(f"[{path_text(name)}]", value, (*path, key), name)
            continue
        for index, item in enumerate(value):
            yield from _section(f"[[{path_text(name)}]]", item, (*path, key, index), name, always=True)


def _section(
    title: str, table: Mapping[str, Any], path: KeyPath, header: tuple[str, ...], always: bool = False
) -> Iterator[_Line]:
    """Yield a header and its table; a table that holds only tables needs no header of its own."""
    if always or not table or not all(_is_table(value) or _is_table_list(value) for value in table.values()):
        yield from (_Line(""), _Line(title))
    yield from _table(table, path, header)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_table_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_table, value))


def inline_text(value: Any) -> str:
    """Return a value as TOML writes it in one line.

    Args:
        value: A scalar, a list or a table of plain data.
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_text(key)} = {inline_text(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline_text, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # TOML's basic strings are JSON's, except that TOML must escape one control character that JSON does not.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
