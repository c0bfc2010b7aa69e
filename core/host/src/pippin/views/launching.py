"""Launches that are prepared once: preparing a small kernel takes several times as long as running it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import warp as wp
from pippin.arrays import present
from pippin.devices import shares_memory
from pippin.state.snapshot import Scratch

_STEP_COUNT = 3
"""Number of arguments that tell a thread its rows and columns."""


class PreparedLaunch(Scratch):
    """A kernel and the arguments of its last launch; only arguments that change are packed again.

    A struct is read in place: a change by `update` is effective in the next launch. The kernel begins with the
    arguments `count`, `row_step` and `column_step`: the number of rows, and the distance to a thread's next row and
    column. On a GPU, each thread takes one element. On the CPU, one thread takes all of them: Warp copies all arguments
    for each thread there, which takes longer than to write an element.
    """

    def __init__(self, kernel: Any, device: wp.Device, width: int = 1) -> None:
        self._kernel, self._device, self._width = kernel, device, width
        self._is_loop = shares_memory(device)
        self._command: wp.Launch | None = None
        self._arguments: list[Any] = []
        self._count = 0

    def __call__(self, count: int, arguments: Sequence[Any]) -> None:
        """Launch the kernel for a number of rows. May be recorded."""
        if not count or not self._width:
            return
        if self._command is None:
            steps = self._steps(count)
            inputs = [count, *steps, *arguments]
            self._command = wp.launch(self._kernel, math.prod(steps), inputs, device=self._device, record_cmd=True)
            self._arguments, self._count = list(arguments), count
        command = present(self._command)
        if count != self._count:
            self._resize(command, count)
        last = self._arguments
        for index, argument in enumerate(arguments):
            if argument is not last[index]:
                command.set_param_at_index(_STEP_COUNT + index, argument)
                last[index] = argument
        command.launch()

    def _resize(self, command: wp.Launch, count: int) -> None:
        steps = self._steps(count)
        for index, argument in enumerate((count, *steps)):
            command.set_param_at_index(index, argument)
        command.set_dim(math.prod(steps))
        self._count = count

    def _steps(self, count: int) -> tuple[int, int]:
        return (1, 1) if self._is_loop else (count, self._width)


def update(struct: Any, **fields: Any) -> None:
    """Set the fields of a kernel's struct that changed; setting a field takes longer than comparing it.

    Captured launches do not change: a capture copies the struct.
    """
    for name, value in fields.items():
        if getattr(struct, name) is not value:
            setattr(struct, name, value)
