"""Bindings: the place of one component in a simulation. They implement `pippin.binding.Binding`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import attrs
import numpy as np
from pippin.binding import Host, Services
from pippin.state.double_buffer import Assignable, DoubleBuffer
from pippin.state.world_layout import WorldLayout

S = TypeVar("S", bound=Assignable)


@attrs.frozen(kw_only=True, eq=False)
class ComponentBinding:
    """The binding of one component."""

    label: str
    simulation: Host
    step_period: int
    buffers: list[DoubleBuffer[Any]] = attrs.field(factory=list)
    """The double buffers that the component requested."""
    _layout: WorldLayout = attrs.field(alias="layout")

    @property
    def services(self) -> Services:
        """What the simulation does for the component within a step."""
        return self.simulation.services

    @property
    def worlds(self) -> np.ndarray:
        """Ascending indices of the worlds that contain elements of the component."""
        return self._layout.worlds_held(self.label)

    def indices(
        self, what: Literal["body", "joint", "shape"], local: Sequence[int] | Mapping[int, Sequence[int]]
    ) -> np.ndarray:
        """Return the indices in the model of a prototype's elements, shape [len(worlds), len(local)]."""
        return self._layout.indices(self.simulation.model, local, what, self.label)

    def double_buffer(self, first: S, second: S) -> DoubleBuffer[S]:
        """Return a pair of states that the host settles at the end of each control step."""
        buffer = DoubleBuffer(first, second)
        self.buffers.append(buffer)
        return buffer
