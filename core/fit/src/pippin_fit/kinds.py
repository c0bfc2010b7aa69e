"""The kind of plugins that read logs of robots."""

from __future__ import annotations

from pippin.catalog import Kind

LOG = Kind(
    name="log",
    plural="logs",
    meaning="Reads the log of a real robot.",
    place="fit.reader",
    order=120,
    is_named_alone=True,
    checks="pippin_fit.reader_checks:LOG",
)
