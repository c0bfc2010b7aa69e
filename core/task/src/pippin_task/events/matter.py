"""Events that change the material of cloth, soft bodies and loose particles, around the built numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host
from pippin.labels import match
from pippin.matter import OF_PARTICLES, Matter

from pippin_task import TermContext

from .configs import MaterialConfig
from .kernels.model import vary_particle_masses
from .variation import ModelEvent, Variation

_SPRINGS, _TRIANGLES, _EDGES, _TETRAHEDRA = "spring_indices", "tri_indices", "edge_indices", "tet_indices"

_PLACES: Mapping[str, tuple[str, str, int]] = {
    "spring_ke": ("spring_stiffness", _SPRINGS, 0),
    "spring_kd": ("spring_damping", _SPRINGS, 0),
    "tri_ke": ("tri_materials", _TRIANGLES, 0),
    "tri_ka": ("tri_materials", _TRIANGLES, 1),
    "tri_kd": ("tri_materials", _TRIANGLES, 2),
    "tri_drag": ("tri_materials", _TRIANGLES, 3),
    "tri_lift": ("tri_materials", _TRIANGLES, 4),
    "edge_ke": ("edge_bending_properties", _EDGES, 0),
    "edge_kd": ("edge_bending_properties", _EDGES, 1),
    "k_mu": ("tet_materials", _TETRAHEDRA, 0),
    "k_lambda": ("tet_materials", _TETRAHEDRA, 1),
    "k_damp": ("tet_materials", _TETRAHEDRA, 2),
}
"""Array of the model, the particles of its elements, and the column, of each number."""


class Material(ModelEvent):
    """The event `material`."""

    def __init__(self, config: MaterialConfig, context: TermContext) -> None:
        super().__init__(config, context)
        model: Any = context.simulation.model
        array, ends, column = _PLACES.get(config.number, ("particle_mass", "", 0))
        context.refuse_unsupported(array, "number")
        matter = Matter.of(model, *OF_PARTICLES)
        known = list(dict.fromkeys(matter.labels))
        chosen = [known[index] for index in match(config.objects, known, "object with particles", "objects")]
        context.claim(config.number, chosen, "objects")
        numbers = {label: number for number, label in enumerate(chosen)}
        owners = np.full(model.particle_count, -1)  # the row of the object of each particle
        for row, label in enumerate(matter.labels):
            if label in numbers and matter.worlds[row] >= 0:
                owners[matter.starts[row] :][: matter.counts[row]] = row
        values: Any = getattr(model, array)
        of_elements = owners if not ends else _owners(owners, getattr(model, ends))
        built = on_host(values).reshape(len(of_elements), -1) if len(of_elements) else np.zeros((0, column + 1))
        elements = np.flatnonzero(of_elements >= 0)
        elements = elements[built[elements, column] > 0.0]  # what is pinned has no mass
        missing = set(chosen) - {matter.labels[row] for row in of_elements[elements]}
        if missing:
            raise ConfigError(
                f"number: {min(missing, key=chosen.index)!r} has no {config.number} to change; state one in the object,"
                " or choose other objects"
            )
        variation = Variation(config)
        variation.refuse_below_zero(built[elements, column], config.number, above=config.number == "particle_mass")
        rows = of_elements[elements]
        of_worlds, of_labels = matter.worlds[rows], [numbers[matter.labels[row]] for row in rows]
        self.ranges = variation.arguments
        self._vary(values, (of_worlds, of_labels), elements, column)
        if not ends:
            self.kernel, arrays = vary_particle_masses, [values, model.particle_inv_mass]
            self.after = [*map(wp.clone, arrays), *arrays]


def _owners(owners: np.ndarray, indices: Any) -> np.ndarray:
    """Return the row of the object of each element, given that of each particle; -1 for none."""
    if indices is None:
        return np.zeros(0, dtype=int)
    corners: Any = on_host(indices)
    return owners[corners.reshape(-1, 2 if corners.ndim == 1 else corners.shape[1]).max(axis=1)]  # springs are flat
