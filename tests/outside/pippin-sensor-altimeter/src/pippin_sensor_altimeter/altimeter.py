"""A barometric altimeter: air pressure at a site, which a sluggish instrument follows."""

import math

import pippin
import warp as wp
from pippin import sensing

from .kernels import cut, follow


class Altimeter(sensing.Sensor):
    """Height above the origin [m], as a first-order instrument shows it."""

    def __init__(self, config):
        super().__init__(config)
        self._sites = {}

    @pippin.hookimpl
    def extend_prototype(self, builder, prototype):
        """Put the sites on their bodies."""
        self._sites[prototype] = sensing.add_sites(builder, self.config)

    def build_outputs(self, binding):
        """Return the height of each site."""
        simulation = binding.simulation
        self._model = simulation.model
        sites = binding.indices("shape", self._sites)
        self._indices = wp.array(sites, dtype=int, device=simulation.device)
        self._heights = wp.zeros(sites.shape, dtype=float, device=simulation.device)
        labels = tuple(self._model.shape_label[site] for site in sites[0])
        return {"height": sensing.Output(data=self._heights, unit="m", frame="world", labels=labels)}

    def measure(self, state, contacts, observables, dt):
        """Let the instrument follow for `dt`; a reset sets it to the height at once."""
        share = -math.expm1(-dt / self.config.time_constant) if dt else 1.0
        shapes = [self._model.shape_body, self._model.shape_transform]
        inputs = [state.body_q, *shapes, self._indices, share, self._heights]
        wp.launch(follow, self._heights.shape, inputs, device=self._heights.device)


class Saturation(sensing.Stage):
    """Values up to a limit."""

    def apply(self, values, world_mask, dt):
        """Cut each value."""
        self.lanes.launch(cut, world_mask, self.config.limit, values)
