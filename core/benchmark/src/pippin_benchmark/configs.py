"""Built-in problems of benchmarks, by name."""

from __future__ import annotations

from typing import ClassVar

import attrs


@attrs.frozen(kw_only=True)
class _ProblemConfig:
    """A problem without settings; its implementation is the class of a module that has its name."""

    implementation: ClassVar[str]

    def __init_subclass__(cls, module: str) -> None:
        """Name the implementation."""
        cls.implementation = f".{module}:{cls.__name__.removesuffix('Config')}"


class FreeTopConfig(_ProblemConfig, module="smooth_problems"):
    """A symmetric top that precesses without weight."""


class FastTopConfig(_ProblemConfig, module="smooth_problems"):
    """A symmetric top at 60 rad/s without weight."""


class DzhanibekovConfig(_ProblemConfig, module="smooth_problems"):
    """A body that turns about its middle axis, and flips."""


class LargePendulumConfig(_ProblemConfig, module="smooth_problems"):
    """A pendulum that swings far."""


class DoublePendulumConfig(_ProblemConfig, module="smooth_problems"):
    """A double pendulum, before chaos begins."""


class LongChainConfig(_ProblemConfig, module="smooth_problems"):
    """A chain of 20 links."""


class FourBarConfig(_ProblemConfig, module="smooth_problems"):
    """A linkage that a joint closes to a loop."""


class DrivenArmConfig(_ProblemConfig, module="smooth_problems"):
    """An arm that its drives turn."""


class BlockAtRestConfig(_ProblemConfig, module="contact_problems"):
    """A block that friction holds on a slope."""


class SlidingBlockConfig(_ProblemConfig, module="contact_problems"):
    """A block that slides down a slope."""


class RollingSphereConfig(_ProblemConfig, module="contact_problems"):
    """A sphere that rolls down a slope."""


class BouncesConfig(_ProblemConfig, module="contact_problems"):
    """A sphere that bounces."""


class TippingBoxConfig(_ProblemConfig, module="contact_problems"):
    """A box that falls from its edge."""


class LiftOffConfig(_ProblemConfig, module="contact_problems"):
    """A sphere that leaves the ground."""


class StackConfig(_ProblemConfig, module="contact_problems"):
    """A tower of boxes."""


class PyramidConfig(_ProblemConfig, module="contact_problems"):
    """A pyramid of boxes."""


class CradleConfig(_ProblemConfig, module="contact_problems"):
    """Newton's cradle."""


class GrippedCubeConfig(_ProblemConfig, module="contact_problems"):
    """A cube between two fingers."""


class QuadrupedDropConfig(_ProblemConfig, module="quadruped_problem"):
    """A robot that falls on its four feet."""


class RodCantileverConfig(_ProblemConfig, module="smooth_problems"):
    """A rod that is clamped at one end."""


class HangingClothConfig(_ProblemConfig, module="smooth_problems"):
    """A strip of cloth that hangs from its ends."""


class ThrownGrainsConfig(_ProblemConfig, module="smooth_problems"):
    """A block of grains in flight."""
