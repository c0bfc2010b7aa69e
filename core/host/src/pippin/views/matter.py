"""Cloth, soft bodies, granular matter and cables of all worlds as rows: their particles, or the bodies of a cable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.binding import Host
from pippin.devices import WARP_LOCK
from pippin.state.spreads import Spread
from pippin.state.world_rows import as_rows

from .body_rows import BodyRowView, movers
from .memory import Array, deliver
from .quantities import CABLE, PARTICLES, Element, ViewQuantity
from .rows import RowView
from .structure import PADDING, padded


class MatterView(RowView):
    """Rows of objects of matter: what those of particles and those of bodies have in common."""

    _positions: ClassVar[str]
    """Array of the state with the positions of the elements."""

    _spread: Spread

    def get_centroids(self, out: Array | None = None) -> Array:
        """Return the mean of the positions of particles, or of the origins of segments [m], shape [count, 3].

        Frame: world.
        """
        with WARP_LOCK:
            self._update("get_centroids")
            return deliver(as_rows(self._spread.mean, wp.float32, self.count), out, "get_centroids")

    def get_bounds(self, out: Array | None = None) -> Array:
        """Return the lowest and the highest coordinates of particles, or of the origins of segments [m].

        Shape [count, 6]: lowest x, y and z, then the highest ones. Frame: world.
        """
        with WARP_LOCK:
            self._update("get_bounds")
            return deliver(as_rows(self._spread.bounds, wp.float32, self.count), out, "get_bounds")

    def _update(self, where: str) -> None:
        self._refuse_invalid(where)
        self._spread.measure(getattr(self._host.stepped_state or self._host.state, self._positions))


class ParticleView(MatterView):
    """One row for each object with particles: a cloth, a soft body or a block of granular matter.

    Rows are padded to the object with the most particles: with -1 in the index maps, and with 0 in the values. The
    columns are the particles of the object in its own order. `SimulationView.surfaces`, `volumes` and `particles` make
    this view. Errors are those of `ArticulationView`.

    Args:
        host: The simulation.
        labels: Label of each row.
        world_ids: World of each row, shape [count], int32.
        particles: Particles of each row, shape [count, max_particles], int32, padded with -1.
    """

    quantities: ClassVar[Mapping[str, ViewQuantity]] = PARTICLES
    _writes = "particles"
    _positions = "particle_q"

    def __init__(self, host: Host, labels: Sequence[str], world_ids: np.ndarray, particles: np.ndarray) -> None:
        #: Particle of each column, shape [count, max_particles]; -1 in the padding of short rows.
        self.particle_indices: np.ndarray = particles
        self._spread = Spread(particles, host.model)
        super().__init__(host, labels, world_ids, np.full_like(world_ids, PADDING), {"particle": particles})

    def _name_of(self, element: Element, row: int, column: int) -> str:
        return f"particle {column}"

    def _elements(self, indices: Mapping[str, np.ndarray]) -> dict[str, Callable[[], np.ndarray]]:
        particles, worlds = indices["particle"], self.world_ids
        return {"PARTICLE": lambda: particles, "WORLD": lambda: worlds}

    @property
    def max_particles(self) -> int:
        """The number of particles of the row with the most."""
        return self.particle_indices.shape[1]

    @property
    def particle_mask(self) -> np.ndarray:
        """Whether each column is a particle of the row, and no padding, shape [count, max_particles]."""
        return self.particle_indices != PADDING

    @property
    def triangles(self) -> np.ndarray:
        """Columns of the corners of each triangle, shape [count, max_triangles, 3]; rows with fewer end with -1."""
        return self._between("tri_indices", 3)

    @property
    def tetrahedra(self) -> np.ndarray:
        """Columns of the corners of each tetrahedron, shape [count, max_tetrahedra, 4]; short rows end with -1."""
        return self._between("tet_indices", 4)

    @property
    def edges(self) -> np.ndarray:
        """Columns of the ends of each edge that bends, shape [count, max_edges, 2]; rows with fewer end with -1."""
        return self._between("edge_indices", 4, slice(2, 4))

    @property
    def springs(self) -> np.ndarray:
        """Columns of the ends of each spring, shape [count, max_springs, 2]; rows with fewer end with -1."""
        return self._between("spring_indices", 2)

    def _between(self, name: str, width: int, ends: slice = slice(None)) -> np.ndarray:
        array = getattr(self._host.model, name)
        elements = np.zeros((0, width), dtype=np.int32) if array is None else on_host(array).reshape(-1, width)
        elements = elements[:, ends]
        places = np.full((2, self._host.model.particle_count), PADDING)
        inside = self.particle_mask
        places[:, self.particle_indices[inside]] = np.nonzero(inside)
        row_of, column_of = places
        mine = np.flatnonzero(row_of[elements[:, 0]] != PADDING) if len(elements) else np.zeros(0, dtype=int)
        mine = mine[np.argsort(row_of[elements[mine, 0]], kind="stable")]
        numbers = padded(row_of[elements[mine, 0]], mine, self.count)
        return np.where(numbers[..., None] == PADDING, PADDING, column_of[elements[numbers]]).astype(np.int32)

    def get_particle_positions(self, out: Array | None = None) -> Array:
        """Return the position of each particle [m], shape [count, max_particles, 3]. Frame: world."""
        return self._get("particle_positions", out)

    def set_particle_positions(
        self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False
    ) -> None:
        """Set the position of each particle [m], shape [count, max_particles, 3].

        Frame: world. The solver forgets what it remembers of these worlds.
        """
        self._set("particle_positions", data, indices, mask, compact)

    def get_particle_velocities(self, out: Array | None = None) -> Array:
        """Return the velocity of each particle [m/s], shape [count, max_particles, 3]. Frame: world."""
        return self._get("particle_velocities", out)

    def set_particle_velocities(
        self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False
    ) -> None:
        """Set the velocity of each particle [m/s], shape [count, max_particles, 3].

        Frame: world. The solver forgets what it remembers of these worlds.
        """
        self._set("particle_velocities", data, indices, mask, compact)

    def get_particle_masses(self, out: Array | None = None) -> Array:
        """Return the mass of each particle [kg], shape [count, max_particles]. It is 0 if the particle is pinned."""
        return self._get("particle_masses", out)


class CableView(MatterView, BodyRowView):
    """One row for each cable, padded to the one with the most segments; links are its segments, which are bodies.

    `SimulationView.cables` makes this view. Errors are those of `ArticulationView`.

    Args:
        host: The simulation.
        labels: Label of each row.
        world_ids: World of each row, shape [count], int32.
        bodies: Bodies of each row, shape [count, max_links], int32, padded with -1.
    """

    quantities: ClassVar[Mapping[str, ViewQuantity]] = CABLE
    _writes = "bodies"
    _positions = "body_q"

    def __init__(self, host: Host, labels: Sequence[str], world_ids: np.ndarray, bodies: np.ndarray) -> None:
        #: Body of each segment, shape [count, max_links]; -1 in the padding of short rows.
        self.body_indices: np.ndarray = bodies
        self._spread = Spread(bodies, host.model)
        joints, trees = (np.where(bodies == PADDING, PADDING, each) for each in movers(host.model, bodies))
        trees = trees.max(axis=1, initial=PADDING).astype(np.int32)
        root = joints[:, :1].max(axis=1, initial=PADDING)
        super().__init__(host, labels, world_ids, trees, {"link": bodies, "joint": joints}, root)

    def _name_of(self, element: Element, row: int, column: int) -> str:
        return f"segment {column}"

    @property
    def max_links(self) -> int:
        """The number of segments of the cable with the most."""
        return self.body_indices.shape[1]

    def get_link_transforms(self, out: Array | None = None) -> Array:
        """Return the pose of each segment [m, 1], shape [count, max_links, 7].

        Frame: world; position of the body's origin, quaternion (x, y, z, w).
        """
        return self._get("link_transforms", out)

    def set_link_transforms(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the pose of each segment [m, 1], shape [count, max_links, 7].

        Frame: world; position of the body's origin, quaternion (x, y, z, w). The joints follow.
        """
        self._set("link_transforms", data, indices, mask, compact)

    def get_link_velocities(self, out: Array | None = None) -> Array:
        """Return the velocity of each segment [m/s, rad/s], shape [count, max_links, 6].

        Frame: world; linear of the centre of mass, then angular.
        """
        return self._get("link_velocities", out)

    def set_link_velocities(self, data: Array, indices: Any = None, mask: Any = None, *, compact: bool = False) -> None:
        """Set the velocity of each segment [m/s, rad/s], shape [count, max_links, 6].

        Frame: world; linear of the centre of mass, then angular. The joints follow.
        """
        self._set("link_velocities", data, indices, mask, compact)
