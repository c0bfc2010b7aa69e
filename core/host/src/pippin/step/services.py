"""Services of a simulation for its components and views; `pippin.binding.Services` describes them."""

from __future__ import annotations

from functools import partial
from typing import Any

import warp as wp
from pippin.arrays import present
from pippin.binding import Host, refuse_closed
from pippin.devices import allocates_in_branches, records_branches
from pippin.state.kernels import note_any
from pippin.state.world_layout import SceneObjects

from .built import Built
from .owners import DofOwners
from .plan import StepPlan


class SimulationServices:
    """The services of one simulation."""

    def __init__(self, host: Host, built: Built) -> None:
        self._host, self._components = host, built.components
        self.written, self.support, self.model_changes = built.written, built.support, built.model_changes
        self.places = built.layout.places
        self.scene_objects = SceneObjects(built.model, built.layout.objects, built.layout.prototype_of_world)
        device = built.device
        self._are_any = wp.zeros(1, dtype=int, device=device)
        self._has_branches = records_branches(device) and allocates_in_branches(device)
        #: The plan of a step; None until all components are bound.
        self.plan: StepPlan | None = None

    @property
    def owners(self) -> DofOwners | None:
        """The components that drive degrees of freedom; None until all components are bound."""
        return None if self.plan is None else self.plan.owners

    @property
    def solver_eager_reason(self) -> str | None:
        """The reason why the solver may not be recorded; None if it may be."""
        return self._components.eager_reason(self._components.solver_name)

    def update_from_joints(self, world_mask: wp.array[wp.bool]) -> None:
        """Let bodies and solver follow the joints that a component wrote, in the masked worlds."""
        present(self.plan).resetting.update_from_joints(world_mask)

    def mark_diverged(self, worlds: wp.array[wp.bool]) -> None:
        """Write for each world whether its state diverged since its reset."""
        present(self.plan).monitor.mark_diverged(worlds)

    def model_change_fault(self, flags: int) -> str | None:
        """Return why the solver cannot take over changes of the model while it runs; None if it can."""
        return self.model_changes.fault(flags)

    def notify_solver(self, flags: int, world_mask: wp.array[wp.bool] | None = None) -> None:
        """Notify the solver of a change in masked worlds, None for all, at once, if there is a masked world.

        If the call is recorded although it may not be, the solver is notified before every later step.
        """
        if self._host.device.is_capturing and self.solver_eager_reason is not None:
            self.model_changes.add(flags, world_mask)
            return
        with self._components.during(self._components.solver_name, "notify_model_changed"):
            if world_mask is None or not self._has_branches:
                self.model_changes.notify_now(flags, world_mask)
                return
            self._are_any.zero_()
            wp.launch(note_any, len(world_mask), [world_mask, self._are_any], device=world_mask.device)
            wp.capture_if(self._are_any, on_true=partial(self.model_changes.notify_now, flags, world_mask))

    def call_hook(self, hook: str, **arguments: Any) -> Any:
        """Call a hook that a plugin specifies."""
        refuse_closed(self._host, "call_hook")
        return self._components.call_own(hook, **arguments)
