"""The kinds of plugins that learn policies, and that keep what they tell."""

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

LOGGER = Kind(
    name="logger",
    plural="loggers",
    meaning="Hands what a training tells to a program that keeps and draws it.",
    place="loggers.*",
    order=115,
    base="pippin_train.loggers.logger:Logger",
)
