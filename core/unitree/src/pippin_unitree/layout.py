"""Messages of a fixed size, whose numbers are read and written in place, and their checksum."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from pippin_ros2.cdr import HEAD, NUMBERS, Table, fields

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def checksum(data: bytes) -> int:
    """Return the CRC of little-endian words of 32 bits, the highest bit first: polynomial 04C11DB7, from all ones."""
    turned = np.frombuffer(data, "<u4").byteswap().tobytes().translate(_REVERSED)
    found = zlib.crc32(turned) ^ 0xFFFFFFFF  # the other way round, and so of reversed bytes
    return int.from_bytes(found.to_bytes(4, "little").translate(_REVERSED), "big")


class Layout:
    """Places of the numbers of a message without sequences and texts, in CDR and in a structure of C.

    The last field of the message is the checksum of all before it.
    """

    def __init__(self, table: Table, name: str) -> None:
        #: Codes of the types in NumPy, by the path of the field, such as `motor_state.q`.
        self.codes: dict[str, str] = {}
        places: dict[str, list[int]] = {}
        wire, packed = list(_leaves(table, name, 0)), list(_leaves(table, name, 0, is_struct=True))
        for path, code, place, _ in wire:
            places.setdefault(path, []).append(place)
            self.codes[path] = f"<{code}"
        del places[""], self.codes[""]
        #: Places of the numbers without the head, by path.
        self.places: dict[str, np.ndarray] = {path: np.array(each) for path, each in places.items()}
        #: Number of bytes, without a head.
        self.size: int = wire[-1][3]
        self._struct_size, self._bytes, self._struct_bytes = packed[-1][3], _bytes(wire), _bytes(packed)

    def crc(self, data: bytes | bytearray) -> int:
        """Return the checksum of a message with its head: that of the structure of C without its last word."""
        packed = np.zeros(self._struct_size, dtype=np.uint8)
        packed[self._struct_bytes] = np.frombuffer(data, np.uint8)[self._bytes + len(HEAD)]
        return checksum(packed[:-4].tobytes())


_Leaf = tuple[str, str, int, int]


def _leaves(table: Table, name: str, place: int, path: str = "", is_struct: bool = False) -> Iterator[_Leaf]:
    """Yield path, code, place and end of each number; and, with an empty path, the end of each message."""
    whole = _alignment(table, name) if is_struct else 1
    place += -place % whole
    for field, kind, count in fields(table[name]):
        for _ in range(count or 1):
            if kind in NUMBERS:
                size = struct.calcsize(NUMBERS[kind])
                place += -place % size
                yield f"{path}{field}", NUMBERS[kind], place, place + size
                place += size
            else:
                for each in _leaves(table, kind, place, f"{path}{field}.", is_struct):
                    place = each[3]
                    if each[0]:
                        yield each
    yield "", "x", place, place + -place % whole


def _alignment(table: Table, name: str) -> int:
    kinds = [kind for _, kind, _ in fields(table[name])]
    return max(struct.calcsize(NUMBERS[each]) if each in NUMBERS else _alignment(table, each) for each in kinds)


def _bytes(leaves: list[_Leaf]) -> np.ndarray:
    """Return the places of all bytes of numbers, in the order of the fields."""
    return np.concatenate([np.arange(place, end) for path, _, place, end in leaves if path])


class Record:
    """A message whose numbers are read and written in place; none of them has more than four bytes."""

    def __init__(self, layout: Layout) -> None:
        room = len(HEAD) + layout.size
        #: The bytes with their head.
        self.data: bytearray = bytearray(room + -room % 4)
        self.data[: len(HEAD)] = HEAD
        self._layout = layout
        self._views = {code: np.frombuffer(self.data, code) for code in set(layout.codes.values())}
        self._indices = {
            path: (place + len(HEAD)) // np.dtype(layout.codes[path]).itemsize for path, place in layout.places.items()
        }

    def fill(self, data: bytes) -> None:
        """Take other bytes with a head.

        Raises:
            ValueError: They are no such message, or their checksum is wrong.
        """
        if data[:2] != HEAD[:2] or len(data) < len(HEAD) + self._layout.size:
            raise ValueError(f"{len(data)} bytes that begin with {data[:2].hex()} are no such message")
        self.data[:] = data[: len(self.data)].ljust(len(self.data), b"\0")
        told, found = int(self["crc"][0]), self._layout.crc(self.data)
        if told != found:
            raise ValueError(f"its checksum is {told:#010x}, and that of its numbers {found:#010x}")

    def sealed(self) -> bytes:
        """Return the bytes with their checksum."""
        self["crc"] = self._layout.crc(self.data)
        return bytes(self.data)

    def __getitem__(self, path: str) -> np.ndarray:
        """Return the numbers of a field, shape [count]."""
        return self._views[self._layout.codes[path]][self._indices[path]]

    def __setitem__(self, path: str, values: Any) -> None:
        """Write the numbers of a field; one number is written to all places."""
        self._views[self._layout.codes[path]][self._indices[path]] = values
