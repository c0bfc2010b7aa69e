"""Rubble: random stones on the ground of every world."""

import attrs
import numpy as np
import pippin
import warp as wp
from attrs.validators import ge, gt


@attrs.frozen(kw_only=True)
class RubbleConfig:
    """Stones that do not move, at random places; each world has the same."""

    implementation = "Rubble"

    count: int = attrs.field(default=20, validator=ge(1))
    """Number of stones."""

    size: float = attrs.field(default=0.1, validator=gt(0.0))
    """Largest edge of a stone [m]."""

    extent: float = attrs.field(default=2.0, validator=gt(0.0))
    """Half of the edge of the yard [m]."""

    seed: int = 0
    """Seed of places and edges."""


class Rubble:
    """Brings stones into the worlds."""

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def fill_prototype(self, builder):
        """Add the stones."""
        config = self.config
        random = np.random.default_rng(config.seed)
        for index in range(config.count):
            x, y = random.uniform(-config.extent, config.extent, 2)
            hx, hy, hz = random.uniform(0.25, 0.5, 3) * config.size
            pose = wp.transform(wp.vec3(x, y, hz), wp.quat_identity())
            builder.add_shape_box(-1, xform=pose, hx=hx, hy=hy, hz=hz, label=f"stone_{index}")
