"""Putting bodies somewhere: through their free joint, through the frame of another joint, or themselves."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host

from . import kernels
from .choice import Choice
from .errors import ViewError
from .indexing import PADDING, free_roots
from .launching import Aliases, PreparedLaunch
from .marks import RowMarks

__all__ = ["Placement"]


@attrs.define(kw_only=True, eq=False, slots=False)
class Placement:
    """Writes poses and velocities of one body of each row.

    Args:
        host: The simulation.
        marks: Marks the rows that were written.
        faults: Counts indices of no row.
        labels: Labels of the rows, for errors.
        bodies: Body of each row, shape [count].
        joints: Joint that moves it, shape [count]; -1 where none does.
    """

    host: Host
    marks: RowMarks
    faults: wp.array
    labels: Sequence[str]
    bodies: np.ndarray
    joints: np.ndarray

    def __attrs_post_init__(self) -> None:
        coords, dofs = free_roots(self.host.model, self.joints)
        self.joined = np.flatnonzero((coords == PADDING) & (self.joints != PADDING))
        """Rows whose body a joint holds that does not leave it free."""
        device = present(self.faults.device)
        arrays = [self.bodies, self.joints, coords, dofs]
        self._maps = [wp.array(each.astype(np.int32), dtype=int, device=device) for each in arrays]
        self._aliases = Aliases()
        self._put = PreparedLaunch(kernels.scatter_poses, device)
        self._throw = PreparedLaunch(kernels.scatter_twists, device)

    def refuse_joined(self, where: str) -> None:
        """Refuse what only a free body can be given.

        Raises:
            ViewError: A row's body is not free; names it.
        """
        if len(self.joined):
            label = self.labels[self.joined[0]]
            raise ViewError(f"{where}: {label!r} is held by a joint; set the positions and velocities of DOFs instead")

    def put(self, poses: wp.array, choice: Choice) -> None:
        """Put bodies at poses in the world, shape [rows, 7]. May be recorded."""
        model, state = self.host.model, self.host.written.state_for_joints()
        bodies, joints, coords, _ = self._maps
        arrays = [bodies, joints, coords, model.joint_X_c, model.joint_X_p, state.joint_q, state.body_q]
        self._launch(self._put, self._aliases.of(poses, wp.transform, len(poses)), choice, arrays)

    def throw(self, twists: wp.array, choice: Choice) -> None:
        """Give bodies velocities in the world, shape [rows, 6]. May be recorded."""
        model, state = self.host.model, self.host.written.state_for_joints()
        bodies, joints, _, dofs = self._maps
        arrays = [bodies, joints, dofs, model.joint_X_p, state.joint_qd, state.body_qd]
        self._launch(self._throw, self._aliases.of(twists, wp.spatial_vector, len(twists)), choice, arrays)

    def _launch(
        self, launch: PreparedLaunch, values: wp.array, choice: Choice, arrays: Sequence[wp.array | None]
    ) -> None:
        count = len(self.bodies) if choice.rows is None else len(choice.rows)
        rows = [choice.rows, choice.mask, choice.is_compact]
        launch(count, [values, *rows, self.faults, *self.marks.arguments, *arrays])
