"""Height above the ground, as a Pippin sensor: the settings. Imports neither Warp nor Newton."""

import attrs
from pippin import sensing


@attrs.frozen(kw_only=True)
class DemoConfig(sensing.SiteConfig):
    """A height meter at a site of every body that matches."""

    implementation = ".sensor:SensorDemo"
