"""Efforts of ball joints for solvers that take them in world axes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host

from .kernels.loops import turn_ball_efforts


class BallEfforts:
    """Efforts of ball joints, along the axes of the joint's frame in its parent as `joint_qd` is, in world axes.

    Newton's XPBD and VBD take `joint_f` of ball joints so, and its other solvers along the axes of the frame.

    Args:
        model: Newton's model.
    """

    def __init__(self, model: newton.Model) -> None:
        kinds = on_host(model.joint_type) if model.joint_count else np.zeros(0)
        balls = np.flatnonzero(kinds == int(newton.JointType.BALL))
        self._model: Any = model
        self._balls = wp.array(balls, dtype=int, device=model.device)
        count = model.joint_dof_count if balls.size else 0
        self._turned = wp.zeros(count, dtype=float, device=model.device, requires_grad=model.requires_grad)

    @contextmanager
    def in_world(self, state: newton.State, control: newton.Control) -> Iterator[None]:
        """Let the control have the efforts in world axes in the `with` block. May be recorded.

        Args:
            state: Where the parents are.
            control: Efforts of all joints.
        """
        stated: Any = control.joint_f
        if not self._balls.size or stated is None:
            yield
            return
        model = self._model
        wp.copy(self._turned, stated)
        wp.launch(
            turn_ball_efforts,
            dim=self._balls.size,
            inputs=[self._balls, model.joint_parent, model.joint_qd_start, model.joint_X_p, state.body_q, stated],
            outputs=[self._turned],
            device=model.device,
        )
        control.joint_f = self._turned
        try:
            yield
        finally:
            control.joint_f = stated
