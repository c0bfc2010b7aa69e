"""Built-in problems of benchmarks, by name."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class _ProblemConfig:
    """A problem without settings."""


class FreeTopConfig(_ProblemConfig):
    """A symmetric top that precesses without weight."""

    implementation = ".smooth_problems:FreeTop"


class FastTopConfig(_ProblemConfig):
    """A symmetric top at 60 rad/s without weight."""

    implementation = ".smooth_problems:FastTop"


class DzhanibekovConfig(_ProblemConfig):
    """A body that turns about its middle axis, and flips."""

    implementation = ".smooth_problems:Dzhanibekov"


class LargePendulumConfig(_ProblemConfig):
    """A pendulum that swings far."""

    implementation = ".smooth_problems:LargePendulum"


class DoublePendulumConfig(_ProblemConfig):
    """A double pendulum, before chaos begins."""

    implementation = ".smooth_problems:DoublePendulum"


class LongChainConfig(_ProblemConfig):
    """A chain of 20 links."""

    implementation = ".smooth_problems:LongChain"


class FourBarConfig(_ProblemConfig):
    """A linkage that a joint closes to a loop."""

    implementation = ".smooth_problems:FourBar"


class DrivenArmConfig(_ProblemConfig):
    """An arm that its drives turn."""

    implementation = ".smooth_problems:DrivenArm"


class BlockAtRestConfig(_ProblemConfig):
    """A block that friction holds on a slope."""

    implementation = ".contact_problems:BlockAtRest"


class SlidingBlockConfig(_ProblemConfig):
    """A block that slides down a slope."""

    implementation = ".contact_problems:SlidingBlock"


class RollingSphereConfig(_ProblemConfig):
    """A sphere that rolls down a slope."""

    implementation = ".contact_problems:RollingSphere"


class BouncesConfig(_ProblemConfig):
    """A sphere that bounces."""

    implementation = ".contact_problems:Bounces"


class TippingBoxConfig(_ProblemConfig):
    """A box that falls from its edge."""

    implementation = ".contact_problems:TippingBox"


class LiftOffConfig(_ProblemConfig):
    """A sphere that leaves the ground."""

    implementation = ".contact_problems:LiftOff"


class StackConfig(_ProblemConfig):
    """A tower of boxes."""

    implementation = ".contact_problems:Stack"


class PyramidConfig(_ProblemConfig):
    """A pyramid of boxes."""

    implementation = ".contact_problems:Pyramid"


class CradleConfig(_ProblemConfig):
    """Newton's cradle."""

    implementation = ".contact_problems:Cradle"


class GrippedCubeConfig(_ProblemConfig):
    """A cube between two fingers."""

    implementation = ".contact_problems:GrippedCube"


class QuadrupedDropConfig(_ProblemConfig):
    """A robot that falls on its four feet."""

    implementation = ".quadruped_problem:QuadrupedDrop"


class RodCantileverConfig(_ProblemConfig):
    """A rod that is clamped at one end."""

    implementation = ".matter_problems:RodCantilever"


class HangingClothConfig(_ProblemConfig):
    """A strip of cloth that hangs from its ends."""

    implementation = ".matter_problems:HangingCloth"


class ThrownGrainsConfig(_ProblemConfig):
    """A block of grains in flight."""

    implementation = ".matter_problems:ThrownGrains"
