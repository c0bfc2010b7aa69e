"""The kind of plugins that state problems of physics."""

from __future__ import annotations

from pippin.catalog import Kind

SCENE = Kind(
    name="scene",
    plural="scenes",
    meaning="States a problem of physics with a reference.",
    order=130,
    base="pippin_benchmark:BenchmarkScene",
    checks="pippin_benchmark.checks:SCENE",
    template="pippin_conformance.templates:scene",
)
