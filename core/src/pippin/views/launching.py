"""Launches that are prepared once: of a small kernel, preparing takes several times as long as running it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import warp as wp
from pippin.arrays import present

from .exchange import alias

__all__ = ["Aliases", "PreparedLaunch", "update"]

_REMEMBERED = 32
"""Aliases that are kept; a caller that passes ever new arrays would fill the memory otherwise."""


class PreparedLaunch:
    """A kernel and the arguments of its last launch; only those that change are packed anew.

    An argument that is a struct is read where it is: what `update` changes in it holds for the next launch.
    """

    def __init__(self, kernel: Any, device: wp.Device) -> None:
        self._kernel, self._device = kernel, device
        self._command: wp.Launch | None = None
        self._arguments: list[Any] = []
        self._lane_count = 0

    def __call__(self, lane_count: int, arguments: Sequence[Any]) -> None:
        """Launch the kernel. May be recorded."""
        if not lane_count:
            return
        if self._command is None:
            self._command = wp.launch(self._kernel, lane_count, arguments, device=self._device, record_cmd=True)
            self._arguments, self._lane_count = list(arguments), lane_count
        command = present(self._command)
        for index, argument in enumerate(arguments):
            if argument is not self._arguments[index]:
                command.set_param_at_index(index, argument)
                self._arguments[index] = argument
        if lane_count != self._lane_count:
            command.set_dim(lane_count)
            self._lane_count = lane_count
        command.launch()


class Aliases:
    """Arrays over the memory of others, made once for each memory and type."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], wp.array] = {}

    def of(self, base: wp.array, dtype: Any, count: int, *, offset: int = 0, stride: int | None = None) -> wp.array:
        """Return `exchange.alias` of the same arguments."""
        key = (base.ptr, dtype, count, offset, stride)
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _REMEMBERED:
                self._made.clear()
            made = self._made[key] = alias(base, dtype, count, offset=offset, stride=stride)
        return made


def update(struct: Any, **fields: Any) -> None:
    """Set the fields of a struct of a kernel that are other objects than before; setting one takes longer than a look.

    What is captured stays as it was: a capture copies the struct.
    """
    for name, value in fields.items():
        if getattr(struct, name) is not value:
            setattr(struct, name, value)
