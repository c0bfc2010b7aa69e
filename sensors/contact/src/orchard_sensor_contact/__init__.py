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
    import warp as wp

__all__ = ["ContactConfig", "SensorContact"]


@attrs.frozen(kw_only=True)
class ContactConfig:
    """The bodies whose contacts are summed up."""

    bodies: tuple[str, ...] = attrs.field(validator=min_len(1))
    """Full-match regular expressions of body labels, or of their last segments."""


class SensorContact:
    """Force that everything else exerts on a body through contacts.

    Outputs, of shape [worlds that have such bodies, bodies that match]; `worlds` tells which these are:

    - `net_force` [N]: sum over all contacts, in the world frame
    - `friction_force` [N]: its tangential part
    """

    Config = ContactConfig
    observables = frozenset({"contact_f"})

    def __init__(self, config: ContactConfig) -> None:
        self.config = config
        self._bodies: dict[int, list[int]] = {}

    @orchard.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the bodies."""
        self._bodies[prototype] = labels.match(self.config.bodies, builder.body_label, what="body", where="bodies")

    @orchard.hookimpl
    def bind(self, simulation: orchard.Simulation) -> None:
        """Allocate the outputs for all worlds that have such bodies."""
        import newton

        self.worlds = simulation.worlds_held
        bodies = simulation.world_indices("body", self._bodies)
        self._sensor = newton.sensors.SensorContact(
            simulation.model, sensing_bodies=bodies.ravel().tolist(), request_contact_attributes=False
        )
        net, friction = present(self._sensor.total_force), present(self._sensor.total_force_friction)
        self.outputs: Mapping[str, sensing.Output] = {
            "net_force": sensing.Output(data=sensing.per_world(net, bodies), unit="N", frame="world"),
            "friction_force": sensing.Output(data=sensing.per_world(friction, bodies), unit="N", frame="world"),
        }

    @orchard.hookimpl
    def update_sensors(
        self,
        state: newton.State,
        contacts: newton.Contacts,
        observables: newton.solvers.SolverBase.Observables,
    ) -> None:
        """Sum up the contact forces of the last substep. May be recorded."""
        self._sensor.update(state, contacts, observables=observables)

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return the readings, which are zero after a reset until the next step."""
        return {name: output.data for name, output in self.outputs.items()}
