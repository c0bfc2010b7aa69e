"""Placement of bodies: through their free joint, through the frame of another joint, or directly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host
from pippin.devices import shares_memory

from .errors import ViewError
from .kernels.placement import Movers, flag_joined, scatter_poses, scatter_twists
from .launching import PreparedLaunch
from .memory import WarpArrayCache
from .quantity_buffer import StridedBlocks
from .row_selection import RowFlags, RowSelection
from .rules import ValueRule
from .structure import PADDING, free_roots


@attrs.define(kw_only=True, eq=False, slots=False)
class Placement:
    """Writes poses and velocities of one body of each row."""

    host: Host
    flags: RowFlags
    moves_anchor: bool
    """Whether a pose moves the anchor of a joint that is not free."""

    labels: Sequence[str]
    bodies: np.ndarray
    joints: np.ndarray
    """Joint that moves the body of each row, shape [count]; -1 for no joint."""

    def __attrs_post_init__(self) -> None:
        coords, dofs = free_roots(self.host.model, self.joints)
        self._is_joined = (coords == PADDING) & (self.joints != PADDING)
        #: Whether the body of any row is held by a joint that is not free.
        self.has_joined = bool(self._is_joined.any())
        device = present(self.host.model.device)
        self._movers: Any = Movers()
        maps = {"body_of": self.bodies, "joint_of": self.joints, "coord_of": coords, "dof_of": dofs}
        for name, each in maps.items():
            setattr(self._movers, name, wp.array(each.astype(np.int32), dtype=int, device=device))
        self._movers.moves_anchor = self.moves_anchor
        self._aliases = WarpArrayCache()
        self._put = PreparedLaunch(scatter_poses, device)
        self._throw = PreparedLaunch(scatter_twists, device)
        self._flag_joined = PreparedLaunch(flag_joined, device)
        self._blocks = _FreeJointBlocks.of(self.host, self.joints, coords, dofs) if shares_memory(device) else None

    def refuse_joined(self, where: str, selection: RowSelection) -> None:
        """Refuse a pose or velocity that only a free body can have. Rows that only the device knows are left to it."""
        if selection.known is None or not self._is_joined[selection.known].any():
            return
        row = next(row for row in selection.known.tolist() if self._is_joined[row])
        raise ViewError(
            f"{where}: row {row}, {self.labels[row]!r} is held by a joint; set the positions and velocities of DOFs"
            " instead"
        )

    def settle_joined(
        self, values: wp.array, selection: RowSelection, faults: wp.array, model_flags: RowFlags | None
    ) -> None:
        """Put the chosen bodies that a joint holds where the joint has them. May be recorded.

        A solver in maximal coordinates leaves a body a little beside its joint, and much if the joint was just changed.
        """
        _ = self.host.state  # earlier writes
        rows = self._aliases.of(values, wp.transform, len(values))
        for flags in (self.flags, model_flags):
            if flags is not None:
                self._flag_joined(selection.count, [rows, self._movers, selection.argument, faults, flags.argument])
        self.host.services.written.note("joints")
        _ = self.host.state

    def write(
        self,
        what: Literal["pose", "velocity"],
        values: wp.array,
        selection: RowSelection,
        rule: ValueRule | None,
        faults: wp.array,
    ) -> None:
        """Set poses of bodies in the world, shape [rows, 7], or their velocities, shape [rows, 6]. May be recorded.

        Without a rule, the values were checked before.
        """
        model, state = self.host.model, self.host.services.written.state_for("joints")
        if self._blocks is not None and self._blocks.write(what, state, values, selection, rule):
            self.flags.set(None)
            return
        if what == "pose":
            launch, dtype = self._put, wp.transform
            targets = [model.joint_X_c, model.joint_X_p, state.joint_q, state.body_q]
        else:
            launch, dtype = self._throw, wp.spatial_vector
            targets = [model.joint_X_p, state.joint_qd, state.body_qd]
        rows = self._aliases.of(values, dtype, len(values))
        launch(selection.count, [rows, self._movers, selection.argument, faults, self.flags.argument, *targets])


@attrs.define(kw_only=True, eq=False, slots=False)
class _FreeJointBlocks:
    """Poses and velocities of free bodies as blocks of coordinates, in shared memory.

    They are the numbers of the joints if the frames of the joints change nothing. That is looked up again after each
    reported change of joints.
    """

    host: Host
    joints: np.ndarray
    poses: StridedBlocks
    velocities: StridedBlocks

    def __attrs_post_init__(self) -> None:
        self._seen_changes, self._are_identities = -1, False

    @classmethod
    def of(cls, host: Host, joints: np.ndarray, coords: np.ndarray, dofs: np.ndarray) -> _FreeJointBlocks | None:
        """Return the blocks of rows with free joints; None if a row has none, or they are not at equal distances."""
        if (coords == PADDING).any():
            return None
        poses, velocities = (
            StridedBlocks.of(starts[:, None] + np.arange(width), 4) for starts, width in ((coords, 7), (dofs, 6))
        )
        if poses is None or velocities is None:
            return None
        return cls(host=host, joints=joints, poses=poses, velocities=velocities)

    def write(
        self,
        what: Literal["pose", "velocity"],
        state: newton.State,
        values: wp.array,
        selection: RowSelection,
        rule: ValueRule | None,
    ) -> bool:
        """Copy rows into coordinates or DOFs, if these are the same numbers and allowed; return whether it was done."""
        # Listed rows are left to the kernel: for a few of them, it is quicker than the check by NumPy.
        if not selection.is_all or present(values.device).is_capturing or not self._frames_are_identities():
            return False
        if what == "pose":
            return self.poses.write(present(state.joint_q), values, selection, None, rule)
        return self.velocities.write(present(state.joint_qd), values, selection, None, rule)

    def _frames_are_identities(self) -> bool:
        changes = self.host.services.model_changes.joint_change_count
        if changes != self._seen_changes:
            frames = (self.host.model.joint_X_p, self.host.model.joint_X_c)
            self._are_identities = not any(present(each).numpy()[self.joints, :6].any() for each in frames)
            self._seen_changes = changes
        return self._are_identities
