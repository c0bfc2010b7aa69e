"""Matter of a run as plain data: where the objects of its first world were at the start, and are at the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from pippin.arrays import on_host
from pippin.matter import OF_BODIES, OF_PARTICLES, Matter
from pippin.simulation import Simulation

_DIGITS = 7
"""Digits of a float32."""


def matter_facts(simulation: Simulation) -> dict[str, dict[str, Any]]:
    """Return for each object of matter, by its label, its kind, its number of particles or segments, its mass [kg], its
    centre at the start and at the end [m], its extent at the end [m], and its largest speed at the end [m/s].

    Of copies in several worlds, it is the first one. A value that is not finite is None.
    """
    found: dict[str, dict[str, Any]] = {}
    model, state = simulation.model, simulation.state
    for kinds, element in ((OF_PARTICLES, "particle"), (OF_BODIES, "body")):
        matter = Matter.of(model, *kinds)
        if not matter.labels:
            continue
        masses, start = on_host(getattr(model, f"{element}_mass")), on_host(getattr(model, f"{element}_q"))[:, :3]
        now, velocities = (on_host(getattr(state, f"{element}_{name}"))[:, :3] for name in ("q", "qd"))
        for row, label in enumerate(matter.labels):
            own = slice(int(matter.starts[row]), int(matter.starts[row] + matter.counts[row]))
            facts = {
                "kind": matter.kinds[row],
                "count": int(matter.counts[row]),
                "mass": _plain(masses[own].sum(dtype=float)),
                "start": _vector(start[own].mean(axis=0, dtype=float)),
                "end": _vector(now[own].mean(axis=0, dtype=float)),
                "extent": _vector(np.ptp(now[own], axis=0)),
                "largest_speed": _plain(np.linalg.norm(velocities[own], axis=1).max()),
            }
            found.setdefault(label, facts)
    return found


def _plain(value: Any) -> float | None:
    number = float(value)
    return float(f"{number:.{_DIGITS}g}") if math.isfinite(number) else None


def _vector(values: np.ndarray) -> list[float | None] | None:
    found = [_plain(each) for each in values]
    return None if None in found else found
