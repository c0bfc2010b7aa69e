"""Tables of comma-separated values, as a Pippin recorder."""

import csv

import numpy as np
from pippin.recording import Recorder


class RecorderDemo(Recorder):
    """The plugin: a recorder with `type = "demo"`.

    The base class finds the channels, gathers rows in a buffer, and calls these three methods.
    """

    suffix = ".csv"

    def open(self, path, header):
        """Begin the file with the names of the columns."""
        self._names = [column.name for column in header.columns]
        self._file = path.open("w", newline="", encoding="utf-8")
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
