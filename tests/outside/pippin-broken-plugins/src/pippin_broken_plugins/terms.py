"""Terms of tasks that break one promise each."""

from __future__ import annotations

import attrs
import numpy as np
from pippin_task import Action, Command, CommandConfig, Event, EventConfig, Quantity, Reward, RewardConfig, Termination


@attrs.frozen(kw_only=True)
class NoConfig:
    """Nothing."""

    implementation = "Nameless"


@attrs.frozen(kw_only=True)
class AnyRewardConfig(RewardConfig):
    """Nothing of its own."""

    implementation = "Unwritten"


class Nameless(Quantity):
    """Two numbers with one label."""

    labels = ("x", "x")

    def measure(self, state, out):
        out.zero_()


class Unwritten(Reward):
    """Writes its number of no world."""

    def evaluate(self, out):
        pass


@attrs.frozen(kw_only=True)
class UndecidedConfig(NoConfig):
    """Settings of `Undecided`."""

    implementation = "Undecided"


class Undecided(Termination):
    """Gives no verdict."""

    def evaluate(self, out):
        pass


@attrs.frozen(kw_only=True)
class InvertedConfig(NoConfig):
    """Settings of `Inverted`."""

    implementation = "Inverted"


class Inverted(Action):
    """Has a lowest value above its highest one."""

    labels = ("push",)

    @property
    def bounds(self):
        return np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.float32)

    def apply(self, action):
        pass


@attrs.frozen(kw_only=True)
class AnyEventConfig(EventConfig):
    """Nothing of its own."""

    implementation = "Everywhere"


class Everywhere(Event):
    """Stops all worlds."""

    moves_bodies = True

    def apply(self, state, world_mask):
        state.joint_qd.zero_()


@attrs.frozen(kw_only=True)
class HasteningConfig(EventConfig):
    """Nothing of its own."""

    implementation = "Hastening"


class Hastening(Event):
    """Gives all joints a velocity that grows, over resets too."""

    moves_bodies = True

    def __init__(self, config, context):
        super().__init__(config, context)
        import warp as wp

        self._velocities = wp.zeros_like(context.simulation.state.joint_qd)

    def apply(self, state, world_mask):
        self._velocities += 0.1
        state.joint_qd.assign(self._velocities)


@attrs.frozen(kw_only=True)
class AnyCommandConfig(CommandConfig):
    """Nothing of its own."""

    implementation = "Shared"


class Shared(Command):
    """Forgets the targets of all worlds."""

    labels = ("speed",)

    def __init__(self, config, context):
        super().__init__(config, context)
        import warp as wp

        self.value = wp.zeros((context.world_count, 1), dtype=float, device=context.device)

    def resample(self, world_mask):
        self.value += 1.0
