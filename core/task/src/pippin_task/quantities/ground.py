"""Quantities of the ground below a robot, by the rays of a sensor."""

from __future__ import annotations

import newton
import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host
from pippin.labels import name_of
from pippin.sensing import Output

from pippin_task import Quantity, TermContext

from .configs import GroundNormalConfig, HeightScanConfig
from .kernels import read_ground_normals, read_heights_over
from .roots import OfRoot


class HeightScan(Quantity):
    """The quantity `height-scan`: z of a sensor's site − z of the point that a ray meets − offset, for each ray."""

    unit = "m"
    _is_mean = False

    def __init__(self, config: HeightScanConfig, context: TermContext) -> None:
        super().__init__(config, context)
        output = _hits(config.sensor, context)
        model, (_, count, *rays) = context.simulation.model, output.data.shape
        world_of_shape = on_host(model.shape_world)
        sites: dict[str, list[int]] = {label: [] for label in output.labels}
        for shape, label in enumerate(model.shape_label):
            if label in sites and world_of_shape[shape] >= 0:
                sites[label].append(shape)
        if any(len(shapes) != context.world_count for shapes in sites.values()):
            raise ConfigError(
                f"sensor: the sites of {config.sensor!r} are not one in each world; choose another sensor"
            )
        self._sites = context.ints(np.array([*sites.values()]).T.ravel())
        self._points = output.data.reshape((context.world_count * count, -1))
        bodies = on_host(model.shape_body)[[shapes[0] for shapes in sites.values()]]
        names = [name_of(model.body_label[body]) for body in bodies.tolist()]
        places = ["_".join(map(str, place)) for place in np.ndindex(*rays)]
        self.labels = names if self._is_mean else [f"{name}/{place}" for name in names for place in places]

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the heights."""
        model, config = self.context.simulation.model, self.config
        poses = [state.body_q, model.shape_body, model.shape_transform]
        inputs = [self._sites, *poses, self._points, config.offset, config.no_hit, int(self._is_mean)]
        rows = out.reshape((len(self._sites), -1))
        wp.launch(read_heights_over, rows.shape, [*inputs, rows], device=out.device)


class HeightOverGround(HeightScan):
    """The quantity `height-over-ground`: the mean of the heights of each site over its rays."""

    _is_mean = True


class GroundNormal(OfRoot):
    """The quantity `ground-normal`: Rᵀ n, n the normal of the plane through the points that a sensor's rays meet."""

    unit = "1"
    is_differentiable = False

    def __init__(self, config: GroundNormalConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._points = _hits(config.sensor, context).data.reshape((context.world_count, -1))

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the normals."""
        self._launch(read_ground_normals, out, state.body_q, self._bodies, self._points)


def _hits(sensor: str, context: TermContext) -> Output:
    """Return the points that the rays of a sensor meet, shape [worlds, sites, rays…]."""
    output = context.sensor_output(sensor, "position")
    if output.data.dtype is not wp.vec3 or len(output.data.shape) < 3:
        raise ConfigError(f"sensor: {sensor!r} casts no rays; choose a sensor of type 'ray-caster'")
    return output
