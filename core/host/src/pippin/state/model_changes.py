"""In-place changes of the model by the user: they are merged and checked, and the solver is notified before a step."""

from __future__ import annotations

from collections.abc import Callable, Collection

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.errors import ConfigError, PluginError
from pippin.spelling import listed

from .kinematics import ModifiedWorlds

Notify = Callable[[int, wp.array], None]
"""Tells the solver of flags, and of the worlds that they are about, a mask of shape [world_count + 1]."""

_REFUSALS = (NotImplementedError, RuntimeError, ValueError)
"""Newton's solvers refuse changes with built-in errors of Python."""


class ModelChanges:
    """The changes of the model since the last step, and since the build.

    Args:
        taken: Names of the flags that the solver follows while it runs; None for all.
        model: The model of all worlds.
        name: The solver's name in errors.
        notify: The call that tells the solver.
        is_asked: Whether the component of the solver asks for the worlds; otherwise they are not noted.
    """

    def __init__(
        self, taken: Collection[str] | None, model: newton.Model, name: str, notify: Notify, *, is_asked: bool
    ) -> None:
        flags = newton.ModelFlags
        self._taken = int(flags.ALL) if taken is None else sum(flags[name] for name in taken)
        self._device = model.device
        self._name, self._notify = name, notify
        #: The worlds that wait; who notes a change sets or adds them.
        self.worlds = ModifiedWorlds(model, is_asked=is_asked, at_first=False)
        self._everywhere = wp.full(model.world_count + 1, value=True, dtype=bool, device=model.device)
        self._waiting = self._replayed = 0
        #: All flags that the solver was ever notified of.
        self.notified_flags = 0
        #: Whether a reset or a step may notify the solver, which may allocate then; components say so in `bind`.
        self.is_told_in_steps = False
        #: Number of reports of changed joint frames.
        self.joint_change_count = 0
        self._model, self._are_masses_changed = model, False

    @property
    def is_waiting(self) -> bool:
        """Whether the solver has to be notified."""
        return bool(self._waiting | self._replayed)

    def add(self, flags: newton.ModelFlags | int, world_mask: wp.array[wp.bool] | None = None) -> None:
        """Note a change of the masked worlds; None means all. See `note`."""
        self.note(flags)
        self.worlds.add(world_mask)

    def note(self, flags: newton.ModelFlags | int) -> None:
        """Note a change whose worlds the caller sets in `worlds.mask`, for example with the kernel that writes them.

        After a call inside a capture, every step notifies the solver: replays may repeat the change.
        """
        if isinstance(flags, bool) or not isinstance(flags, int) or flags & ~newton.ModelFlags.ALL:
            value = hex(flags) if isinstance(flags, int) else repr(flags)
            raise ConfigError(f"notify_model_changed: expected flags of newton.ModelFlags, got {value}")
        if fault := self.fault(flags):
            raise ConfigError(f"notify_model_changed: {fault}; build another simulation from the changed model")
        self._waiting |= int(flags)
        self.joint_change_count += bool(flags & newton.ModelFlags.JOINT_PROPERTIES)
        self._are_masses_changed |= bool(flags & newton.ModelFlags.BODY_INERTIAL_PROPERTIES)
        if self._device.is_capturing:
            self._replayed |= int(flags)

    def check(self) -> None:
        """Refuse masses that were set to zero since the last call, as the build does."""
        if self._are_masses_changed:
            refuse_massless(self._model, "model.body_mass")
            self._are_masses_changed = False

    def fault(self, flags: int) -> str | None:
        """Return why the solver cannot take a change over while it runs; None if it can."""
        ignored = flags & ~self._taken
        if not ignored:
            return None
        return (
            f"solver {self._name!r} does not take over {_flag_names(ignored)} while it runs;"
            f" it does: {_flag_names(self._taken) or 'nothing'}"
        )

    def trust(self) -> None:
        """For the core: Tell the solver of every change, to see whether it follows those that it does not declare."""
        self._taken = int(newton.ModelFlags.ALL)

    def notify_now(self, flags: int, world_mask: wp.array[wp.bool] | None = None) -> None:
        """Notify the solver of a change that a step makes in the masked worlds; None means all.

        May be recorded if the solver may.
        """
        self.notified_flags |= flags
        self._notify(flags, self._everywhere if world_mask is None else world_mask)

    def tell(self) -> None:
        """Notify the solver once of all changes since the last notification.

        Raises:
            ConfigError: The solver refuses a change. It is told again before the next step.
        """
        flags = self._waiting | self._replayed
        try:
            self._notify(flags, self.worlds.mask if self.worlds.is_asked else self._everywhere)
        except (*_REFUSALS, PluginError) as error:
            refusal = error.__cause__ if isinstance(error, PluginError) else error
            if not isinstance(refusal, _REFUSALS):
                raise
            raise ConfigError(
                f"notify_model_changed: solver {self._name!r} refuses a change of {_flag_names(flags)}: {refusal};"
                " write the values of before, or build another simulation from the changed model"
            ) from refusal
        self.notified_flags |= flags
        self._waiting = 0
        if self.worlds.is_asked:
            self.worlds.mask.zero_()


def _flag_names(flags: int) -> str:
    return ", ".join(flag.name for flag in newton.ModelFlags if flag != newton.ModelFlags.ALL and flag & flags)


def refuse_massless(model: newton.Model, where: str = "scene") -> None:
    """Refuse bodies that move but have no mass, if the bodies that they carry have none either.

    A solver in reduced coordinates would divide by zero, and others would let the body hang in the air. Kinematic
    bodies need no mass, because users move them.
    """
    if not model.body_count:
        return
    carried, is_moved = on_host(model.body_mass).astype(float), np.ones(model.body_count, dtype=bool)
    if model.joint_count:
        parents, children = on_host(model.joint_parent), on_host(model.joint_child)
        in_tree = on_host(model.joint_articulation) >= 0
        for joint in np.flatnonzero(in_tree & (parents >= 0))[::-1].tolist():  # a tree lists parents first
            carried[parents[joint]] += carried[children[joint]]
        is_moved[children[on_host(model.joint_type) == int(newton.JointType.FIXED)]] = False
    is_moved &= (on_host(model.body_flags) & int(newton.BodyFlags.KINEMATIC)) == 0
    labels = [model.body_label[body] for body in np.flatnonzero(is_moved & (carried == 0.0))]
    if labels:
        raise ConfigError(
            f"{where}: movable bodies without mass, with all that they carry: {listed(labels)}; give each a mass, or"
            " a shape with a density, or hold it with a fixed joint"
        )
