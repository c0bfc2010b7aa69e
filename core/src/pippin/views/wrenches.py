"""Forces and torques on the bodies of a view's rows."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host
from pippin.state.scratch import Scratch

from .choice import Choice
from .errors import ViewError
from .kernels.wrenches import Push, add_wrenches
from .launching import Aliases, PreparedLaunch, update
from .places import places_of
from .staging import Staging
from .values import Values

__all__ = ["Frame", "Wrenches"]

Frame = Literal["world", "body"]


class Wrenches(Scratch):
    """Adds forces and torques on bodies.

    Args:
        host: The simulation.
        bodies: Bodies of each row, shape [rows, columns]; padded with -1.
        shape: Shape of the data that callers pass, with three numbers for each body.
        faults: The faults of the method that adds forces.
    """

    def __init__(self, host: Host, bodies: np.ndarray, shape: tuple[int, ...], faults: wp.array) -> None:
        device = present(faults.device)
        self._host, self._shape, self._faults = host, shape, faults
        self._width = bodies.shape[1]
        self._places = places_of(bodies, device)
        self._push: Any = Push()
        self._staging = [Staging(3 * bodies.size, "float32", device) for _ in range(3)]
        self._launch = PreparedLaunch(add_wrenches, device, self._width)
        self._aliases = Aliases()

    @staticmethod
    def refuse(where: str, forces: Any, positions: Any, frame: str) -> None:
        """Refuse wrong arguments.

        Raises:
            ViewError: The frame is unknown, or positions come without forces.
        """
        if frame not in get_args(Frame):
            raise ViewError(f"{where}: frame: expected 'world' or 'body', got {frame!r}")
        if positions is not None and forces is None:
            raise ViewError(f"{where}: got positions, but no forces that act there; pass forces")

    def add(self, where: str, choice: Choice, frame: Frame, values: Values, **data: Any) -> None:
        """Add `forces` at `positions`, and `torques`, each an array or None. May be recorded.

        Args:
            where: Beginning of error messages.
            choice: The rows.
            frame: Frame of the data.
            values: Checks numbers on the host.
            **data: The arrays.
        """
        shape = (choice.data_count, *self._shape[1:])
        given = {name: each for name, each in data.items() if each is not None}
        checked = {name: values.of(each, shape, choice, f"{where}: {name}") for name, each in given.items()}
        vectors = dict.fromkeys(data)
        for staging, (name, each) in zip(self._staging, checked.items(), strict=False):
            dense = each.on_device(staging)
            vectors[name] = self._aliases.of(dense, wp.vec3, math.prod(shape[:-1]))
        update(self._push, is_in_body_frame=frame == "body", **vectors)
        model, state = self._host.model, self._host.stepped_state or self._host.state
        inputs = [self._push, self._places, choice.argument, self._faults, state.body_q, model.body_com, state.body_f]
        self._launch(choice.count, inputs)
