"""Place, extent and velocity of matter and bodies, as a Pippin sensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from pippin import sensing
from pippin.arrays import on_host, present

from . import ObjectStateConfig

__all__ = ["SensorObjectState"]


class SensorObjectState(sensing.Sensor):
    """Place, extent and velocity of some particles or bodies of each world.

    Outputs of all worlds:

    - `centroid` [m], shape [worlds, 1]: mean of the positions of particles, or of the origins of bodies
    - `bounds` [m], shape [worlds, 2]: the lowest x, y and z of these, then the highest
    - `extent` [m], shape [worlds, 1]: the highest less the lowest ones
    - `velocity` [m/s], shape [worlds, 1]: mean of the velocities of particles, or of the centres of mass of bodies
    - `mean_speed`, `largest_speed` [m/s], shape [worlds, 1]: of these velocities
    - `inside` [1], shape [worlds, 1]: share of the positions in the `box`, if there is one
    """

    deterministic_on = frozenset({"cpu", "cuda"})

    config: ObjectStateConfig

    def build_outputs(self, binding: pippin.Binding) -> Mapping[str, sensing.Output]:
        """Return the outputs of all worlds.

        Raises:
            ConfigError: Nothing is selected, or not in every world.
        """
        model = binding.simulation.model
        groups = self._groups(binding, model)
        self._positions, self._velocities = (sensing.Spread(groups, model, box) for box in (self.config.box, None))
        selection: Any = self.config.particles or self.config.bodies
        of = (selection.of,)
        place, motion = self._positions, self._velocities

        def output(values: wp.array, unit: str, frame: str = "world") -> sensing.Output:
            return sensing.Output(data=values.reshape((-1, 1)), unit=unit, frame=frame, labels=of)

        return {
            "centroid": output(place.mean, "m"),
            "bounds": sensing.Output(data=place.bounds, unit="m", frame="world", labels=("lowest", "highest")),
            "extent": output(place.extent, "m"),
            "velocity": output(motion.mean, "m/s"),
            "mean_speed": output(motion.mean_length, "m/s", "none"),
            "largest_speed": output(motion.largest_length, "m/s", "none"),
            **({} if self.config.box is None else {"inside": output(place.inside, "1", "none")}),
        }

    def _groups(self, binding: pippin.Binding, model: newton.Model) -> np.ndarray:
        """Return the particles or bodies of each world, shape [worlds, most], padded with -1."""
        what = "particle" if self.config.bodies is None else "body"
        where = "particles" if what == "particle" else "bodies"
        chosen = binding.services.scene_objects.select(what, getattr(self.config, where), where)
        world_of = on_host(getattr(model, f"{what}_world"))[chosen]
        rows = [chosen[world_of == world] for world in binding.worlds]
        for world, row in zip(binding.worlds, rows, strict=True):
            if not len(row):
                of = getattr(self.config, where).of
                raise pippin.ConfigError(
                    f"{where}.of: {of!r} is in other worlds, but not in world {world}; give every world such an object"
                )
        return np.array([np.pad(row, (0, max(map(len, rows)) - len(row)), constant_values=-1) for row in rows])

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Measure positions and velocities. May be recorded."""
        is_of_bodies = self.config.bodies is not None
        self._positions.measure(present(state.body_q if is_of_bodies else state.particle_q))
        self._velocities.measure(present(state.body_qd if is_of_bodies else state.particle_qd))
