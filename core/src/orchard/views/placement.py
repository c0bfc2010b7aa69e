"""Putting bodies somewhere: through their free joint, through the frame of another joint, or themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from .errors import ViewError
from .exchange import alias
from .indexing import PADDING, free_roots

if TYPE_CHECKING:
    from collections.abc import Sequence

    import warp as wp

    from .choice import Choice
    from .host import Host
    from .marks import RowMarks

__all__ = ["Placement"]


@attrs.frozen(kw_only=True, eq=False)
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
    _on_device: list[wp.array] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        import warp as wp

        coords, dofs = free_roots(self.host.model, self.joints)
        arrays = [self.bodies, self.joints, coords, dofs]
        on_device = [wp.array(each.astype(np.int32), dtype=int, device=self.faults.device) for each in arrays]
        object.__setattr__(self, "_on_device", on_device)

    @property
    def joined(self) -> np.ndarray:
        """Rows whose body a joint holds that does not leave it free."""
        coords, _ = free_roots(self.host.model, self.joints)
        return np.flatnonzero((coords == PADDING) & (self.joints != PADDING))

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
        import warp as wp

        from . import kernels

        model, state = self.host.model, self.host.written.state_for_joints()
        bodies, joints, coords, _ = self._on_device
        arrays = [bodies, joints, coords, model.joint_X_c, model.joint_X_p, state.joint_q, state.body_q]
        self._launch(kernels.scatter_poses, alias(poses, wp.transform, len(poses)), choice, arrays)

    def throw(self, twists: wp.array, choice: Choice) -> None:
        """Give bodies velocities in the world, shape [rows, 6]. May be recorded."""
        import warp as wp

        from . import kernels

        model, state = self.host.model, self.host.written.state_for_joints()
        bodies, joints, _, dofs = self._on_device
        arrays = [bodies, joints, dofs, model.joint_X_p, state.joint_qd, state.body_qd]
        self._launch(kernels.scatter_twists, alias(twists, wp.spatial_vector, len(twists)), choice, arrays)

    def _launch(self, kernel: Any, values: wp.array, choice: Choice, arrays: Sequence[wp.array | None]) -> None:
        import warp as wp

        count = len(self.bodies) if choice.rows is None else len(choice.rows)
        inputs = [values, choice.rows, choice.mask, choice.is_compact, self.faults, *self.marks.arguments, *arrays]
        wp.launch(kernel, count, inputs, device=self.faults.device)
