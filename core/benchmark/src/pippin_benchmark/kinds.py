"""The kind of plugins that state problems of physics."""

from __future__ import annotations

from pippin.catalog import Kind

PROBLEM = Kind(
    name="problem",
    plural="problems",
    meaning="States a problem of physics with a reference.",
    order=130,
    base="pippin_benchmark:BenchmarkProblem",
    checks="pippin_benchmark.checks:PROBLEM",
    template="pippin_conformance.templates:problem",
)
