"""An inertial measurement unit, as an Orchard sensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import orchard
from orchard import sensing

if TYPE_CHECKING:
    import newton

__all__ = ["IMUConfig", "SensorIMU"]


@attrs.frozen(kw_only=True)
class IMUConfig(sensing.SiteConfig):
    """An accelerometer and a gyroscope at a site of a body."""


class SensorIMU(sensing.Sensor):
    """Specific force and angular velocity in the site's own frame: free fall reads zero, rest reads +g along up.

    Outputs, of shape [worlds that have such bodies, bodies that match]; `worlds` tells which these are:

    - `linear_acceleration` [m/s²]: acceleration minus gravity
    - `angular_velocity` [rad/s]
    """

    Config = IMUConfig
    deterministic_on = frozenset({"cpu", "cuda"})
    observables = frozenset({"body_qdd"})

    def __init__(self, config: IMUConfig) -> None:
        super().__init__(config)
        self._sites: dict[int, list[int]] = {}

    @orchard.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Put the sites on their bodies."""
        self._sites[prototype] = sensing.add_sites(builder, self.config)

    def build_outputs(self, simulation: orchard.Simulation) -> Mapping[str, sensing.Output]:
        """Return the outputs of all worlds that have sites."""
        import newton

        model = simulation.model
        sites = simulation.world_indices("shape", self._sites)
        self._sensor = newton.sensors.SensorIMU(model, sites=sites.ravel().tolist(), request_state_attributes=False)
        labels = tuple(model.shape_label[site] for site in sites[0])
        acceleration = sensing.per_world(self._sensor.accelerometer, sites)
        velocity = sensing.per_world(self._sensor.gyroscope, sites)
        return {
            "linear_acceleration": sensing.Output(data=acceleration, unit="m/s²", frame="site", labels=labels),
            "angular_velocity": sensing.Output(data=velocity, unit="rad/s", frame="site", labels=labels),
        }

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Measure at every site. May be recorded."""
        self._sensor.update(state, observables=observables)
