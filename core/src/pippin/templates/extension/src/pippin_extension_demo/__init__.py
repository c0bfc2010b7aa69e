"""A steady wind, as a Pippin extension. Imports neither Warp nor Newton."""

import attrs
import pippin
from attrs.validators import ge
from pippin import labels


@attrs.frozen(kw_only=True)
class DemoConfig:
    """A drag towards the velocity of the wind: force = `drag` (wind − velocity)."""

    bodies: tuple[str, ...] = (".*",)
    """Patterns of the names of the bodies in the wind."""

    wind: tuple[float, float, float] = (1.0, 0.0, 0.0)
    """Velocity of the air in the world [m/s]."""

    drag: float = attrs.field(default=1.0, validator=ge(0.0))
    """Force per difference of the velocities [N·s/m]."""


class ExtensionDemo:
    """The plugin: an extension with `type = "demo"`. Any of Pippin's hooks may be added."""

    Config = DemoConfig

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
        import warp as wp

        self._model = binding.simulation.model
        indices = binding.indices("body", self._bodies).flatten()
        self._indices = wp.array(indices, dtype=int, device=binding.simulation.device)

    @pippin.hookimpl
    def before_substep(self, state):
        """Add the force to that of the user and of other plugins."""
        import warp as wp

        from .kernels import blow

        inputs = [self._indices, state.body_qd, wp.vec3(*self.config.wind), self.config.drag]
        wp.launch(blow, len(self._indices), inputs, [state.body_f], device=self._model.device)
