"""The plugin that plays what an optimisation found."""

from __future__ import annotations

from collections.abc import Mapping

import newton
import numpy as np
import warp as wp
from pippin import Binding, ConfigError, find_file, hookimpl
from pippin.array_files import read_arrays

from pippin_optimise.config import OptimisedConfig

from .kernels import count_step, play_row
from .variables import InputVariable, StartVelocity, Variable, find_variables, flat


class Optimised:
    """Gives the variables of `[optimise]` the values of a file, in all worlds.

    Numbers of the model are written once, initial velocities at the start and at each reset, and inputs before each
    control step; the last ones hold after the end of the rollout that they were found for.
    """

    def __init__(self, config: OptimisedConfig) -> None:
        self.config = config

    @hookimpl
    def bind(self, binding: Binding) -> None:
        """Write what does not change in time; the file must have the values of the variables of `[optimise]`."""
        host = binding.simulation
        table = host.config.optimise
        if table is None:
            raise ConfigError("path: there is no table [optimise] that says what the values are; extend the file of it")
        if host.config.simulation.requires_grad:
            raise ConfigError("path: values that are played have no gradient; set simulation.requires_grad = false")
        file = find_file(self.config.path, "path")
        try:
            found = read_arrays(file)
        except ValueError as error:
            raise ConfigError(f"path: '{file}' holds no arrays ({error}); name a file of an optimisation") from error
        self._counts = wp.zeros(host.world_count, dtype=wp.int64, device=host.device)
        self._everywhere = wp.full(host.world_count + 1, value=True, dtype=bool, device=host.device)
        self._starts: list[tuple[str, wp.array, wp.array]] = []
        self._inputs: list[tuple[wp.array, wp.array, wp.array]] = []
        for variable in find_variables(table, host):
            values = _values_of(variable, found, str(file), table.moves)
            if isinstance(variable, InputVariable):
                rows = variable.rows(values) if table.moves is None else variable.rows_of_moves(values)
                self._inputs.append((variable.array, *_on_device(rows, variable.index, host.device)))
                continue
            variable.write(values)
            if isinstance(variable, StartVelocity):
                numbers = variable.numbers(values).swapaxes(0, 1)
                for name, index in variable.arrays.items():
                    self._starts.append((name, *_on_device(numbers, index, host.device)))

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return the control steps of each world since its reset, shape [worlds]."""
        return {"counts": self._counts}

    @hookimpl
    def initialize_worlds(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Give the masked worlds their initial velocities."""
        for name, rows, index in self._starts:
            self._write(getattr(state, name), rows, index, world_mask)

    @hookimpl
    def start_step(self) -> None:
        """Write the inputs of the control step, and count it."""
        for array, rows, index in self._inputs:
            self._write(array, rows, index, self._everywhere)
        wp.launch(count_step, len(self._counts), [self._counts], device=self._counts.device)

    def _write(self, array: wp.array, rows: wp.array, index: wp.array, world_mask: wp.array[wp.bool]) -> None:
        inputs = [world_mask, rows, index, self._counts, flat(array)]
        wp.launch(play_row, index.shape, inputs, device=array.device)


def _on_device(numbers: np.ndarray, index: np.ndarray, device: wp.Device) -> tuple[wp.array, wp.array]:
    """Return rows of numbers, one for each control step, shape [rows, worlds, numbers], and their places in a flat
    array, shape [worlds, numbers], on the device; the last row holds.
    """
    return wp.array(numbers, dtype=float, device=device), wp.array(index, dtype=int, device=device)


def _values_of(variable: Variable, found: Mapping[str, np.ndarray], file: str, moves: int | None) -> np.ndarray:
    """Return the values of a variable in all worlds, shape [worlds, count]."""
    values = found.get(variable.name)
    taken = min(moves, len(values)) if moves is not None and values is not None and values.ndim else moves  # or stopped
    expected = (variable.config.points if taken is None else max(taken, 1), variable.width)
    if values is None or values.shape != expected:
        got = "nothing" if values is None else f"shape {values.shape}"
        raise ConfigError(
            f"path: '{file}' must have {variable.name!r} of shape {expected}, got {got}; optimise this table anew"
        )
    return np.tile(values.reshape(1, -1), (len(variable.index), 1))
