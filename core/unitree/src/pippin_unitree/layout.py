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
