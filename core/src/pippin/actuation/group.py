"""The arrays of one actuator over all worlds, and the order in which delay, drive and clamping work on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pippin.arrays import on_host
from pippin.errors import PluginError

from .effort import ExplicitEffort, ImplicitEffort

if TYPE_CHECKING:
    import newton
    import warp as wp
    from newton.actuators import ClampingBase, Delay, DriveBase

    from .parameters import Lanes

__all__ = ["Group"]


class Group:
    """The arrays of one actuator over all worlds, and the order in which delay, drive and clamping work on them.

    Args:
        model: The model of all worlds.
        lanes: The driven DOFs.
        drive: The law.
        clamping: Limits, in order.
        delay: How targets wait, if they do.
        mode: Whether the law is evaluated where the step starts, or solved for where it will end.
    """

    def __init__(
        self,
        model: newton.Model,
        lanes: Lanes,
        drive: DriveBase,
        clamping: Sequence[ClampingBase],
        delay: Delay | None,
        mode: Literal["explicit", "implicit"],
    ) -> None:
        import warp as wp

        if drive.custom_inputs:
            names = ", ".join(drive.custom_inputs)
            raise PluginError(f"{type(drive).__name__} reads inputs that no actuator has: {names}")
        self.lanes, self._device = lanes, lanes.device
        initial = on_host(model.joint_q)[lanes.coordinates]
        options: Any = {"dtype": float, "device": lanes.device, "requires_grad": model.requires_grad}
        self.position_targets = wp.array(initial, **options)
        self.velocity_targets, self.feedforward, self.computed_effort, self.applied_effort = (
            wp.zeros(lanes.dofs.shape, **options) for _ in range(4)
        )
        if not clamping:
            self.applied_effort = self.computed_effort
        self.dofs = wp.array(lanes.dofs.ravel(), dtype=int, device=lanes.device)
        self.world_of_lane = lanes.world_of_lane()
        self._lane_mask = wp.zeros(lanes.dofs.size, dtype=bool, device=lanes.device)
        efforts = ExplicitEffort if mode == "explicit" else ImplicitEffort
        self._effort = efforts(model, lanes, drive, clamping, delay)

    @property
    def is_capturable(self) -> bool:
        """Whether the law may be recorded into a graph."""
        return self._effort.is_capturable

    @property
    def is_differentiable(self) -> bool:
        """Whether a tape may record the law."""
        return self._effort.is_differentiable

    def state(self) -> newton.actuators.Actuator.State:
        """Return what delay and drive carry from step to step, as at the start."""
        return self._effort.state()

    def step(self, state: newton.State, control: newton.Control, current: Any, following: Any, dt: float) -> None:
        """Run targets → delay → drive → clamping → `control.joint_f`, then note the targets for later steps."""
        import warp as wp
        from .kernels import add_efforts

        targets = (self.position_targets.flatten(), self.velocity_targets.flatten(), self.feedforward.flatten())
        efforts = self._efforts(state)
        self._effort.compute(state, targets, efforts, current, following, dt)
        wp.launch(add_efforts, self.dofs.size, [self.dofs, efforts[1], control.joint_f], device=self._device)

    def _efforts(self, state: newton.State) -> tuple[wp.array, wp.array]:
        """Return where to write efforts before and after clamping: in a rollout, where a tape finds them unchanged."""
        import warp as wp

        computed, applied = self.computed_effort.flatten(), self.applied_effort.flatten()
        if not state.requires_grad:
            return computed, applied
        own = wp.zeros_like(computed)
        return own, own if self.applied_effort is self.computed_effort else wp.zeros_like(applied)

    def reset(self, state: newton.actuators.Actuator.State, world_mask: wp.array) -> None:
        """Put the lanes of the masked worlds back to the start."""
        import warp as wp
        from .kernels import mask_lanes, zero_lanes

        count, mask = self.dofs.size, self._lane_mask
        wp.launch(mask_lanes, count, [self.world_of_lane, world_mask, mask], device=self._device)
        for efforts in (self.computed_effort, self.applied_effort):
            wp.launch(zero_lanes, count, [mask, efforts.flatten()], device=self._device)
        state.reset(mask)
