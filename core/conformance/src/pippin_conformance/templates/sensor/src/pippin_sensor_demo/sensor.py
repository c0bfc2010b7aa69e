"""Height above the ground, as a Pippin sensor."""

import pippin
import warp as wp
from pippin import sensing


@wp.kernel
def read_heights(
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    sites: wp.array2d[int],
    heights: wp.array2d[float],
):
    """Height of each site above the origin of its world; one thread for each site."""
    world, i = wp.tid()
    site = sites[world, i]
    pose = wp.transform_multiply(body_q[shape_body[site]], shape_transform[site])
    heights[world, i] = wp.transform_get_translation(pose)[2]


class SensorDemo(sensing.Sensor):
    """The plugin: a sensor with `type = "demo"`.

    Output, of shape [worlds that have such bodies, bodies that match]:

    - `height` [m]: of the site above the origin of the world
    """

    def __init__(self, config):
        super().__init__(config)
        self._sites = {}

    @pippin.hookimpl
    def extend_prototype(self, builder, prototype):
        """Add the sites to their bodies, in one prototype of each kind of world."""
        self._sites[prototype] = sensing.add_sites(builder, self.config)

    def build_outputs(self, binding):
        """Return the heights of all worlds."""
        simulation = binding.simulation
        self._model = simulation.model
        sites = binding.indices("shape", self._sites)
        self._indices = wp.array(sites, dtype=int, device=simulation.device)
        self._heights = wp.zeros(sites.shape, dtype=float, device=simulation.device)
        labels = tuple(self._model.shape_label[site] for site in sites[0])
        return {"height": sensing.Output(data=self._heights, unit="m", frame="world", labels=labels)}

    def measure(self, state, contacts, observables, dt):
        """Read the heights."""
        model = self._model
        inputs = [state.body_q, model.shape_body, model.shape_transform, self._indices]
        wp.launch(read_heights, self._heights.shape, inputs, [self._heights], device=model.device)
