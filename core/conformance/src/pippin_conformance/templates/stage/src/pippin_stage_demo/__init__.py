"""A dead band, as a Pippin stage: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import ge
from pippin import sensing


@attrs.frozen(kw_only=True)
class DemoConfig(sensing.StageConfig):
    """A value of a size up to `width` reads as zero."""

    implementation = ".stage:StageDemo"

    width: float = attrs.field(validator=ge(0.0))
    """Largest size that reads as zero [unit of the output]."""
