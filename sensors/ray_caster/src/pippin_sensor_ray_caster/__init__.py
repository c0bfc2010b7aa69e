"""Height scanners, lidars and depth images by rays, as a Pippin sensor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np
import pippin
from attrs.validators import min_len
from pippin import sensing
from pippin.arrays import present
from pippin.validators import positive

from .patterns import GridConfig, LidarConfig, PinholeConfig
from .targets import Targets

if TYPE_CHECKING:
    import newton

__all__ = ["GridConfig", "LidarConfig", "PinholeConfig", "RayCasterConfig", "SensorRayCaster"]

PATTERNS = ("grid", "lidar", "pinhole")


def _one_pattern(instance: Any, attribute: Any, value: Any) -> None:
    given = [name for name in PATTERNS if getattr(instance, name) is not None]
    if len(given) != 1:
        choice = ", ".join(given) or "none"
        raise ValueError(f"exactly one of {', '.join(PATTERNS)} must be given: {choice}")


@attrs.frozen(kw_only=True)
class RayCasterConfig(sensing.SiteConfig):
    """Rays from a site of a body, in a pattern: `grid`, `lidar` or `pinhole`."""

    grid: GridConfig | None = None
    """Parallel rays, for a height scan."""

    lidar: LidarConfig | None = None
    """Rays in channels that sweep."""

    pinhole: PinholeConfig | None = attrs.field(default=None, validator=_one_pattern)
    """Rays through the pixels of an image."""

    align: Literal["body", "yaw", "world"] = "body"
    """Rotation of the pattern: with the body, with its heading only (of the site's x axis), or not at all."""

    targets: tuple[str, ...] = attrs.field(default=(".*",), validator=min_len(1))
    """Full-match regular expressions of names of shapes that rays meet, or of whole labels if they contain a `/`."""

    moving: bool = False
    """Whether shapes of bodies are targets too, besides shapes that are fixed to the world."""

    max_distance: float = attrs.field(default=1.0e6, validator=positive)
    """Range of the rays [m]."""

    no_hit: Literal["infinity", "max-distance", "zero"] = "infinity"
    """Value of `distance` for a ray that meets nothing."""

    @property
    def pattern(self) -> GridConfig | LidarConfig | PinholeConfig:
        """The one pattern that is given."""
        return next(each for name in PATTERNS if (each := getattr(self, name)) is not None)

    @property
    def distance_of_no_hit(self) -> float:
        """Value of `distance` for a ray that meets nothing [m]."""
        return {"infinity": math.inf, "max-distance": self.max_distance, "zero": 0.0}[self.no_hit]


class SensorRayCaster(sensing.Sensor):
    """The nearest surfaces that rays meet, from outside or from inside. Rays ignore the sensor's own body.

    Outputs, of shape [worlds that have such bodies, bodies that match, *rays]; rays are [x, y] of a grid,
    [channels, azimuths] of a lidar or [rows, columns] of an image; `worlds` lists these worlds:

    - `distance` [m]: from the start of the ray to the surface; the value of `no_hit` if it meets none
    - `position` [m]: point on the surface, in the world frame; infinite if the ray meets none
    - `normal`: outward normal of the surface, in the world frame; zero if the ray meets none
    - `shape`: index of the shape in the model; -1 if the ray meets none
    """

    Config = RayCasterConfig
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
        import warp as wp

        simulation = binding.simulation
        self._model = model = simulation.model
        sites = binding.indices("shape", self._sites_of)
        self._targets = Targets.find(model, self.worlds, self.config.targets, moving=self.config.moving)
        starts, directions = self.config.pattern.rays()
        shape = (*sites.shape, *starts.shape[:-1])

        def array(values: np.ndarray, kind: type) -> wp.array:
            return wp.array(values, dtype=kind, device=model.device)

        self._sites, self._sites_per_world = array(sites.ravel(), int), sites.shape[1]
        self._starts, self._directions = (array(each.reshape(-1, 3), wp.vec3) for each in (starts, directions))
        self._frames = wp.zeros(sites.size, dtype=wp.transform, device=model.device)
        self._into_targets = wp.zeros(len(self._targets.shapes), dtype=wp.transform, device=model.device)
        names = tuple(model.shape_label[site] for site in sites[0])
        kinds = {"distance": float, "position": wp.vec3, "normal": wp.vec3, "shape": int}
        arrays = {name: wp.zeros(shape, dtype=kind, device=model.device) for name, kind in kinds.items()}
        self._outputs = [each.reshape((sites.size, -1)) for each in arrays.values()]
        units = {"distance": "m", "position": "m"}
        frames = {"position": "world", "normal": "world"}
        return {
            name: sensing.Output(data=each, unit=units.get(name, "1"), frame=frames.get(name, "none"), labels=names)
            for name, each in arrays.items()
        }

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Cast every ray. May be recorded: no tree is rebuilt for targets that move."""
        import warp as wp

        from . import kernels

        model, targets, device = self._model, self._targets, self._model.device
        poses = [present(state.body_q), model.shape_body, model.shape_transform]
        align = {"body": kernels.ALIGN_BODY, "yaw": kernels.ALIGN_YAW, "world": kernels.ALIGN_WORLD}[self.config.align]
        wp.launch(kernels.aim, len(self._sites), [self._sites, align, *poses, self._frames], device=device)
        inputs = [targets.shapes, *poses, self._into_targets]
        wp.launch(kernels.place, len(targets.shapes), inputs, device=device)
        rays = [self._sites, self._sites_per_world, self._frames, self._starts, self._directions]
        met = [targets.starts, targets.members, targets.shapes, self._into_targets]
        shapes = [model.shape_body, model.shape_type, model.shape_scale, model.shape_source_ptr]
        inputs = [*rays, self.config.max_distance, self.config.distance_of_no_hit, *met, *shapes, *self._outputs]
        wp.launch(kernels.cast, self._outputs[0].shape, inputs, device=device)
