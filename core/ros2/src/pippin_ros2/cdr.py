"""Common data representation, version 1, little endian: messages in bytes and back, by texts of their fields.

A text is as in ROS: `std_msgs/Header header, string[] name, float64[9] covariance`. A type is a number, `string`, or
another message; `[]` makes it a sequence, and a count an array.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["HEAD", "NUMBERS", "Table", "decode", "encode", "fields"]

Table = Mapping[str, str]
"""The fields of messages, by the name of the message."""

HEAD = b"\x00\x01\x00\x00"
"""First bytes of each message: little endian, version 1."""

_CODES = "bool:? uint8:B int8:b uint16:H int16:h uint32:I int32:i uint64:Q int64:q float32:f float64:d"
NUMBERS = {each.partition(":")[0]: each.partition(":")[2] for each in _CODES.split()}
"""Numbers, with their codes in `struct`; each has the alignment of its size."""


@functools.cache
def fields(text: str) -> tuple[tuple[str, str, int | None], ...]:
    """Return name, type and count of each field of a text: None of no array, 0 of a sequence."""
    found = re.findall(r"([\w/]+)(\[\d*\])?\s(\w+)", text)
    return tuple((name, kind, int(count[1:-1] or 0) if count else None) for kind, count, name in found)


def encode(table: Table, name: str, values: Mapping[str, Any]) -> bytearray:
    """Return the bytes of the message `name` of a table, with their head; missing values are zero, and empty.

    Raises:
        ValueError: There is no such field, or an array has another size.
    """
    data = bytearray(HEAD)
    _write(data, table, name, values)
    return data


def _write(data: bytearray, table: Table, name: str, values: Mapping[str, Any]) -> None:
    known = fields(table[name])
    if unknown := values.keys() - {field for field, _, _ in known}:
        raise ValueError(f"{name} has no field {', '.join(sorted(unknown))}")
    for field, kind, count in known:
        nothing: Any = 0 if kind in NUMBERS else "" if kind == "string" else {}
        given = values.get(field, nothing if count is None else [nothing] * count)
        elements = [given] if count is None else given
        if count == 0:
            _write_numbers(data, "uint32", [len(elements)])
        elif count and len(elements) != count:
            raise ValueError(f"{name}.{field} has {count} elements, got {len(elements)}")
        if kind in NUMBERS:
            _write_numbers(data, kind, elements)
            continue
        for each in elements:
            if kind == "string":
                raw = each.encode() + b"\0"
                _write_numbers(data, "uint32", [len(raw)])
                data += raw
            else:
                _write(data, table, kind, each)


def _write_numbers(data: bytearray, kind: str, values: Any) -> None:
    if len(values):
        code = NUMBERS[kind]
        data += bytes(-(len(data) - len(HEAD)) % struct.calcsize(code))
        data += struct.pack(f"<{len(values)}{code}", *values)


def decode(table: Table, name: str, data: bytes) -> dict[str, Any]:
    """Return the values in the data of the message `name` of a table; sequences and arrays are arrays of NumPy.

    Raises:
        ValueError: The bytes are not this message.
    """
    if data[:2] != HEAD[:2]:
        raise ValueError(f"{name}: its first bytes are {data[:2].hex()}; only 0001, little-endian CDR, is read")
    try:
        return _CdrReader(bytes(data), table).message(name)
    except (IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"{name}: {len(data)} bytes are no whole message: {error}") from error


class _CdrReader:
    def __init__(self, data: bytes, table: Table) -> None:
        self._data, self._table, self._place = data, table, len(HEAD)

    def message(self, name: str) -> dict[str, Any]:
        return {field: self._field(kind, count) for field, kind, count in fields(self._table[name])}

    def _field(self, kind: str, count: int | None) -> Any:
        length = 1 if count is None else count or self._numbers("uint32", 1)[0].item()
        if kind in NUMBERS:
            numbers = self._numbers(kind, length)
            return numbers[0].item() if count is None else numbers
        if length > len(self._data):
            raise IndexError(f"a sequence of {length}")
        found = [self._text() if kind == "string" else self.message(kind) for _ in range(length)]
        return found[0] if count is None else found

    def _numbers(self, kind: str, count: int) -> np.ndarray:
        size = struct.calcsize(NUMBERS[kind])
        start = self._place + (-(self._place - len(HEAD)) % size if count else 0)
        if start + count * size > len(self._data):
            raise IndexError(f"{count} numbers of type {kind} at {start}")
        self._place = start + count * size
        return np.frombuffer(self._data, f"<{NUMBERS[kind]}", count, start)

    def _text(self) -> str:
        length = self._numbers("uint32", 1)[0].item()
        start, self._place = self._place, self._place + length
        if not 0 < length <= len(self._data) - start:
            raise IndexError(f"a text of {length} bytes at {start}")
        return self._data[start : self._place - 1].decode()
