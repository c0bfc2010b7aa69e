"""A steady wind, as a Pippin extension."""

import pippin
import warp as wp
from pippin import labels


@wp.kernel
def blow(
    bodies: wp.array[int],
    body_qd: wp.array[wp.spatial_vector],
    wind: wp.vec3,
    drag: float,
    body_f: wp.array[wp.spatial_vector],
):
    """Force on each body in the wind; one thread for each."""
    body = bodies[wp.tid()]
    force = drag * (wind - wp.spatial_top(body_qd[body]))
    body_f[body] += wp.spatial_vector(force, wp.vec3())


class ExtensionDemo:
    """The plugin: an extension with `type = "demo"`. Any of Pippin's hooks may be added."""

    def __init__(self, config):
        self.config = config
        self._bodies = {}

    @pippin.hookimpl
    def extend_prototype(self, builder, prototype):
        """Find the bodies, in one prototype of each kind of world."""
        self._bodies[prototype] = labels.match(self.config.bodies, builder.body_label, what="body", where="bodies")

    @pippin.hookimpl
    def bind(self, binding):
        """Find these bodies in all worlds."""
        self._model = binding.simulation.model
        indices = binding.indices("body", self._bodies).flatten()
        self._indices = wp.array(indices, dtype=int, device=binding.simulation.device)

    @pippin.hookimpl
    def before_substep(self, state):
        """Add the force to that of the user and of other plugins."""
        inputs = [self._indices, state.body_qd, wp.vec3(*self.config.wind), self.config.drag]
        wp.launch(blow, len(self._indices), inputs, [state.body_f], device=self._model.device)
