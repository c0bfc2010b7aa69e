"""Array libraries in which an environment takes actions and gives results: NumPy, PyTorch and Warp itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.state import HostMirror

_WHERE = "step: action"


class Backend:
    """NumPy, on the host; results may be copies, which later steps do not change."""

    name = "numpy"
    title = "NumPy array"
    _takes_lists = True

    def __init__(self, *, copy: bool) -> None:
        self._copy = copy

    def reader(self, array: wp.array) -> Callable[[], Any]:
        """Return what gives the present contents of an array of the simulation."""
        mirror = HostMirror(array, is_read=True)
        return mirror.read_copy if self._copy else mirror.read

    def zeros(self, array: wp.array) -> Any:
        """Return zeros in the form of an array of the simulation."""
        return np.zeros_like(array.numpy())

    def writer(self, array: wp.array) -> Callable[[Any], None]:
        """Return what checks an action, and writes it to an array of the simulation."""
        shape, kind, write = tuple(array.shape), self._kind(), self._assignment(array)

        def check_and_write(action: Any) -> None:
            if not isinstance(action, kind):
                action = self.array(action)
            if tuple(action.shape) != shape:
                raise ConfigError(f"{_WHERE}: expected shape {shape}, worlds × numbers, got {tuple(action.shape)}")
            if (dtype := _name(action.dtype)) != "float32":
                action = self.rounded(action, dtype)
            write(action)

        return check_and_write

    def array(self, action: Any) -> Any:
        """Return an action of another class as one of the backend's; refuse what is none, or has no device."""
        if not (self._takes_lists and isinstance(action, list | tuple)):
            raise self._refused(type(action).__name__)
        try:
            return np.array(action)
        except ValueError as error:
            raise self._refused("a list whose rows have different lengths") from error

    def rounded(self, action: Any, dtype: str) -> Any:
        """Return an action of other numbers in float32, which the action space and the simulation have."""
        if not dtype.startswith(("float", "int", "uint")):
            raise ConfigError(f"{_WHERE}: expected numbers, got {dtype}; give float32")
        with np.errstate(over="ignore"):  # refused as not finite
            return action.astype(np.float32)

    def _refused(self, kind: str) -> ConfigError:
        return ConfigError(f"{_WHERE}: expected a {self.title}, got {kind}; see `backend`")

    def _kind(self) -> type:
        return np.ndarray

    def _assignment(self, array: wp.array) -> Callable[[Any], None]:
        assign = HostMirror(array).assign

        def write(action: Any) -> None:
            _refuse_infinite(action)
            assign(action)

        return write


class TorchBackend(Backend):
    """PyTorch, on the simulation's device, in shared memory."""

    name, title = "torch", "PyTorch tensor"
    _takes_lists = False

    def reader(self, array: wp.array) -> Callable[[], Any]:
        """Return the function that reads an array of the task."""
        tensor = wp.to_torch(array)
        return tensor.clone if self._copy else lambda: tensor

    def zeros(self, array: wp.array) -> Any:
        """Return zeros in the shape of an array of the task."""
        return wp.to_torch(array).clone().zero_()

    def rounded(self, action: Any, dtype: str) -> Any:
        """Return an action of other numbers in float32; see `Backend`."""
        if not dtype.startswith(("float", "bfloat", "int", "uint")):
            raise ConfigError(f"{_WHERE}: expected numbers, got {dtype}; give float32")
        return action.float()

    def _kind(self) -> type:
        import torch

        return torch.Tensor

    def _assignment(self, array: wp.array) -> Callable[[Any], None]:
        target = wp.to_torch(array)

        def write(action: Any) -> None:
            if action.device != target.device:
                raise ConfigError(f"{_WHERE}: expected a tensor on {target.device}, got {action.device}; use .to()")
            action = action.detach()
            if not bool(action.isfinite().all()):
                _refuse_infinite(action.cpu().numpy())
            target.copy_(action)

        return write


class WarpBackend(Backend):
    """Warp arrays, on the simulation's device."""

    name, title = "warp", "Warp array"
    _takes_lists = False

    def reader(self, array: wp.array) -> Callable[[], Any]:
        """Return the function that reads an array of the task."""
        return (lambda: wp.clone(array)) if self._copy else lambda: array

    def zeros(self, array: wp.array) -> Any:
        """Return zeros in the shape of an array of the task."""
        return wp.zeros_like(array)

    def rounded(self, action: Any, dtype: str) -> Any:
        """Refuse other numbers: Warp copies arrays of one type alone."""
        raise ConfigError(f"{_WHERE}: expected float32, got {dtype}; write an array of wp.float32")

    def _kind(self) -> type:
        return wp.array

    def _assignment(self, array: wp.array) -> Callable[[Any], None]:
        def write(action: Any) -> None:
            if action.device != array.device:
                raise ConfigError(f"{_WHERE}: expected an array on {array.device}, got {action.device}; use .to()")
            _refuse_infinite(action.numpy())
            wp.copy(array, action)

        return write


_BACKENDS: dict[str, type[Backend]] = {kind.name: kind for kind in (Backend, TorchBackend, WarpBackend)}


def backend_of(name: str, *, copy: bool) -> Backend:
    """Return the backend of a name that is known."""
    return _BACKENDS[name](copy=copy)


@cache
def _name(dtype: Any) -> str:
    return getattr(dtype, "__name__", str(dtype).removeprefix("torch."))


def _refuse_infinite(action: np.ndarray) -> None:
    if not np.isfinite(action).all():
        world, index = np.argwhere(~np.isfinite(action))[0].tolist()
        raise ConfigError(f"{_WHERE}: number {index} of world {world} is not finite; no step was taken")
