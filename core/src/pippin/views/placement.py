"""Bodies put somewhere: through their free joint, through the frame of another joint, or themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import attrs
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host

from .choice import Choice
from .errors import ViewError
from .indexing import PADDING, free_roots
from .kernels.placement import Movers, scatter_poses, scatter_twists
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
        joints: Joint that moves it, shape [count]; -1 for none.
    """

    host: Host
    marks: RowMarks
    faults: wp.array
    labels: Sequence[str]
    bodies: np.ndarray
    joints: np.ndarray

    def __attrs_post_init__(self) -> None:
        coords, dofs = free_roots(self.host.model, self.joints)
        self._joined = np.flatnonzero((coords == PADDING) & (self.joints != PADDING))
        device = present(self.faults.device)
        self._movers: Any = Movers()
        maps = {"body_of": self.bodies, "joint_of": self.joints, "coord_of": coords, "dof_of": dofs}
        for name, each in maps.items():
            setattr(self._movers, name, wp.array(each.astype(np.int32), dtype=int, device=device))
        self._aliases = Aliases()
        self._put = PreparedLaunch(scatter_poses, device)
        self._throw = PreparedLaunch(scatter_twists, device)

    @property
    def has_joined(self) -> bool:
        """Whether a joint that does not leave it free holds the body of any row."""
        return len(self._joined) > 0

    def refuse_joined(self, where: str) -> None:
        """Refuse what only a free body can be given.

        Raises:
            ViewError: A row's body is not free; names it.
        """
        if self.has_joined:
            label = self.labels[self._joined[0]]
            raise ViewError(f"{where}: {label!r} is held by a joint; set the positions and velocities of DOFs instead")

    def write(self, what: Literal["pose", "velocity"], values: wp.array, choice: Choice) -> None:
        """Put bodies at poses in the world, shape [rows, 7], or give them velocities, [rows, 6]. May be recorded."""
        if what == "pose":
            self._put_at(values, choice)
        else:
            self._throw_with(values, choice)

    def _put_at(self, poses: wp.array, choice: Choice) -> None:
        model, state = self.host.model, self.host.written.state_for_joints()
        targets = [model.joint_X_c, model.joint_X_p, state.joint_q, state.body_q]
        self._launch(self._put, self._aliases.of(poses, wp.transform, len(poses)), choice, targets)

    def _throw_with(self, twists: wp.array, choice: Choice) -> None:
        model, state = self.host.model, self.host.written.state_for_joints()
        targets = [model.joint_X_p, state.joint_qd, state.body_qd]
        self._launch(self._throw, self._aliases.of(twists, wp.spatial_vector, len(twists)), choice, targets)

    def _launch(
        self, launch: PreparedLaunch, values: wp.array, choice: Choice, targets: Sequence[wp.array | None]
    ) -> None:
        inputs = [values, self._movers, choice.argument, self.faults, self.marks.argument, *targets]
        launch(choice.count, inputs)
