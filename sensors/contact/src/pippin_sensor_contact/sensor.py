"""Contact forces on bodies or shapes, in total and by partner, and contact times, as a Pippin sensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import newton
import pippin
import warp as wp
from pippin import labels, sensing
from pippin.arrays import present

from . import ContactConfig, kernels
from .partners import colliding, find_partners, refuse_shapeless

__all__ = ["SensorContact"]


class SensorContact(sensing.Sensor):
    """Forces that everything else exerts on a body or a shape through contacts, in the world frame.

    Outputs, of shape [worlds that have such bodies, bodies that match]; `worlds` lists these worlds:

    - `net_force` [N]: sum over all contacts, or over those with `partners` if these alone are `counted`
    - `friction_force` [N]: the part of the net force tangential to the contacts
    - `in_contact`: whether the net force is larger than the threshold
    - `air_time`, `contact_time` [s]: duration of the present phase without contact, or with contact; the other is zero
    - `last_air_time`, `last_contact_time` [s]: duration of the last phase that has ended; zero until then
    - `force_matrix`, `friction_matrix` [N]: net force and its tangential part by partner, if there are `partners`;
      shape [worlds, bodies, partners]
    - `net_force_history` [N]: the latest readings, the newest first, if there is a `history`; shape
      [worlds, bodies, readings]
    - `force_matrix_history` [N]: the same by partner, if there are `partners` too; shape [worlds, bodies, readings,
      partners]

    A reset sets all outputs to zero.
    """

    observables = frozenset({"contact_f"})

    notes: tuple[str, ...] = ()

    partners: tuple[str, ...] = ()
    """Labels of the third axis of the matrices, from the first world; known after `bind`."""

    def __init__(self, config: ContactConfig) -> None:
        super().__init__(config)
        self._sensed: dict[int, list[int]] = {}

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the bodies or shapes; bodies without a shape that collides are refused."""
        if self.config.bodies:
            found = labels.match(self.config.bodies, builder.body_label, what="body", where="bodies")
            refuse_shapeless(self.config.bodies, builder)
        else:
            shapes = colliding(builder.shape_flags)
            names = [builder.shape_label[shape] for shape in shapes]
            found = [shapes[i] for i in labels.match(self.config.shapes, names, what="shape", where="shapes")]
        self._sensed[prototype] = found

    def build_outputs(self, binding: pippin.Binding) -> Mapping[str, sensing.Output]:
        """Return the outputs of all worlds that have such bodies or shapes."""
        simulation = binding.simulation
        if simulation.model.particle_count:
            self.notes = ("contacts with particles count nowhere: no solver of Newton reports their forces",)
        kind = "body" if self.config.bodies else "shape"
        sensed = binding.indices(kind, self._sensed)
        names = getattr(simulation.model, f"{kind}_label")
        self._rows_per_world = sensed.shape[1]
        device = simulation.device
        with wp.ScopedDevice(device):
            self._sensors = list(self._newton_sensors(binding, kind, sensed.ravel().tolist()))
        forces = self._build_forces(sensed.size, device)
        self._lasting = wp.zeros(sensed.size, dtype=wp.float64, device=device)
        self._touch = {
            name: wp.zeros(sensed.size, dtype=wp.bool if unit == "1" else float, device=device)
            for name, unit in _UNITS.items()
        }
        return {
            name: sensing.Output(
                data=sensing.per_world(array, sensed),
                unit="N" if name in forces else _UNITS[name],
                frame="world" if name in forces else "none",
                labels=tuple(names[index] for index in sensed[0]),
            )
            for name, array in {**forces, **self._touch}.items()
        }

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Sum up the contact forces of the last substep. May be recorded."""
        for sensor in self._sensors:
            sensor.update(None, present(contacts), observables=observables)  # without a state: forces, but no positions
        for pair, joined in self._joined:
            self._launch(kernels.join, joined.shape, *pair, joined)
        for matrix, total in self._counted:
            self._launch(kernels.add_up, total.shape, matrix, total)
        about = (self._net_force, self.config.threshold, self._rows_per_world, self.intervals, self._lasting)
        self._launch(kernels.tell_contact, self._net_force.shape, *about, *self._touch.values())
        if self._history is not None:
            self._launch(kernels.remember, self._net_force.shape, self._net_force, self._history)
        if self._matrix_history is not None:
            self._launch(kernels.remember_matrix, self._matrix.shape, self._matrix, self._matrix_history)

    def memory(self) -> Mapping[str, wp.array]:
        """Return the duration of the present phase [s] in double precision, shape [worlds × bodies]."""
        return {"lasting": self._lasting}

    def _newton_sensors(
        self, binding: pippin.Binding, kind: str, sensed: list[int]
    ) -> Iterator[newton.sensors.SensorContact]:
        """Yield a Newton sensor, and a second one if both bodies and shapes are partners: a sensor takes one kind."""
        who = {"sensing_bodies" if kind == "body" else "sensing_shapes": sensed}
        counterparts: list[dict[str, Any]] = [{}]
        if self.config.partners:
            found = find_partners(self.config.partners, binding)
            self.partners = found.labels
            both = {"counterpart_bodies": found.bodies, "counterpart_shapes": found.shapes}
            counterparts = [{name: indices} for name, indices in both.items() if indices]
        for index, chosen in enumerate(counterparts):
            options: dict[str, Any] = {
                **who,
                **chosen,
                "measure_total": index == 0,
                "request_contact_attributes": False,
            }
            sensor = newton.sensors.SensorContact(binding.simulation.model, **options)
            sensor.sensing_indices, sensor.counterpart_indices = [], []  # a list for each body, which nobody reads
            yield sensor

    def _build_forces(self, row_count: int, device: wp.Device) -> dict[str, wp.array]:
        """Return the arrays of forces; except joined matrices and the history, these are arrays of Newton's sensors."""
        first = self._sensors[0]
        self._net_force = present(first.total_force)
        forces: dict[str, wp.array] = {
            "net_force": self._net_force,
            "friction_force": present(first.total_force_friction),
        }
        self._joined: list[tuple[list[wp.array], wp.array]] = []
        for name, attribute in (("force_matrix", "force_matrix"), ("friction_matrix", "force_matrix_friction")):
            parts = [getattr(sensor, attribute) for sensor in self._sensors]
            if len(parts) > 1:
                joined = wp.zeros((row_count, len(self.partners)), dtype=wp.vec3, device=device)
                self._joined.append((parts, joined))
                forces[name] = joined
            elif self.partners:
                forces[name] = parts[0]
        # Forces by partner, and the total in which these alone count.
        pairs = (("force_matrix", "net_force"), ("friction_matrix", "friction_force"))
        self._counted = [(forces[one], forces[total]) for one, total in pairs if self.config.counted == "partners"]
        length = self.config.history
        self._history = self._matrix_history = None
        if length:
            self._history = wp.zeros((row_count, length), dtype=wp.vec3, device=device)
            forces["net_force_history"] = self._history
        if length and self.partners:
            self._matrix = forces["force_matrix"]
            shape = (row_count, length, len(self.partners))
            self._matrix_history = wp.zeros(shape, dtype=wp.vec3, device=device)
            forces["force_matrix_history"] = self._matrix_history
        return forces

    def _launch(self, kernel: Any, dim: Any, *arguments: Any) -> None:
        wp.launch(kernel, dim, list(arguments), device=self._net_force.device)


_UNITS = {"in_contact": "1", "air_time": "s", "contact_time": "s", "last_air_time": "s", "last_contact_time": "s"}
