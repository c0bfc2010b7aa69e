"""The kind of plugins that learn policies."""

from __future__ import annotations

from pippin.catalog import Kind

TRAINER = Kind(
    name="trainer",
    plural="trainers",
    meaning="Learns a policy for a task.",
    place="trainer",
    order=110,
    checks="pippin_train.checks:TRAINER",
)
