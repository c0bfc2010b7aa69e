"""Rewards: laws over quantities, and the two that need none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .terms import Law, LawConfig, Reward, RewardConfig

if TYPE_CHECKING:
    import warp as wp

__all__ = ["L1", "L2", "Alive", "Value"]


class KernelLaw(Law):
    """A law that one kernel evaluates: over all worlds, with x = values − targets."""

    Config: ClassVar[type] = LawConfig

    @property
    def kernel(self) -> Any:
        """The kernel, whose arguments are `values`, `columns`, `targets`, `target_columns`, `parameters`, `out`."""
        raise NotImplementedError

    @property
    def parameters(self) -> tuple[float, float]:
        """Two numbers that the kernel gets."""
        return 0.0, 0.0

    def evaluate(self, out: wp.array[float]) -> None:
        """Launch the kernel."""
        import warp as wp

        inputs = [self.values, self.columns, self.targets, self.target_columns, wp.vec2(*self.parameters), out]
        wp.launch(self.kernel, len(out), inputs, device=out.device)


class Value(KernelLaw):
    """The law `value`: the sum of x."""

    @property
    def kernel(self) -> Any:
        """The kernel."""
        from .reward_kernels import sum_values

        return sum_values


class L1(KernelLaw):
    """The law `l1`: the sum of abs(x)."""

    @property
    def kernel(self) -> Any:
        """The kernel."""
        from .reward_kernels import sum_absolute

        return sum_absolute


class L2(KernelLaw):
    """The law `l2`: the sum of x²."""

    @property
    def kernel(self) -> Any:
        """The kernel."""
        from .reward_kernels import sum_squares

        return sum_squares


class Alive(Reward):
    """The reward `alive`: 1 while the episode goes on, 0 in a step in which a termination ends it."""

    Config: ClassVar[type] = RewardConfig

    def evaluate(self, out: wp.array[float]) -> None:
        """Write 1 − terminated."""
        import warp as wp

        from .reward_kernels import is_alive

        wp.launch(is_alive, len(out), [self.place.worlds.terminated, out], device=out.device)
