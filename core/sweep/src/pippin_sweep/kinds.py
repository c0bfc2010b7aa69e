"""The kind of plugins that run the variants of a sweep."""

from __future__ import annotations

from pippin.catalog import Kind

EXECUTOR = Kind(
    name="executor",
    plural="executors",
    meaning="Runs the variants of a sweep.",
    order=100,
    checks="pippin_sweep.checks:EXECUTOR",
)
