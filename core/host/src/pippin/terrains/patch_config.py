"""Keys of every kind of patches."""

from __future__ import annotations

import attrs
from pippin.validators import non_negative


@attrs.frozen(kw_only=True)
class PatchConfig:
    """The keys of every table of `[scene.terrain.patches]`. A plugin's settings derive from this class."""

    share: float = attrs.field(default=1.0, validator=non_negative)
    """Part of the worlds that start on these patches, beside the shares of the others."""
