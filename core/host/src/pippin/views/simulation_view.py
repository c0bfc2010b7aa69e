"""Views of a simulation: articulations, bodies, matter and contacts selected by patterns, and gravity."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.binding import Host, refuse_closed
from pippin.devices import WARP_LOCK
from pippin.errors import SimulationError
from pippin.frozen_attributes import FrozenAttributes, freeze
from pippin.matter import OF_BODIES, OF_PARTICLES, Matter, MatterKind
from pippin.spelling import listed

from .articulations import ArticulationView
from .body_rows import RigidBodyView
from .contacts.view import RigidContactView
from .device_faults import DeviceFaults
from .errors import ViewError
from .host_checks import HostCheck
from .kernels.gather_scatter import scatter_numbers
from .kernels.rows import DirtyFlags
from .launching import PreparedLaunch
from .matter import CableView, ParticleView
from .memory import Array, Staging, WarpArrayCache, deliver
from .metatype import ObjectType
from .permissions import IN_STEP, note_change
from .row_selection import RowFlags, RowSelector
from .rows import RowView
from .rules import RULES
from .selection import Patterns, SelectionError, chosen_worlds, select
from .structure import index_map, object_type

_SET_GRAVITY = "set_gravity"
_LISTED = 4

_MATTER: dict[str, tuple[tuple[MatterKind, ...], str, type[ParticleView | CableView]]] = {
    "surfaces": (("surface",), "surface", ParticleView),
    "volumes": (("volume",), "volume", ParticleView),
    "cables": (OF_BODIES, "cable", CableView),
    "particles": (OF_PARTICLES, "object with particles", ParticleView),
}
"""The methods for matter: the kinds of objects, their name in errors, and the class of the view."""


class SimulationView(FrozenAttributes):
    """Views of one simulation, available as `Simulation.view`.

    After a call of `invalidate`, every method raises a `SimulationError`.

    Args:
        host: The simulation.
    """

    _assignable = frozenset({"is_valid"})

    def __init__(self, host: Host) -> None:
        self._host = host
        #: Whether views can be made and used; False after a call of `invalidate`.
        self.is_valid: bool = True
        self._views: weakref.WeakSet[RowView | RigidContactView] = weakref.WeakSet()
        model = host.model
        count, device = model.world_count, model.device
        self._selector = RowSelector(count, device, what="world")
        self._staging = Staging(3 * count, "float32", device)
        self._faults = DeviceFaults([_SET_GRAVITY], device)
        self._faults_of_gravity = self._faults.of(_SET_GRAVITY)
        self._index = index_map(np.arange(3 * count, dtype=np.int32).reshape(count, 3), device)
        is_used = np.ones((count, 1), dtype=bool)
        self._check = HostCheck(components=3, is_used=is_used, describe=lambda world, _: f"world {world}")
        gravity = present(model.gravity)  # its last row is for objects of no world
        self._gravity = wp.array(ptr=gravity.ptr, dtype=wp.float32, shape=(count, 3), device=device)
        self._gravity_numbers = self._gravity.flatten()
        flags = RowFlags.of_model(host, np.arange(count))
        self._flags = DirtyFlags() if flags is None else flags.argument
        self._aliases, self._scatter = WarpArrayCache(), PreparedLaunch(scatter_numbers, device, 3)
        freeze(self)

    @property
    def step_count(self) -> int:
        """Number of control steps so far."""
        return self._host.step_count

    @property
    def device(self) -> wp.Device:
        """Device of the simulation and of all arrays that views return."""
        return present(self._host.model.device)

    def articulations(
        self, pattern: Patterns, *, worlds: Any = None, path_glob: bool = True, allow_empty: bool = False
    ) -> ArticulationView:
        """Return a view of articulations, each once, in the order of the patterns, then by world and index.

        Args:
            pattern: One pattern or several: a glob, which is a path with `*`, `**` and `[]` in its segments; a compiled
                regular expression, which matches names, or whole labels if it contains a `/`; or an index.
            worlds: Indices or a mask of the worlds to select in, -1 for no world; by default all.
            path_glob: Whether globs are compared segment by segment. Otherwise `*` crosses slashes, as in Newton.
            allow_empty: Whether a pattern may match nothing.

        Raises:
            SelectionError: A pattern matches nothing, or is malformed.
            SimulationError: The view was invalidated.
        """
        chosen = self._select("articulation", pattern, worlds, path_glob=path_glob, allow_empty=allow_empty)
        return self._keep(ArticulationView(self._host, chosen))

    def rigid_bodies(
        self, pattern: Patterns, *, worlds: Any = None, path_glob: bool = True, allow_empty: bool = False
    ) -> RigidBodyView:
        """Return a view of bodies.

        See `articulations` for `pattern`, `worlds`, `path_glob` and `allow_empty`, for the order and the errors.
        """
        chosen = self._select("body", pattern, worlds, path_glob=path_glob, allow_empty=allow_empty)
        return self._keep(RigidBodyView(self._host, chosen))

    def surfaces(
        self, pattern: Patterns, *, worlds: Any = None, path_glob: bool = True, allow_empty: bool = False
    ) -> ParticleView:
        """Return a view of surfaces, such as cloth.

        See `articulations` for `pattern`, `worlds`, `path_glob` and `allow_empty`, for the order and the errors.
        """
        return self._matter("surfaces", pattern, worlds, path_glob=path_glob, allow_empty=allow_empty)

    def volumes(
        self, pattern: Patterns, *, worlds: Any = None, path_glob: bool = True, allow_empty: bool = False
    ) -> ParticleView:
        """Return a view of volumes, which are soft bodies.

        See `articulations` for `pattern`, `worlds`, `path_glob` and `allow_empty`, for the order and the errors.
        """
        return self._matter("volumes", pattern, worlds, path_glob=path_glob, allow_empty=allow_empty)

    def particles(
        self, pattern: Patterns, *, worlds: Any = None, path_glob: bool = True, allow_empty: bool = False
    ) -> ParticleView:
        """Return a view of all objects with particles: surfaces, volumes and granular matter.

        See `articulations` for `pattern`, `worlds`, `path_glob` and `allow_empty`, for the order and the errors.
        """
        return self._matter("particles", pattern, worlds, path_glob=path_glob, allow_empty=allow_empty)

    def cables(
        self, pattern: Patterns, *, worlds: Any = None, path_glob: bool = True, allow_empty: bool = False
    ) -> CableView:
        """Return a view of cables.

        See `articulations` for `pattern`, `worlds`, `path_glob` and `allow_empty`, for the order and the errors.
        """
        return self._matter("cables", pattern, worlds, path_glob=path_glob, allow_empty=allow_empty)

    def contacts(
        self,
        sensors: Patterns,
        filters: Sequence[Any] = (),
        *,
        worlds: Any = None,
        path_glob: bool = True,
        max_contact_data: int = 0,
    ) -> RigidContactView:
        """Return a view of the contacts of bodies; needs the observable `contact_f`.

        Args:
            sensors: Patterns of the bodies; see `articulations`.
            filters: Counterparts that split the contacts: patterns for all sensors, or a list of patterns for each
                pattern of sensors; see `RigidContactView`.
            worlds: Worlds to select sensors in; see `articulations`.
            path_glob: See `articulations`.
            max_contact_data: Number of rows of `contact_data`, `raw_contact_data` and `friction_data`.

        Raises:
            SelectionError: A pattern matches nothing or is malformed, or a filter matches a wrong number of objects.
            ViewError: The simulation has no contact forces.
            SimulationError: The view was invalidated.
        """
        self._refuse_invalid("contacts")
        options = {"worlds": worlds, "path_glob": path_glob, "max_contact_data": max_contact_data}
        with WARP_LOCK:
            return self._keep(RigidContactView(self._host, sensors, filters, **options))

    create_articulation_view = articulations
    create_rigid_body_view = rigid_bodies

    def create_rigid_contact_view(
        self, pattern: Patterns, filter_patterns: Sequence[Any] | None = None, max_contact_data_count: int = 0
    ) -> RigidContactView:
        """Return a view of the contacts of bodies; Isaac's name and arguments of `contacts`.

        Args:
            pattern: The sensors.
            filter_patterns: The filters; None for none.
            max_contact_data_count: The number of rows of single contacts.
        """
        return self.contacts(pattern, filter_patterns or (), max_contact_data=max_contact_data_count)

    def object_type(self, label: str, world: int | None = None) -> ObjectType:
        """Return the kind of the object with a label: of a body, else of a joint, else of an articulation.

        Args:
            label: The whole label, with or without the slash at its beginning; patterns match nothing.
            world: World of the object, -1 if it belongs to no world; by default the first world with this label.
        """
        self._refuse_invalid("object_type")
        return object_type(self._host.model, label, world)

    get_object_type = object_type

    def _select(self, what: str, pattern: Patterns, worlds: Any, **options: bool) -> np.ndarray:
        """Return the indices of articulations or bodies; the options are those of `select`."""
        self._refuse_invalid(what)
        model, chosen = self._host.model, chosen_worlds(worlds, self._host.world_count)
        labels = getattr(model, f"{what}_label")
        of_worlds = on_host(getattr(model, f"{what}_world")) if labels else np.zeros(0, dtype=np.int32)
        return select(pattern, labels, of_worlds, what=what, chosen_worlds=chosen, **options)

    def _matter(self, name: str, pattern: Patterns, worlds: Any, **options: bool) -> Any:
        self._refuse_invalid(name)
        model, chosen = self._host.model, chosen_worlds(worlds, self._host.world_count)
        kinds, what, view = _MATTER[name]
        matter = Matter.of(model, *kinds)
        try:
            rows = select(pattern, matter.labels, matter.worlds, what=what, chosen_worlds=chosen, **options)
        except SelectionError as error:
            raise SelectionError(*("; ".join([fault, *_elsewhere(model, kinds)]) for fault in error.faults)) from error
        labels, worlds = [matter.labels[row] for row in rows], matter.worlds[rows]
        return self._keep(view(self._host, labels, worlds, matter.elements(rows)))

    def _keep(self, view: Any) -> Any:
        freeze(view)
        self._views.add(view)
        return view

    def get_gravity(self, out: Array | None = None) -> Array:
        """Return the gravitational acceleration of each world [m/s²], shape [world_count, 3]; the model's own array."""
        self._refuse_invalid("get_gravity")
        return deliver(self._gravity, out, "get_gravity")

    def set_gravity(self, data: Array, worlds: Any = None) -> None:
        """Set the gravitational acceleration [m/s²], shape [world_count, 3], or one vector for all worlds.

        The solver is notified.

        Args:
            data: One row per world; on the host, also numbers that broadcast to this shape.
            worlds: Indices or a mask of worlds, whose rows of `data` are used; by default all.

        Raises:
            ViewError: A shape or type is wrong.
            RowError: An index is out of range.
            ConfigError: The solver does not support this change while it runs.
        """
        with WARP_LOCK:
            self._refuse_invalid(_SET_GRAVITY)
            refuse_closed(self._host, _SET_GRAVITY)
            if self._host.stepped_state is not None:
                raise ViewError(f"{_SET_GRAVITY}: {IN_STEP}")
            selection = self._selector.select(_SET_GRAVITY, worlds, None, False)
            checked = self._check.check(data, self._gravity.shape, selection, _SET_GRAVITY)
            values = self._staging.dense(checked)
            numbers = self._aliases.of(values, wp.float32, 3 * len(values))
            note_change(self._host, _SET_GRAVITY, newton.ModelFlags.MODEL_PROPERTIES)
            inputs = [numbers, self._index, selection.argument, self._faults_of_gravity, self._flags]
            self._scatter(selection.count, [*inputs, self._gravity_numbers, None])

    @property
    def gravity(self) -> np.ndarray:
        """The gravitational acceleration of each world [m/s²], shape [world_count, 3], as a copy on the host.

        Setting it changes all worlds: pass one row for each, or one row for all. Reading synchronises with the device.
        """
        self._refuse_invalid("gravity")
        return self._gravity.numpy().copy()

    @gravity.setter
    def gravity(self, value: Array) -> None:
        self.set_gravity(value)

    def flush(self) -> None:
        """Compute bodies from written joints now. Without this call, the next step or read does it."""
        self._refuse_invalid("flush")
        _ = self._host.state

    update_articulations_kinematic = flush

    def raise_errors(self) -> None:
        """Raise an error for faults on the device in any view since the last call; see `RowView.raise_errors`."""
        expected = RULES["finite"].expected
        self._faults.raise_errors(
            self._host.world_count, lambda _: expected, lambda world: f"world {world}", what="world"
        )
        for view in self._views:
            view.raise_errors()

    def invalidate(self) -> None:
        """Make this view, and every view made from it, raise an error if used. The simulation itself stays valid."""
        self.is_valid = False
        for view in self._views:
            view.is_valid = False

    def _refuse_invalid(self, where: str) -> None:
        if not self.is_valid:
            raise SimulationError(f"{where}: the simulation's view was invalidated; make another one")


def _elsewhere(model: newton.Model, kinds: Sequence[MatterKind]) -> Iterator[str]:
    """Yield the labels of the objects of matter of other kinds, with the method that views them."""
    for name, (own, *_) in _MATTER.items():
        own = own[-1:]  # the method for all objects with particles is the only one for granular matter
        labels = dict.fromkeys(Matter.of(model, *own).labels)
        if labels and not set(own) <= set(kinds):
            yield f"view.{name} has {listed([*labels], _LISTED)}"
