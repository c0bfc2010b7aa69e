"""Swept values as a user writes them: `--over solver.iterations=4,8,16`, and files of them."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from pippin import ConfigError
from pippin.config import overridden

Axis: TypeAlias = "Sequence[Mapping[str, str]]"
"""Alternatives of a sweep: each sets some keys to values, as TOML writes them."""

_RANGE = re.compile(r"(?P<first>-?\d+)\.\.(?P<last>-?\d+)(\.\.(?P<step>-?\d+))?")


def axis_of(text: str) -> Axis:
    """Return the alternatives of `KEY=VALUES`.

    Values are separated by commas; `0..9` and `0..100..25` are whole numbers with both ends; `@FILE` is a text file
    with a value on each line.
    """
    key, values = _split(text)
    if not values.strip():
        raise ConfigError(f"over: {key}: has no values; separate them by commas, as in {key}=1,2")
    items = _lines(key, Path(values[1:])) if values.startswith("@") else _items(key, values)
    for item in items:
        overridden({}, [f"{key}={item}"])  # the same errors as those of --set
    return [{key: item} for item in items]


def axis_of_file(path: Path) -> Axis:
    """Return the alternatives of a CSV file: a column for each key, a row for each alternative."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--variants: '{path}' cannot be read ({error}); name a CSV file") from error
    faults = [
        f"--variants: {path}: row {number} has {len(row)} values for {len(header)} keys: {','.join(row)}; give each one"
        for number, row in enumerate(rows, start=2)
        if len(row) != len(header)
    ]
    if not rows:
        faults.append(f"--variants: {path}: has no rows; write the keys in the first line, and values below")
    if faults:
        raise ConfigError(*faults)
    for row in rows:
        overridden({}, [f"{key}={item}" for key, item in zip(header, row, strict=True)])
    return [dict(zip(header, row, strict=True)) for row in rows]


def _split(text: str) -> tuple[str, str]:
    """Return key and values: the first `=` outside quotes parts them."""
    match = re.match(r"""\s*(?P<key>(?:"[^"]*"|'[^']*'|[^"'=])+?)\s*=(?P<values>.*)""", text, re.DOTALL)
    if match is None:
        raise ConfigError(f"over: expected KEY=VALUES, got {text!r}; write, for example, solver.iterations=4,8")
    return match["key"], match["values"].strip()


def _lines(key: str, path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"over: {key}: '{path}' cannot be read ({error}); name a text file") from error
    found = [line.strip() for line in lines if line.strip()]
    if not found:
        raise ConfigError(f"over: {key}: '{path}' has no values; write one on each line")
    return found


def _items(key: str, text: str) -> list[str]:
    """Return the values of a list; a comma inside quotes or brackets parts none."""
    items, rest = [], ""
    for piece in text.split(","):
        rest = f"{rest},{piece}" if rest else piece
        if _is_whole(rest):
            items += _range(key, rest.strip())
            rest = ""
    if rest:
        raise ConfigError(f"over: {key}: {rest.strip()!r} is not a TOML value; close its quotes or brackets")
    return items


def _is_whole(text: str) -> bool:
    if not re.match(r"""\s*["'\[{]""", text):
        return True
    try:
        tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return False
    return True


def _range(key: str, item: str) -> Iterable[str]:
    match = _RANGE.fullmatch(item)
    if match is None:
        return [item]
    first, last, step = int(match["first"]), int(match["last"]), int(match["step"] or 1)
    found = range(first, last + (1 if step > 0 else -1), step) if step else range(0)
    if not found:
        raise ConfigError(f"over: {key}: {item!r} has no numbers; write first..last, or first..last..step")
    return map(str, found)
