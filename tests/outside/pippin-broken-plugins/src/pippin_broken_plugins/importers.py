"""Importers that break a promise; each reads any file as a ball."""

from pathlib import Path

import attrs
import newton
import pippin
import warp as wp
from pippin.assets import Importer

__all__ = ["Deaf", "Nowhere", "Placing", "Twins"]


@attrs.frozen(kw_only=True)
class BallConfig:
    """A ball, whatever the file holds."""


class Ball(Importer):
    """Adds a ball."""

    def add_asset(self, builder: newton.ModelBuilder, file: Path, asset: pippin.AssetConfig) -> None:
        """Add the ball."""
        inertia = wp.mat33(0.1, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.1)
        builder.add_body(label="ball", mass=1.0, inertia=inertia, xform=self.place(asset))

    def place(self, asset: pippin.AssetConfig) -> wp.transform:
        """Return the pose of the ball."""
        return wp.transform_identity()


@attrs.frozen(kw_only=True)
class TwinsConfig(BallConfig):
    """Settings of `Twins`."""

    implementation = "Twins"


class Twins(Ball):
    """Adds two balls of one name."""

    def add_asset(self, builder: newton.ModelBuilder, file: Path, asset: pippin.AssetConfig) -> None:
        super().add_asset(builder, file, asset)
        super().add_asset(builder, file, asset)


@attrs.frozen(kw_only=True)
class PlacingConfig(BallConfig):
    """Settings of `Placing`."""

    implementation = "Placing"


class Placing(Ball):
    """Puts the ball at its position, where the host puts it once more."""

    def place(self, asset: pippin.AssetConfig) -> wp.transform:
        return wp.transform(asset.position, asset.rotation)


@attrs.frozen(kw_only=True)
class DeafConfig(BallConfig):
    """Settings of `Deaf`."""

    implementation = "Deaf"


class Deaf(Ball):
    """Declares an option that it does not look at."""

    options = frozenset({"scale"})


@attrs.frozen(kw_only=True)
class NowhereConfig(BallConfig):
    """Settings of `Nowhere`."""

    implementation = "Nowhere"


class Nowhere(Ball):
    """Puts the ball at a place that is not a number."""

    def place(self, asset: pippin.AssetConfig) -> wp.transform:
        return wp.transform(wp.vec3(float("nan")), wp.quat_identity())
