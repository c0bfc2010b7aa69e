"""Towers of boxes from JSON, as an importer of Pippin: the settings. Imports neither Warp nor Newton."""

import attrs
from attrs.validators import gt


@attrs.frozen(kw_only=True)
class TowerConfig:
    """A file `{"boxes": [{"name": "low", "size": 0.4, "mass": 2.0}]}`, from below; each box is free."""

    implementation = ".importer:ImporterDemo"

    gap: float = attrs.field(default=0.01, validator=gt(0.0))
    """Distance between two boxes [m]."""
