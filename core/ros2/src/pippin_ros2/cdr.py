"""Common data representation, version 1, little endian: messages by tables of their fields, in bytes and back.

A table has, for each message, its fields in order with their types: a number, `string`, the name of another message,
one of them with `[]` for a sequence, or with `[9]` for an array.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["HEAD", "Layout", "Record", "Table", "decode", "encode"]

Table = Mapping[str, Mapping[str, str]]
"""The fields of messages with their types, by the name of the message."""

HEAD = b"\x00\x01\x00\x00"
"""First bytes of each message: little endian, version 1."""

NUMBERS = {
    "bool": "?",
    "uint8": "B",
    "int8": "b",
    "uint16": "H",
    "int16": "h",
    "uint32": "I",
    "int32": "i",
    "uint64": "Q",
    "int64": "q",
    "float32": "f",
    "float64": "d",
}
"""Numbers, with their codes in `struct`; each has the alignment of its size."""


@functools.cache
def parse(kind: str) -> tuple[str, int | None]:
    """Return the type of an element, and its count: 1 of a single one, 0 of a sequence, None of no array at all."""
    found = re.fullmatch(r"([\w/]+)(?:\[(\d*)\])?", kind)
    if found is None:
        raise ValueError(f"{kind!r} is no type")
    return found[1], None if found[2] is None else int(found[2] or 0)


def encode(table: Table, name: str, values: Mapping[str, Any]) -> bytearray:
    """Return the bytes of a message, with their head.

    Args:
        table: The messages.
        name: The message.
        values: Values of fields; those that are missing are zero, and empty.

    Raises:
        KeyError: There is no such field.
    """
    data = bytearray(HEAD)
    _write(data, table, name, values)
    return data


def _write(data: bytearray, table: Table, name: str, values: Mapping[str, Any]) -> None:
    unknown = values.keys() - table[name].keys()
    if unknown:
        raise KeyError(f"{name} has no field {', '.join(sorted(unknown))}")
    for field, kind in table[name].items():
        inner, count = parse(kind)
        given = values.get(field)
        if count is None:
            given = [_nothing(inner) if given is None else given]
        elif count == 0:
            given = [] if given is None else given
            _write_numbers(data, "uint32", [len(given)])
        else:
            given = [_nothing(inner)] * count if given is None else given
            if len(given) != count:
                raise ValueError(f"{name}.{field} has {count} elements, got {len(given)}")
        if inner in NUMBERS:
            _write_numbers(data, inner, given)
        elif inner == "string":
            for text in given:
                raw = text.encode() + b"\0"
                _write_numbers(data, "uint32", [len(raw)])
                data += raw
        else:
            for each in given:
                _write(data, table, inner, each)


def _nothing(kind: str) -> Any:
    return 0 if kind in NUMBERS else "" if kind == "string" else {}


def _write_numbers(data: bytearray, kind: str, values: Sequence[Any]) -> None:
    code = NUMBERS[kind]
    if len(values):
        data += bytes(-(len(data) - len(HEAD)) % struct.calcsize(code))
        data += struct.pack(f"<{len(values)}{code}", *values)


def decode(table: Table, name: str, data: bytes) -> dict[str, Any]:
    """Return the values of a message. Numbers in sequences and arrays are arrays of NumPy.

    Args:
        table: The messages.
        name: The message.
        data: Its bytes, with their head.

    Raises:
        ValueError: The bytes are not this message.
    """
    if data[:2] != HEAD[:2]:
        raise ValueError(f"{name}: its first bytes are {data[:2].hex()}; only 0001, little-endian CDR, is read")
    try:
        return _Reader(data, table).message(name)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"{name}: {len(data)} bytes are no whole message: {error}") from error


class _Reader:
    def __init__(self, data: bytes, table: Table) -> None:
        self._data, self._table, self._place = bytes(data), table, len(HEAD)

    def message(self, name: str) -> dict[str, Any]:
        return {field: self._field(*parse(kind)) for field, kind in self._table[name].items()}

    def _field(self, kind: str, count: int | None) -> Any:
        length = 1 if count is None else count or int(self._numbers("uint32", 1)[0])
        if kind in NUMBERS:
            numbers = self._numbers(kind, length)
            return numbers[0].item() if count is None else numbers
        if length > len(self._data):
            raise IndexError(f"a sequence of {length}")
        found = [self._text() if kind == "string" else self.message(kind) for _ in range(length)]
        return found[0] if count is None else found

    def _numbers(self, kind: str, count: int) -> np.ndarray:
        code = NUMBERS[kind]
        size = struct.calcsize(code)
        start = self._place + (-(self._place - len(HEAD)) % size if count else 0)
        if start + count * size > len(self._data):
            raise IndexError(f"{count} numbers of type {kind} at {start}")
        self._place = start + count * size
        return np.frombuffer(self._data, f"<{code}", count, start)

    def _text(self) -> str:
        length = int(self._numbers("uint32", 1)[0])
        start, self._place = self._place, self._place + length
        if not 0 < length <= len(self._data) - start:
            raise IndexError(f"a text of {length} bytes at {start}")
        return self._data[start : self._place - 1].decode()


class Layout:
    """Where the numbers of a message without sequences and texts are.

    Args:
        table: The messages.
        name: The message.
        is_struct: Whether it is a structure of C, which has the alignment of its largest number and is filled up to it.
    """

    def __init__(self, table: Table, name: str, is_struct: bool = False) -> None:
        places: dict[str, list[int]] = {}
        #: Codes of the types in NumPy, by path.
        self.codes: dict[str, str] = {}
        end = 0
        for path, code, place, end in _leaves(table, name, 0, is_struct):
            if path:
                places.setdefault(path, []).append(place)
                self.codes[path] = f"<{code}"
        #: Places of each number by the path of its field, such as `motor_state.q`.
        self.places: dict[str, np.ndarray] = {path: np.array(each) for path, each in places.items()}
        #: Number of bytes, without a head.
        self.size: int = end

    def bytes_of(self) -> np.ndarray:
        """Return the places of all bytes of numbers, in the order of the fields."""
        parts = [
            (place[:, None] + np.arange(np.dtype(self.codes[path]).itemsize)).reshape(-1)
            for path, place in self.places.items()
        ]
        return np.concatenate(parts)


def _leaves(table: Table, name: str, place: int, is_struct: bool, path: str = "") -> Iterator[tuple[str, str, int, int]]:
    """Yield path, code, place and end of each number; and, with an empty path, the end of each message."""
    whole = _alignment(table, name) if is_struct else 1
    place += -place % whole
    for field, kind in table[name].items():
        inner, count = parse(kind)
        for _ in range(count or 1):
            if inner in NUMBERS:
                size = struct.calcsize(NUMBERS[inner])
                place += -place % size
                yield f"{path}{field}", NUMBERS[inner], place, place + size
                place += size
            else:
                for each in _leaves(table, inner, place, is_struct, f"{path}{field}."):
                    yield each
                    place = each[3]
    yield "", "", place, place + -place % whole


def _alignment(table: Table, name: str) -> int:
    kinds = [parse(kind)[0] for kind in table[name].values()]
    return max(struct.calcsize(NUMBERS[each]) if each in NUMBERS else _alignment(table, each) for each in kinds)


class Record:
    """A message whose numbers are read and written in place; none of them has more than four bytes.

    Args:
        layout: Where they are.
        data: The bytes with a head; by default zeros.

    Raises:
        ValueError: The bytes are too few.
    """

    def __init__(self, layout: Layout, data: bytes | None = None) -> None:
        room = len(HEAD) + layout.size
        self.data = bytearray(room + -room % 4)
        self._layout = layout
        self._views = {code: np.frombuffer(self.data, code) for code in set(layout.codes.values())}
        self._indices = {
            path: (place + len(HEAD)) // np.dtype(layout.codes[path]).itemsize for path, place in layout.places.items()
        }
        self.data[: len(HEAD)] = HEAD
        if data is not None:
            self.fill(data)

    def fill(self, data: bytes) -> None:
        """Take other bytes with a head.

        Raises:
            ValueError: They are too few.
        """
        if data[:2] != HEAD[:2] or len(data) < len(HEAD) + self._layout.size:
            raise ValueError(f"{len(data)} bytes that begin with {data[:2].hex()} are no such message")
        self.data[:] = data[: len(self.data)].ljust(len(self.data), b"\0")

    def __getitem__(self, path: str) -> np.ndarray:
        """Return the numbers of a field, shape [count]."""
        return self._views[self._layout.codes[path]][self._indices[path]]

    def __setitem__(self, path: str, values: Any) -> None:
        """Write the numbers of a field; one number is written to all places."""
        self._views[self._layout.codes[path]][self._indices[path]] = values
