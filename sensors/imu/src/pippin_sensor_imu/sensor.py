"""An inertial measurement unit, as a Pippin sensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import pippin
import warp as wp
from pippin import sensing
from pippin.arrays import on_host, present

from . import IMUConfig, kernels

__all__ = ["SensorIMU"]

_BY_DIFFERENCES = "accelerations are changes of velocity from reading to reading, not the solver's"


class SensorIMU(sensing.Sensor):
    """Specific force and angular velocity in the site's own frame: free fall reads zero, rest reads +g along up.

    Outputs, of shape [worlds that have such bodies, bodies that match]; `worlds` lists these worlds:

    - `linear_acceleration` [m/s²]: acceleration of the site minus gravity; its clean value is zero from a reset to the
      next step
    - `angular_velocity` [rad/s]
    - `orientation`: of the site's frame in the world, unit quaternion (x, y, z, w)

    With finite differences, the acceleration is the mean since the last reading or reset. A velocity that was written
    in between appears as an acceleration.
    """

    deterministic_on = frozenset({"cpu", "cuda"})

    def __init__(self, config: IMUConfig) -> None:
        super().__init__(config)
        self._is_by_differences = config.source == "finite-difference"
        self.observables = frozenset() if self._is_by_differences else frozenset({"body_qdd"})
        self.notes = (_BY_DIFFERENCES,) if self._is_by_differences else ()
        self._sites: dict[int, list[int]] = {}

    @property
    def is_geometric(self) -> bool:
        """True, although the acceleration needs a step."""
        return True

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Add the sites to their bodies."""
        self._sites[prototype] = sensing.add_sites(builder, self.config)

    def build_outputs(self, binding: pippin.Binding) -> Mapping[str, sensing.Output]:
        """Return the outputs of all worlds that have sites."""
        simulation = binding.simulation
        model = self._model = simulation.model
        sites = binding.indices("shape", self._sites)
        bodies, frames = on_host(model.shape_body)[sites.ravel()], on_host(model.shape_transform)[sites.ravel()]
        self._bodies = wp.array(bodies, dtype=int, device=model.device)
        self._frames = wp.array(frames, dtype=wp.transform, device=model.device)
        vectors = [wp.zeros(sites.size, dtype=wp.vec3, device=model.device) for _ in range(3)]
        self._linear, self._angular, self._velocities = vectors
        self._orientation = wp.zeros(sites.size, dtype=wp.quat, device=model.device)
        state = simulation.state
        self._launch(kernels.site_velocities, model.body_com, state.body_q, state.body_qd, self._velocities)
        labels = tuple(model.shape_label[site] for site in sites[0])
        site = {"frame": "site", "labels": labels}
        return {
            "linear_acceleration": sensing.Output(data=sensing.per_world(self._linear, sites), unit="m/s²", **site),
            "angular_velocity": sensing.Output(data=sensing.per_world(self._angular, sites), unit="rad/s", **site),
            "orientation": sensing.Output(
                data=sensing.per_world(self._orientation, sites), unit="1", frame="world", labels=labels
            ),
        }

    def memory(self) -> Mapping[str, wp.array]:
        """Return the velocities of the sites at the last reading, or of the initial state after a reset."""
        return {"velocities": self._velocities} if self._is_by_differences else {}

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Measure at every site. May be recorded."""
        outputs = (self._angular, self._orientation)
        if dt == 0.0:
            self._launch(kernels.orient, state.body_q, state.body_qd, *outputs)
            return
        model = self._model
        inputs = (model.body_com, model.body_world, model.gravity, state.body_q, state.body_qd)
        if self._is_by_differences:
            count = len(self._bodies) // len(self.worlds)
            memory = (count, self.intervals, self._velocities)
            self._launch(kernels.differentiate, *inputs, *memory, self._linear, *outputs)
        else:
            accelerations = present(observables).body_qdd
            self._launch(kernels.measure, *inputs, accelerations, self._linear, *outputs)

    def _launch(self, kernel: Any, *arguments: Any) -> None:
        """Launch a kernel over all sites."""
        wp.launch(kernel, len(self._bodies), [self._bodies, self._frames, *arguments], device=self._bodies.device)
