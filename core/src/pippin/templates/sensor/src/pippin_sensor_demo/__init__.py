"""Height above the ground, as a Pippin sensor. Imports neither Warp nor Newton."""

import attrs
import pippin
from pippin import sensing


@attrs.frozen(kw_only=True)
class DemoConfig(sensing.SiteConfig):
    """A height meter at a site of every body that matches."""


class SensorDemo(sensing.Sensor):
    """The plugin: a sensor with `type = "demo"`.

    Output, of shape [worlds that have such bodies, bodies that match]:

    - `height` [m]: of the site above the origin of the world
    """

    Config = DemoConfig

    def __init__(self, config):
        super().__init__(config)
        self._sites = {}

    @pippin.hookimpl
    def extend_prototype(self, builder, prototype):
        """Add the sites to their bodies, in one prototype of each kind of world."""
        self._sites[prototype] = sensing.add_sites(builder, self.config)

    def build_outputs(self, binding):
        """Return the heights of all worlds."""
        import warp as wp

        simulation = binding.simulation
        self._model = simulation.model
        sites = binding.indices("shape", self._sites)
        self._indices = wp.array(sites, dtype=int, device=simulation.device)
        self._heights = wp.zeros(sites.shape, dtype=float, device=simulation.device)
        labels = tuple(self._model.shape_label[site] for site in sites[0])
        return {"height": sensing.Output(data=self._heights, unit="m", frame="world", labels=labels)}

    def measure(self, state, contacts, observables, dt):
        """Read the heights."""
        import warp as wp

        from .kernels import read_heights

        model = self._model
        inputs = [state.body_q, model.shape_body, model.shape_transform, self._indices]
        wp.launch(read_heights, self._heights.shape, inputs, [self._heights], device=model.device)
