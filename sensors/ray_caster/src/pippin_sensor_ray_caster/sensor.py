"""Height scanners, lidars and depth images by rays, as a Pippin sensor."""

from __future__ import annotations

from collections.abc import Mapping

import newton
import numpy as np
import pippin
import warp as wp
from pippin import sensing
from pippin.arrays import present

from . import RayCasterConfig, kernels
from .patterns import GridConfig, LidarConfig, PinholeConfig
from .targets import Targets

__all__ = ["GridConfig", "LidarConfig", "PinholeConfig", "SensorRayCaster"]


class SensorRayCaster(sensing.Sensor):
    """The nearest surfaces that rays meet, from outside or from inside. Rays ignore the sensor's own body.

    Outputs, of shape [worlds that have such bodies, bodies that match, *rays]; rays are [x, y] of a grid,
    [channels, azimuths] of a lidar or [rows, columns] of an image; `worlds` lists these worlds:

    - `distance` [m]: from the start of the ray to the surface; the value of `no_hit` if it meets none
    - `position` [m]: point on the surface, in the world frame; infinite if the ray meets none
    - `normal`: outward normal of the surface, in the world frame; zero if the ray meets none
    - `shape`: index of the shape in the model; -1 if the ray meets none
    """

    deterministic_on = frozenset({"cpu", "cuda"})

    def __init__(self, config: RayCasterConfig) -> None:
        super().__init__(config)
        self._sites_of: dict[int, list[int]] = {}

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Add the sites to their bodies."""
        self._sites_of[prototype] = sensing.add_sites(builder, self.config)

    def build_outputs(self, binding: pippin.Binding) -> Mapping[str, sensing.Output]:
        """Return the outputs of all worlds that have such bodies."""
        simulation = binding.simulation
        self._model = model = simulation.model
        sites = binding.indices("shape", self._sites_of)
        self._targets = Targets.find(model, self.worlds, self.config.targets, moving=self.config.moving)
        starts, directions = self.config.pattern.rays()
        shape = (*sites.shape, *starts.shape[:-1])

        def array(values: np.ndarray, kind: type) -> wp.array:
            return wp.array(values, dtype=kind, device=model.device)

        self._sites, self._sites_per_world = array(sites.ravel(), int), sites.shape[1]
        self._world_of_row = array(self.worlds, int)
        self._starts, self._directions = (array(each.reshape(-1, 3), wp.vec3) for each in (starts, directions))
        self._frames = wp.zeros(sites.size, dtype=wp.transform, device=model.device)
        self._into_targets = wp.zeros(len(self._targets.shapes), dtype=wp.transform, device=model.device)
        self._lowers, self._uppers = (wp.zeros(self._targets.boxed, dtype=wp.vec3, device=model.device) for _ in "lu")
        self._place(simulation.state)
        boxes = (self._lowers, self._uppers)
        self._tree = wp.Bvh(*boxes, groups=self._targets.group_of) if self._targets.boxed else None
        names = tuple(model.shape_label[site] for site in sites[0])
        kinds = {"distance": float, "position": wp.vec3, "normal": wp.vec3, "shape": int}
        arrays = {name: wp.zeros(shape, dtype=kind, device=model.device) for name, kind in kinds.items()}
        self._outputs = [each.reshape((sites.size, -1)) for each in arrays.values()]
        units = {"distance": "m", "position": "m"}
        frames = {"position": "world", "normal": "world"}
        infinite = {"position": "where a ray meets nothing; take 'distance'"}
        if self.config.no_hit == "infinity":
            infinite["distance"] = "where a ray meets nothing; set no_hit of the sensor"
        return {
            name: sensing.Output(
                data=each,
                unit=units.get(name, "1"),
                frame=frames.get(name, "none"),
                labels=names,
                infinite=infinite.get(name, ""),
            )
            for name, each in arrays.items()
        }

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Cast the rays of `measured_worlds`. May be recorded: the tree of boxes keeps its branches, and follows what
        moves.
        """
        model, targets, device = self._model, self._targets, self._model.device
        poses = [present(state.body_q), model.shape_body, model.shape_transform]
        align = {"body": kernels.ALIGN_BODY, "yaw": kernels.ALIGN_YAW, "world": kernels.ALIGN_WORLD}[self.config.align]
        wp.launch(kernels.aim, len(self._sites), [self._sites, align, *poses, self._frames], device=device)
        self._place(state)
        if self._tree is not None:
            self._tree.refit()
        rays = [
            self.measured_worlds,
            self._world_of_row,
            self._sites,
            self._sites_per_world,
            self._frames,
            self._starts,
            self._directions,
        ]
        reach = [self.config.max_distance, self.config.distance_of_no_hit]
        tree = [0 if self._tree is None else self._tree.id, targets.groups]
        met = [targets.members, targets.starts, targets.shapes, self._into_targets]
        shapes = [model.shape_body, model.shape_type, model.shape_scale, model.shape_source_ptr, model.shape_flags]
        inputs = [*rays, *reach, *tree, *met, *shapes, *self._outputs]
        wp.launch(kernels.cast, self._outputs[0].shape, inputs, device=device)

    def _place(self, state: newton.State) -> None:
        """Write where the targets are, and the boxes around them."""
        model, shapes = self._model, self._targets.shapes
        poses = [present(state.body_q), model.shape_body, model.shape_transform]
        sizes = [model.shape_collision_aabb_lower, model.shape_collision_aabb_upper]
        placed = [self._into_targets, self._lowers, self._uppers]
        wp.launch(kernels.place, len(shapes), [shapes, *poses, *sizes, *placed], device=model.device)
