"""Records of an MCAP file, also of one that is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pippin.extras import import_library

METADATA = "pippin"
"""Name of the metadata with the header's text."""


def records(path: Path) -> Iterator[Any]:
    """Yield the records of a file until its end, or until it was cut off."""
    reader: Any = import_library("mcap.stream_reader", "mcap")
    with path.open("rb") as file:
        records = reader.StreamReader(file).records
        while True:
            try:
                record = next(records)
            except Exception:  # the reader raises what its decoders raise, and a cut file ends anywhere
                return
            yield record
