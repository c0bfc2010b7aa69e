"""Objects of matter that use a feature, found in a finalized model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import newton
import numpy as np
from pippin.attribute_rows import numbers, texts

from .model_rows import host


def _particle_contacts(model: newton.Model) -> Sequence[str]:
    """Return the blocks of loose particles."""
    return texts(model, "pippin:grains_label")


def _face_contacts(model: newton.Model) -> Sequence[str]:
    """Return the objects of particles that share a world with other ones, if one of them has faces."""
    labels, worlds = texts(model, "pippin:grains_label"), [*numbers(model, "pippin:grains_world")]
    loose = len(labels)
    for kind in ("surface", "volume"):
        if getattr(model, f"{kind}_label"):
            labels += getattr(model, f"{kind}_label")
            worlds += [*host(getattr(model, f"{kind}_world"))]
    if len(labels) == loose:
        return ()
    shared = np.bincount(np.array(worlds) + 1, minlength=model.world_count + 1)
    others = [shared[world + 1] + (shared[0] if world >= 0 else shared[1:].sum()) for world in worlds]
    return [label for label, count in zip(labels, others, strict=True) if count > 1]


def _activations(model: newton.Model) -> Sequence[str]:
    counts = {
        "triangles": np.count_nonzero(host(model.tri_activations)),
        "tetrahedra": np.count_nonzero(host(model.tet_activations)),
    }
    return [f"{count} {what}" for what, count in counts.items() if count]


MATTER_USERS: Mapping[str, Callable[[newton.Model], Sequence[str]]] = {
    "activations": _activations,
    "face_contacts": _face_contacts,
    "particle_contacts": _particle_contacts,
}
"""Functions that list the objects of matter that use a feature, by feature."""
