"""Forces and torques on the bodies of a view's rows."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.binding import Host
from pippin.state.snapshot import Scratch

from .errors import ViewError
from .host_checks import HostCheck
from .indexing import index_map
from .kernels.rows import DirtyFlags
from .kernels.wrenches import WrenchData, add_wrenches
from .launching import PreparedLaunch, update
from .memory import Staging, WarpArrayCache
from .row_selection import RowSelection

Frame = Literal["world", "body"]


class Wrenches(Scratch):
    """Adds forces and torques on the bodies of each row, padded with -1; data has three numbers for each body."""

    def __init__(
        self, host: Host, bodies: np.ndarray, shape: tuple[int, ...], check: HostCheck, faults: wp.array
    ) -> None:
        device = present(faults.device)
        self._host, self._shape, self._check, self._faults = host, shape, check, faults
        self._index, self._no_flags = index_map(bodies, device), DirtyFlags()
        self._data: Any = WrenchData()
        self._staging = [Staging(3 * bodies.size, "float32", device) for _ in range(3)]
        self._launch = PreparedLaunch(add_wrenches, device, bodies.shape[1])
        self._aliases = WarpArrayCache()

    @staticmethod
    def refuse(where: str, forces: Any, positions: Any, frame: str) -> None:
        """Refuse wrong arguments."""
        if frame not in get_args(Frame):
            raise ViewError(f"{where}: frame: expected 'world' or 'body', got {frame!r}")
        if positions is not None and forces is None:
            raise ViewError(f"{where}: got positions, but no forces that act there; pass forces")

    def add(self, where: str, selection: RowSelection, frame: Frame, **data: Any) -> None:
        """Add `forces` at `positions`, and `torques`, each an array or None. May be recorded."""
        shape = (selection.data_count, *self._shape[1:])
        checked = {
            name: self._check.check(each, shape, selection, f"{where}: {name}")
            for name, each in data.items()
            if each is not None
        }
        vectors = dict.fromkeys(data)
        for staging, (name, each) in zip(self._staging, checked.items(), strict=False):
            vectors[name] = self._aliases.of(staging.dense(each), wp.vec3, math.prod(shape[:-1]))
        model, state = self._host.model, self._host.stepped_state or self._host.state
        update(self._data, is_in_body_frame=frame == "body", body_com=model.body_com, **vectors)
        inputs = [self._data, self._index, selection.argument, self._faults, self._no_flags, state.body_f, state.body_q]
        self._launch(selection.count, inputs)
