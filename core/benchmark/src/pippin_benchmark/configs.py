"""Built-in scenes of benchmarks, by name."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class _SceneConfig:
    """A scene without settings."""


class FreeTopConfig(_SceneConfig):
    """A symmetric top that precesses without weight."""

    implementation = ".smooth_scenes:FreeTop"


class FastTopConfig(_SceneConfig):
    """A symmetric top at 60 rad/s without weight."""

    implementation = ".smooth_scenes:FastTop"


class DzhanibekovConfig(_SceneConfig):
    """A body that turns about its middle axis, and flips."""

    implementation = ".smooth_scenes:Dzhanibekov"


class LargePendulumConfig(_SceneConfig):
    """A pendulum that swings far."""

    implementation = ".smooth_scenes:LargePendulum"


class DoublePendulumConfig(_SceneConfig):
    """A double pendulum, before chaos begins."""

    implementation = ".smooth_scenes:DoublePendulum"


class LongChainConfig(_SceneConfig):
    """A chain of 20 links."""

    implementation = ".smooth_scenes:LongChain"


class FourBarConfig(_SceneConfig):
    """A linkage that a joint closes to a loop."""

    implementation = ".smooth_scenes:FourBar"


class DrivenArmConfig(_SceneConfig):
    """An arm that its drives turn."""

    implementation = ".smooth_scenes:DrivenArm"


class BlockAtRestConfig(_SceneConfig):
    """A block that friction holds on a slope."""

    implementation = ".contact_scenes:BlockAtRest"


class SlidingBlockConfig(_SceneConfig):
    """A block that slides down a slope."""

    implementation = ".contact_scenes:SlidingBlock"


class RollingSphereConfig(_SceneConfig):
    """A sphere that rolls down a slope."""

    implementation = ".contact_scenes:RollingSphere"


class BouncesConfig(_SceneConfig):
    """A sphere that bounces."""

    implementation = ".contact_scenes:Bounces"


class TippingBoxConfig(_SceneConfig):
    """A box that falls from its edge."""

    implementation = ".contact_scenes:TippingBox"


class LiftOffConfig(_SceneConfig):
    """A sphere that leaves the ground."""

    implementation = ".contact_scenes:LiftOff"


class StackConfig(_SceneConfig):
    """A tower of boxes."""

    implementation = ".contact_scenes:Stack"


class PyramidConfig(_SceneConfig):
    """A pyramid of boxes."""

    implementation = ".contact_scenes:Pyramid"


class CradleConfig(_SceneConfig):
    """Newton's cradle."""

    implementation = ".contact_scenes:Cradle"


class GrippedCubeConfig(_SceneConfig):
    """A cube between two fingers."""

    implementation = ".contact_scenes:GrippedCube"


class QuadrupedDropConfig(_SceneConfig):
    """A robot that falls on its four feet."""

    implementation = ".quadruped_scene:QuadrupedDrop"


class RodCantileverConfig(_SceneConfig):
    """A rod that is clamped at one end."""

    implementation = ".matter_scenes:RodCantilever"


class HangingClothConfig(_SceneConfig):
    """A strip of cloth that hangs from its ends."""

    implementation = ".matter_scenes:HangingCloth"


class ThrownGrainsConfig(_SceneConfig):
    """A block of grains in flight."""

    implementation = ".matter_scenes:ThrownGrains"
