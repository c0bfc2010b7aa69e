"""View of the contact forces on bodies of all worlds: net, split by counterpart, and contact by contact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.binding import Host
from pippin.devices import WARP_LOCK, shares_memory
from pippin.errors import SimulationError
from pippin.frozen_attributes import FrozenAttributes
from pippin.labels import name_of
from pippin.validators import whole_number
from pippin.views.errors import ViewError
from pippin.views.kernels.contacts import sum_forces
from pippin.views.memory import Array, alias, deliver
from pippin.views.selection import Patterns, chosen_worlds

from .data import ContactData, FrictionData, RawContactData
from .pairing import pair, sensor_groups
from .rows import ContactRows, pairing_of, sources_of


class RigidContactView(FrozenAttributes):
    """Forces that contacts exert on some bodies, the sensors, in the last substep.

    Every method writes arrays of its own, which its next call overwrites. Nothing is allocated or read back after
    construction, and all methods may be recorded into a graph. Forces are in the world frame, and act on the sensor.

    Each method takes `dt` [s]. Without `dt`, forces are in newtons. With `dt`, they are multiplied by the length of a
    physics step and divided by `dt`: `dt = 1` gives the impulse of a physics step [N·s], computed as if the forces of
    the last substep acted in all substeps.

    After a call of `SimulationView.invalidate`, every method raises a `SimulationError`.

    Args:
        host: The simulation.
        sensors: Patterns of bodies, see `selection`; the rows have the order of the patterns.
        filters: Counterparts that split the contacts: patterns for all sensors, or a list of patterns for each sensor
            pattern. A filter matches a body, one of its shapes, a static shape, or a path above static shapes. In each
            world it matches one object, which all sensors of the world share, or one per sensor, paired in order.
        worlds: Indices or a mask of the worlds to select sensors in; by default all.
        path_glob: See `selection.select`.
        max_contact_data: Number of rows of `contact_data`, `raw_contact_data` and `friction_data`.

    Raises:
        SelectionError: A pattern is malformed or matches nothing, or a filter matches a wrong number of objects.
        ViewError: The simulation has no contact forces, or `max_contact_data` is negative.
    """

    _assignable = frozenset({"is_valid"})

    def __init__(
        self,
        host: Host,
        sensors: Patterns,
        filters: Sequence[Any] = (),
        *,
        worlds: Any = None,
        path_glob: bool = True,
        max_contact_data: int = 0,
    ) -> None:
        max_contact_data = whole_number(max_contact_data, "max_contact_data", error=ViewError)
        self._host = host
        model, self._device = host.model, host.model.device
        chosen = chosen_worlds(worlds, host.world_count)
        groups = sensor_groups(model, sensors, filters, chosen, path_glob=path_glob)
        bodies = [body for group in groups for body in group.bodies]
        counterparts = [row for group in groups for row in pair(model, group, path_glob=path_glob)]
        #: Label of each sensor's body.
        self.sensor_labels: tuple[str, ...] = tuple(model.body_label[body] for body in bodies)
        #: Labels of each sensor's filters, in their order.
        self.filter_labels: tuple[tuple[str, ...], ...] = tuple(
            tuple(each.label for each in row) for row in counterparts
        )
        #: The number of columns: the largest number of filters of a sensor.
        self.filter_count: int = max(map(len, counterparts), default=0)
        #: Body of each sensor, shape [sensors].
        self.body_indices: np.ndarray = np.array(bodies, dtype=np.int32)
        #: World of each sensor, shape [sensors].
        self.world_ids: np.ndarray = on_host(model.body_world)[self.body_indices]
        self._sources = sources_of(host)
        self._pairing = pairing_of(model, bodies, counterparts, self.filter_count)
        self._without_filters = pairing_of(model, bodies, (), 0)
        self._net = wp.zeros((self.count, 3), dtype=float, device=self._device)
        self._matrix = wp.zeros((self.count, self.filter_count, 3), dtype=float, device=self._device)
        self._launches: dict[str, Any] = {}
        #: Whether the view can be used; False once the simulation's view was invalidated.
        self.is_valid: bool = True
        #: Number of rows of `contact_data`, `raw_contact_data` and `friction_data`.
        self.max_contact_data: int = max_contact_data
        filtered = self._pairing if self.filter_count else self._without_filters
        self._rows = ContactRows(host, self._pairing, max_contact_data, ("forces", "normals", "separations"))
        raw = ("forces", "normals", "separations", "other_bodies", "other_shapes")
        self._raw_rows = ContactRows(host, self._without_filters, max_contact_data, raw)
        self._friction_rows = ContactRows(host, filtered, max_contact_data, ("frictions",))

    @property
    def count(self) -> int:
        """The number of sensors."""
        return len(self.sensor_labels)

    def net_forces(self, dt: float | None = None, out: Array | None = None) -> Array:
        """Return the sum of all contact forces on each sensor [N, or N·s], shape [sensors, 3].

        Args:
            dt: See the class.
            out: An array of that shape, of any library and device, that is written and returned; None for the view's.

        Raises:
            ViewError: `dt` is not a positive number, or `out` does not fit.
        """
        return self._sum("net_forces", self._without_filters, self._net, dt, out)

    def force_matrix(self, dt: float | None = None, out: Array | None = None) -> Array:
        """Return the force that each filter exerts on each sensor [N, or N·s], shape [sensors, filters, 3].

        Args:
            dt: See the class.
            out: See `net_forces`.

        Raises:
            ViewError: The view has no filters, `dt` is not a positive number, or `out` does not fit.
        """
        self._require_filters("force_matrix")
        return self._sum("force_matrix", self._pairing, self._matrix, dt, out)

    def contact_data(self, dt: float | None = None) -> ContactData:
        """Return every contact of each sensor with each of its filters.

        Raises:
            ViewError: The view has no filters or no rows, or `dt` is not a positive number.
        """
        self._require_filters("contact_data")
        return ContactData(**self._filled(self._rows, "contact_data", dt))

    def raw_contact_data(self, dt: float | None = None) -> RawContactData:
        """Return every contact of each sensor, with what it touches.

        Raises:
            ViewError: The view has no rows, or `dt` is not a positive number.
        """
        return RawContactData(**self._filled(self._raw_rows, "raw_contact_data", dt))

    def friction_data(self, dt: float | None = None) -> FrictionData:
        """Return the tangential forces of the contacts of each sensor with each filter; without filters, of all.

        Raises:
            ViewError: The view has no rows, or `dt` is not a positive number.
        """
        reported = self._filled(self._friction_rows, "friction_data", dt)
        return FrictionData(reported["frictions"], *(reported[name] for name in FrictionData._fields[1:]))

    def other_labels(self, bodies: Any) -> list[str]:
        """Return the labels of body indices from `raw_contact_data`; `""` for static shapes.

        Args:
            bodies: Indices, such as `other_bodies`. Read from the device.
        """
        indices = np.asarray(bodies.numpy() if hasattr(bodies, "numpy") else bodies).ravel().tolist()
        return ["" if body < 0 else self._host.model.body_label[body] for body in indices]

    # Isaac's names.

    get_net_contact_forces = net_forces
    get_contact_force_matrix = force_matrix
    get_contact_data = contact_data
    get_raw_contact_data = raw_contact_data
    get_friction_data = friction_data
    get_other_actor_paths_from_ids = other_labels
    sensor_count = count

    @property
    def sensor_paths(self) -> list[str]:
        """Label of each sensor's body."""
        return list(self.sensor_labels)

    @property
    def filter_paths(self) -> list[list[str]]:
        """Labels of each sensor's filters."""
        return [list(labels) for labels in self.filter_labels]

    @property
    def sensor_names(self) -> list[str]:
        """Last segment of each sensor's label."""
        return [name_of(label) for label in self.sensor_labels]

    @property
    def filter_names(self) -> list[list[str]]:
        """Last segments of the labels of each sensor's filters."""
        return [[name_of(label) for label in labels] for labels in self.filter_labels]

    @property
    def max_contact_data_count(self) -> int:
        """Isaac's name of `max_contact_data`."""
        return self.max_contact_data

    def check(self) -> bool:
        """Return whether the view can be used and has sensors."""
        return self.is_valid and self.count > 0

    def raise_errors(self) -> None:
        """Raise an error if there were more contacts than rows since the last call. Synchronises with the device.

        Raises:
            SimulationError: There were too few rows; the message has the number needed.
        """
        tables = (self._rows, self._raw_rows, self._friction_rows)
        needed = max(int(rows.overflow.numpy()[0]) for rows in tables)
        for rows in tables:
            rows.overflow.zero_()
        if needed:
            raise SimulationError(
                f"max_contact_data: {self.max_contact_data} rows, but {needed} were needed; make the view with more"
            )

    def _sum(self, method: str, pairing: Any, numbers: wp.array, dt: float | None, out: Array | None) -> Array:
        with WARP_LOCK:
            self._refuse_invalid(method)
            launch = self._launches.get(method)
            if launch is None:
                inputs = [self._sources, pairing, 1.0, alias(numbers, wp.vec3, numbers.size // 3)]
                launch = present(wp.launch(sum_forces, 1, inputs, device=self._device, record_cmd=True))
                self._launches[method] = launch
            launch.set_param_at_index(2, self._scale(dt))
            launch.set_dim(self._contact_count)
            numbers.zero_()
            launch.launch()
            return deliver(numbers, out, method)

    @property
    def _contact_count(self) -> int:
        """Number of threads that look for contacts; where nothing waits for it, the number of contacts."""
        contacts = present(self._host.contacts)
        if self._device.is_capturing or not shares_memory(self._device):
            return contacts.rigid_contact_max
        return min(contacts.rigid_contact_max, int(contacts.rigid_contact_count.numpy()[0]))

    def _scale(self, dt: float | None) -> float:
        if dt is None:
            return 1.0
        if not (math.isfinite(dt) and dt > 0.0):
            raise ViewError(
                f"dt: expected a length of time [s], positive and finite, got {dt!r}; leave it out for forces"
            )
        return self._host.dt / dt

    def _require_filters(self, method: str) -> None:
        if not self.filter_count:
            raise ViewError(
                f"{method}: the view has no filters; make it with some, or use net_forces or raw_contact_data"
            )

    def _filled(self, rows: ContactRows, method: str, dt: float | None) -> dict[str, wp.array]:
        if not self.max_contact_data:
            raise ViewError(f"{method}: the view has no rows; make it with max_contact_data")
        with WARP_LOCK:
            self._refuse_invalid(method)
            rows.fill(self._sources, self._contact_count, self._scale(dt))
            return rows.reported

    def _refuse_invalid(self, where: str) -> None:
        if not self.is_valid:
            raise SimulationError(f"{where}: the simulation's view was invalidated; make another view")
