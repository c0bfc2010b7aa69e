"""Mirrored observations and actions of an environment, as NumPy arrays or PyTorch tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


class Mirror:
    """Observations and actions of a task, reflected left to right: for training data that no side is preferred in.

    Args:
        task: The columns and signs.
        convert: Makes an array of the library of the environment from one of NumPy.
    """

    def __init__(self, task: Any, convert: Callable[[np.ndarray], Any]) -> None:
        def own(columns: Any) -> tuple[Any, Any]:
            return convert(columns.index), convert(columns.sign.astype(np.float32))

        self._groups = {name: own(columns) for name, columns in task.groups.items()}
        self._action = own(task.action)

    def observations(self, values: Any) -> Any:
        """Return observations in the mirror.

        Args:
            values: Observations as of `step`, with any leading axes: an array, or a dictionary of groups.
        """
        if isinstance(values, Mapping):
            return {name: _reflected(each, *self._groups[name]) for name, each in values.items()}
        return _reflected(values, *next(iter(self._groups.values())))

    def actions(self, values: Any) -> Any:
        """Return actions in the mirror.

        Args:
            values: Actions as for `step`, with any leading axes.
        """
        return _reflected(values, *self._action)


def _reflected(values: Any, index: Any, sign: Any) -> Any:
    return values[..., index] * sign
