"""Forces and torques that are added on the bodies of the rows of a view."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host

from .choice import Choice
from .errors import ViewError
from .exchange import Staging
from .kernels.places import Places
from .kernels.wrenches import Push, add_wrenches
from .launching import Aliases, PreparedLaunch, update

__all__ = ["Frame", "Wrenches"]

Frame = Literal["world", "body"]


class Wrenches:
    """Adds forces and torques on bodies.

    Args:
        host: The simulation.
        bodies: Bodies of each row, shape [rows, columns]; padded with -1.
        shape: Shape of three numbers for each of them, as they are passed.
        faults: Counts indices of no row.
    """

    def __init__(self, host: Host, bodies: np.ndarray, shape: tuple[int, ...], faults: wp.array) -> None:
        device = present(faults.device)
        self._host, self._shape, self._faults = host, shape, faults
        self._width = bodies.shape[1]
        self._places: Any = Places()
        self._places.index = wp.array(bodies.ravel(), dtype=int, device=device)
        self._places.width = self._width
        self._push: Any = Push()
        self._staging = [Staging(3 * bodies.size, wp.float32, device) for _ in range(3)]
        self._launch = PreparedLaunch(add_wrenches, device)
        self._aliases = Aliases()

    @staticmethod
    def refuse(where: str, forces: Any, positions: Any, frame: str) -> None:
        """Refuse what cannot be added.

        Raises:
            ViewError: The frame is another, or positions come without forces.
        """
        if frame not in get_args(Frame):
            raise ViewError(f"{where}: frame: expected 'world' or 'body', got {frame!r}")
        if positions is not None and forces is None:
            raise ViewError(f"{where}: got positions, but no forces that act there; pass forces")

    def add(self, where: str, choice: Choice, frame: Frame, **data: Any) -> None:
        """Add `forces`, `torques`, and `positions` where the forces act, each an array or None. May be recorded."""
        vectors = {
            name: self._vectors(f"{where}: {name}", each, choice, staging)
            for (name, each), staging in zip(data.items(), self._staging, strict=True)
        }
        update(self._push, is_in_body_frame=frame == "body", **vectors)
        model, state = self._host.model, self._host.stepped_state or self._host.state
        inputs = [self._push, self._places, choice.argument, self._faults, state.body_q, model.body_com, state.body_f]
        self._launch(self._width * choice.count, inputs)

    def _vectors(self, where: str, data: Any, choice: Choice, staging: Staging) -> wp.array | None:
        if data is None:
            return None
        shape = (choice.data_count, *self._shape[1:])
        return self._aliases.of(staging.take(data, shape, where), wp.vec3, math.prod(shape[:-1]))
