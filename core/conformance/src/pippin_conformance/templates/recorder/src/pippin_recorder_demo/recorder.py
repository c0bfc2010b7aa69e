"""Tables of comma-separated values, as a Pippin recorder, and their reader."""

import csv

import numpy as np
from pippin.recording import Header, Recorder


class RecorderDemo(Recorder):
    """The plugin: a recorder with `type = "demo"`.

    The base class finds the channels, gathers rows in a buffer, and calls these three methods.
    """

    suffix = ".demo"

    def open(self, path, header):
        """Begin the file with the header in a comment, and the names of the columns."""
        self._names = [column.name for column in header.columns]
        self._file = path.open("w", newline="", encoding="utf-8")
        self._file.write(f"# {header.to_json()}\n")
        self._table = csv.writer(self._file)
        sizes = [(column.name, int(np.prod(column.shape))) for column in header.columns]
        self._table.writerow(["time", *(f"{name}[{index}]" for name, size in sizes for index in range(size))])

    def write(self, rows):
        """Append rows, and give them to the system: what is written survives the end of the process."""
        columns = [rows["time"][:, None], *(rows[name].reshape(len(rows), -1) for name in self._names)]
        for row in np.concatenate(columns, axis=1, dtype=float):
            self._table.writerow([f"{number:.{self.config.digits}g}" for number in row])
        self._file.flush()

    def finish(self):
        """Close the file."""
        self._file.close()


class ReaderDemo:
    """The reader of these files: Pippin finds it by their suffix, the name of its entry point."""

    def __init__(self, path):
        with path.open(newline="", encoding="utf-8") as file:
            self.header = Header.from_json(file.readline().removeprefix("# "), str(path))
            lines = file.read().split("\r\n")[1:-1]  # without the names, and without a row that was cut off
        sizes = [int(np.prod(column.shape)) for column in self.header.columns]
        numbers = np.array([line.split(",") for line in lines], dtype=float).reshape(len(lines), 1 + sum(sizes))
        self._columns = {"time": numbers[:, 0]}
        parts = np.split(numbers[:, 1:], np.cumsum(sizes)[:-1], axis=1)
        for column, part in zip(self.header.columns, parts, strict=True):
            self._columns[column.name] = part.reshape(-1, *column.shape).astype(column.dtype)

    def column(self, name):
        """Return the values of a channel, shape [rows, worlds, …]."""
        return self._columns[name]

    def close(self):
        """Do nothing: the file is closed, and the numbers are in memory."""
