"""Lists of what a scene has beside bodies: matter, tendons, attachments and motions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.config.component import ComponentConfig
from pippin.labels import name_of
from pippin.matter import OF_BODIES, OF_PARTICLES, Matter
from pippin.viewing.bounding_box import corners_of

from .model_rows import body_name, numbers
from .rows import AttachmentRow, MatterRow, MotionRow, TendonRow

_PARTS = {"faces": ("tri_indices", 3), "tetrahedra": ("tet_indices", 4), "springs": ("spring_indices", 2)}
"""What joins particles: the array of their indices, and how many each part has."""


def segments_of(model: newton.Model) -> frozenset[int]:
    """Return the bodies that are segments of cables."""
    curves = Matter.of(model, *OF_BODIES)
    return frozenset(curves.elements(np.arange(len(curves.labels))).ravel().tolist()) - {-1}


def matter_rows(model: newton.Model, first_particle: int, first_body: int) -> Iterator[MatterRow]:
    """Yield the objects of matter from some elements on, and the particles of none, at the start of a model."""
    matter = Matter.of(model, *OF_PARTICLES)
    blocks = list(zip(matter.labels, matter.kinds, matter.starts.tolist(), matter.counts.tolist(), strict=True))
    is_free = np.ones(model.particle_count, dtype=bool)
    for _, _, start, count in blocks:
        is_free[start : start + count] = False
    for label, kind, start, count in blocks:
        if start >= first_particle:
            yield _of_particles(model, label, kind, np.arange(start, start + count))
    free = np.flatnonzero(is_free)
    if (free >= first_particle).any():
        yield _of_particles(model, "particles", "particles", free[free >= first_particle])
    cables = Matter.of(model, *OF_BODIES)
    for label, start, count in zip(cables.labels, cables.starts.tolist(), cables.counts.tolist(), strict=True):
        if start >= first_body:
            yield _of_bodies(model, label, np.arange(start, start + count))


def _of_particles(model: newton.Model, label: str, kind: str, particles: np.ndarray) -> MatterRow:
    points, masses = on_host(model.particle_q)[particles], on_host(model.particle_mass)[particles]
    counts = {}
    for name, (array, width) in _PARTS.items():
        indices: Any = getattr(model, array)
        firsts = () if indices is None else on_host(indices).reshape(-1, width)[:, 0]
        counts[name] = int(np.isin(firsts, particles).sum())
    return _row(label, kind, points, masses, float(on_host(model.particle_radius)[particles].mean()), **counts)


def _of_bodies(model: newton.Model, label: str, bodies: np.ndarray) -> MatterRow:
    shapes = np.flatnonzero(np.isin(on_host(model.shape_body), bodies))
    corners = corners_of(model, shapes, on_host(model.body_q))
    return _row(
        label, "cable", corners, on_host(model.body_mass)[bodies], float(on_host(model.shape_scale)[shapes[0], 0])
    )


def _row(label: str, kind: str, points: np.ndarray, masses: np.ndarray, radius: float, **counts: int) -> MatterRow:
    mass, rounded = numbers([masses.sum(dtype=float), radius])
    return MatterRow(
        name=name_of(label) or label,
        kind=kind,
        count=len(masses),
        pinned=int((masses == 0.0).sum()),
        mass=mass,
        radius=rounded,
        lowest=numbers(points.min(axis=0)),
        highest=numbers(points.max(axis=0)),
        label=label,
        **{"faces": 0, "tetrahedra": 0, "springs": 0, **counts},
    )


def tendon_rows(builder: newton.ModelBuilder) -> Iterator[TendonRow]:
    """Yield the tendons in order."""
    starts = [*builder.tendon_start[: len(builder.tendon_label)], len(builder.tendon_guide_body)]
    for tendon, (label, (first, end)) in enumerate(zip(builder.tendon_label, pairwise(starts), strict=True)):
        kinds = (newton.TendonGuideType(each).name.lower() for each in builder.tendon_guide_type[first:end])
        bodies = (body_name(builder, each) for each in builder.tendon_guide_body[first:end])
        spans = builder.tendon_segment_compliance[first - tendon : end - tendon - 1]
        yield TendonRow(
            name=name_of(label),
            guides=tuple(map(" ".join, zip(kinds, bodies, strict=True))),
            compliance=numbers([max(spans)])[0],
            label=label,
        )


def attachment_rows(builder: newton.ModelBuilder, objects: Mapping[str, range]) -> Iterator[AttachmentRow]:
    """Yield what each body holds of each object. `objects` are the particles of each, by its label."""
    owners = {particle: label for label, particles in objects.items() for particle in particles}
    held: Counter[Any] = Counter(
        zip(
            (owners[each] for each in builder.attachment_particle_body_particle),
            builder.attachment_particle_body_body,
            builder.attachment_particle_body_stiffness,
            strict=True,
        )
    )
    for (label, body, stiffness), count in held.items():
        value = None if math.isinf(stiffness) else numbers([stiffness])[0]
        yield AttachmentRow(name=label, body=body_name(builder, body), count=count, stiffness=value)


def motion_rows(motions: Mapping[str, ComponentConfig]) -> Iterator[MotionRow]:
    """Yield the motions in the order of the file."""
    for label, chosen in motions.items():
        config: Any = chosen.config
        what = getattr(config, config.subject)
        text = ", ".join(what) if config.subject == "joints" else getattr(what, "of", what)
        yield MotionRow(name=label, type=chosen.type, moves=f"{config.subject.replace('_', ' ')} {text}")
