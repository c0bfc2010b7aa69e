"""Net contact forces on bodies, as an Orchard sensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import orchard
from attrs.validators import min_len
from orchard import labels, sensing
from orchard.arrays import present

if TYPE_CHECKING:
    import newton

__all__ = ["ContactConfig", "SensorContact"]


@attrs.frozen(kw_only=True)
class ContactConfig(sensing.SensorConfig):
    """The bodies whose contacts are summed up."""

    bodies: tuple[str, ...] = attrs.field(validator=min_len(1))
    """Full-match regular expressions of body labels, or of their last segments."""


class SensorContact(sensing.Sensor):
    """Force that everything else exerts on a body through contacts.

    Outputs, of shape [worlds that have such bodies, bodies that match]; `worlds` tells which these are:

    - `net_force` [N]: sum over all contacts, in the world frame
    - `friction_force` [N]: its tangential part
    """

    Config = ContactConfig
    observables = frozenset({"contact_f"})

    def __init__(self, config: ContactConfig) -> None:
        super().__init__(config)
        self._bodies: dict[int, list[int]] = {}

    @orchard.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the bodies."""
        self._bodies[prototype] = labels.match(self.config.bodies, builder.body_label, what="body", where="bodies")

    def build_outputs(self, simulation: orchard.Simulation) -> Mapping[str, sensing.Output]:
        """Return the outputs of all worlds that have such bodies."""
        import newton

        model = simulation.model
        bodies = simulation.world_indices("body", self._bodies)
        self._sensor = newton.sensors.SensorContact(
            model, sensing_bodies=bodies.ravel().tolist(), request_contact_attributes=False
        )
        names = tuple(model.body_label[body] for body in bodies[0])
        net, friction = present(self._sensor.total_force), present(self._sensor.total_force_friction)
        forces = {"net_force": net, "friction_force": friction}
        return {
            name: sensing.Output(data=sensing.per_world(force, bodies), unit="N", frame="world", labels=names)
            for name, force in forces.items()
        }

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Sum up the contact forces of the last substep. May be recorded."""
        self._sensor.update(state, present(contacts), observables=observables)
