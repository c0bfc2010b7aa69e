"""Patches that break a promise."""

import attrs
import numpy as np
from pippin.terrains import Block, Ground, Patch, PatchConfig

__all__ = ["Hollow", "Moody"]


@attrs.frozen(kw_only=True)
class MoodyConfig(PatchConfig):
    """Settings of `Moody`."""

    implementation = "Moody"


class Moody(Patch):
    """Draws from the entropy of the machine."""

    def ground(self, size, difficulty, random):
        """Return a block of any height."""
        return Ground(blocks=(Block(size=size, top=float(np.random.default_rng().uniform())),))


@attrs.frozen(kw_only=True)
class HollowConfig(PatchConfig):
    """Settings of `Hollow`."""

    implementation = "Hollow"


class Hollow(Patch):
    """Has ground beside its start alone."""

    def ground(self, size, difficulty, random):
        """Return a block beside the start."""
        return Ground(blocks=(Block(size=(0.1, 0.1), top=0.0, centre=(0.4, 0.0)),))
