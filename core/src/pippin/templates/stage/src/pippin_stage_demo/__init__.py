"""A dead band, as a Pippin stage. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import ge
from pippin import sensing


@attrs.frozen(kw_only=True)
class DemoConfig(sensing.StageConfig):
    """A value of a size up to `width` reads as zero."""

    width: float = attrs.field(validator=ge(0.0))
    """Largest size that reads as zero [unit of the output]."""


class StageDemo(sensing.Stage):
    """The plugin: a stage with `type = "demo"`, in the list `stages` of any sensor."""

    Config = DemoConfig

    def apply(self, values, world_mask, dt):
        """Set small values of the masked worlds to zero."""
        from .kernels import flatten

        self.lanes.launch(flatten, world_mask, self.config.width, values)
