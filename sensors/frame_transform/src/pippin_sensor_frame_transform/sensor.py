"""Poses of bodies in a frame of reference, as a Pippin sensor."""

from __future__ import annotations

from collections.abc import Mapping

import newton
import numpy as np
import pippin
import warp as wp
from pippin import labels, sensing
from pippin.arrays import present

from . import FrameTransformConfig, ReferenceConfig
from .kernels import measure_poses

__all__ = ["SensorFrameTransform"]


class SensorFrameTransform(sensing.Sensor):
    """Positions and orientations of sites in a frame of reference.

    Outputs, of shape [worlds that have such bodies, bodies that match]; `worlds` lists these worlds:

    - `position` [m]: origin of the site
    - `orientation`: of the site, as a unit quaternion (x, y, z, w)
    - `transform`: both, as one of Newton's transforms
    """

    deterministic_on = frozenset({"cpu", "cuda"})

    def __init__(self, config: FrameTransformConfig) -> None:
        super().__init__(config)
        self._targets: dict[int, list[int]] = {}
        self._references: dict[int, list[int]] = {}

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Add the sites to their bodies."""
        self._targets[prototype] = sensing.add_sites(builder, self.config)
        if self.config.reference is not None:
            self._references[prototype] = [add_reference(builder, self.config.reference)]

    def build_outputs(self, binding: pippin.Binding) -> Mapping[str, sensing.Output]:
        """Return the outputs of all worlds that have such bodies."""
        simulation = binding.simulation
        self._model = model = simulation.model
        targets = binding.indices("shape", self._targets)
        references = np.full(len(targets), -1)
        if self.config.reference is not None:
            references = binding.indices("shape", self._references).ravel()
        self._indices = [wp.array(each, dtype=int, device=model.device) for each in (targets, references)]
        kinds = {"transform": wp.transform, "position": wp.vec3, "orientation": wp.quat}
        arrays = {name: wp.zeros(targets.shape, dtype=kind, device=model.device) for name, kind in kinds.items()}
        self._arrays = [*arrays.values()]
        frame = "world" if self.config.reference is None else "reference"
        names = tuple(model.shape_label[site] for site in targets[0])
        units = {"position": "m", "orientation": "1", "transform": "m, 1"}
        return {
            name: sensing.Output(data=arrays[name], unit=unit, frame=frame, labels=names)
            for name, unit in units.items()
        }

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Measure the pose of every site. May be recorded."""
        poses = [present(state.body_q), self._model.shape_body, self._model.shape_transform]
        inputs = [*self._indices, *poses, *self._arrays]
        wp.launch(measure_poses, len(self._arrays[0]), inputs, device=self._model.device)


def add_reference(builder: newton.ModelBuilder, config: ReferenceConfig) -> int:
    """Add the site of a frame of reference to its body, and return its shape index.

    Raises:
        ConfigError: No body or site matches, or several do.
    """
    try:
        sites = sensing.add_sites(builder, config, where="reference.", name="reference")
    except labels.NoMatchError as error:
        # The measured bodies exist, so this is an error; a `NoMatchError` would only exclude this world.
        raise pippin.ConfigError(*error.faults) from error
    if len(sites) > 1:
        kind, plural = ("site", "sites") if config.body is None else ("body", "bodies")
        names = ", ".join(builder.shape_label[site].removesuffix("/reference") for site in sites)
        raise pippin.ConfigError(
            f"reference.{kind}: {config.body or config.site!r} matches {len(sites)} {plural}, {names}; let it match one"
        )
    return sites[0]
