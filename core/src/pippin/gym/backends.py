"""Array libraries in which an environment takes actions and gives results: NumPy, PyTorch and Warp itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from pippin.errors import ConfigError

if TYPE_CHECKING:
    import warp as wp

__all__ = ["BACKENDS", "Backend", "choose_backend"]


class Backend:
    """NumPy, on the host.

    Args:
        copy: Whether results are copies, which later steps do not change.
    """

    name = "numpy"

    def __init__(self, *, copy: bool) -> None:
        self._copy = copy

    def reader(self, array: wp.array) -> Callable[[], Any]:
        """Return what gives the present contents of an array of the simulation."""
        import warp as wp

        if wp.get_device(array.device).is_cuda:
            return array.numpy  # a copy in any case
        view = array.numpy()
        return view.copy if self._copy else lambda: view

    def zeros(self, array: wp.array) -> Any:
        """Return zeros in the form of an array of the simulation."""
        return np.zeros_like(array.numpy())

    def writer(self, array: wp.array) -> Callable[[Any], None]:
        """Return what checks an action, and writes it to an array of the simulation."""
        import warp as wp

        shape = tuple(array.shape)
        view = None if wp.get_device(array.device).is_cuda else array.numpy()

        def write(action: Any) -> None:
            if not isinstance(action, np.ndarray):
                raise ConfigError(f"{_WHERE}: expected a NumPy array, got {type(action).__name__}; see `backend`")
            if action.shape != shape or action.dtype != np.float32:
                raise _wrong_form(action.shape, action.dtype.name, shape, "action.astype(np.float32)")
            if not np.isfinite(action).all():
                raise _not_finite(np.argwhere(~np.isfinite(action))[0])
            if view is None:
                array.assign(action)
            else:
                view[...] = action

        return write


class _Torch(Backend):
    """PyTorch, on the simulation's device, in shared memory."""

    name = "torch"

    def reader(self, array: wp.array) -> Callable[[], Any]:
        import warp as wp

        tensor = wp.to_torch(array)
        return tensor.clone if self._copy else lambda: tensor

    def zeros(self, array: wp.array) -> Any:
        import torch  # pyright: ignore[reportMissingImports]
        import warp as wp

        return torch.zeros_like(wp.to_torch(array))

    def writer(self, array: wp.array) -> Callable[[Any], None]:
        import torch  # pyright: ignore[reportMissingImports]
        import warp as wp

        target = wp.to_torch(array)

        def write(action: Any) -> None:
            if not isinstance(action, torch.Tensor):
                raise ConfigError(f"{_WHERE}: expected a PyTorch tensor, got {type(action).__name__}; see `backend`")
            if action.shape != target.shape or action.dtype != torch.float32:
                dtype = str(action.dtype).removeprefix("torch.")
                raise _wrong_form(tuple(action.shape), dtype, tuple(target.shape), "action.float()")
            if action.device != target.device:
                raise ConfigError(f"{_WHERE}: expected a tensor on {target.device}, got {action.device}; use .to()")
            action = action.detach()
            if not bool(torch.isfinite(action).all()):
                raise _not_finite(torch.argwhere(~torch.isfinite(action))[0].tolist())
            target.copy_(action)

        return write


class _Warp(Backend):
    """Warp arrays, on the simulation's device."""

    name = "warp"

    def reader(self, array: wp.array) -> Callable[[], Any]:
        import warp as wp

        return (lambda: wp.clone(array)) if self._copy else lambda: array

    def zeros(self, array: wp.array) -> Any:
        import warp as wp

        return wp.zeros_like(array)

    def writer(self, array: wp.array) -> Callable[[Any], None]:
        import warp as wp

        def write(action: Any) -> None:
            if not isinstance(action, wp.array):
                raise ConfigError(f"{_WHERE}: expected a Warp array, got {type(action).__name__}; see `backend`")
            if action.shape != array.shape or action.dtype is not wp.float32:
                raise _wrong_form(action.shape, action.dtype.__name__, array.shape, "an array of wp.float32")
            if action.device != array.device:
                raise ConfigError(f"{_WHERE}: expected an array on {array.device}, got {action.device}; use .to()")
            values = action.numpy()
            if not np.isfinite(values).all():
                raise _not_finite(np.argwhere(~np.isfinite(values))[0])
            wp.copy(array, action)

        return write


_WHERE = "step: action"

BACKENDS: dict[str, type[Backend]] = {kind.name: kind for kind in (Backend, _Torch, _Warp)}
"""The kinds of backends by name."""


def choose_backend(name: str, *, copy: bool) -> Backend:
    """Return a backend by its name.

    Raises:
        ConfigError: There is none of this name, or its library is not installed.
    """
    if name not in BACKENDS:
        raise ConfigError(f"backend: unknown, {name!r}; choose {', '.join(BACKENDS)}")
    if name == "torch":
        try:
            import torch  # noqa: F401  # pyright: ignore[reportMissingImports]
        except ModuleNotFoundError as error:
            raise ConfigError("backend: PyTorch is not installed; install torch, or choose 'numpy'") from error
    return BACKENDS[name](copy=copy)


def _wrong_form(shape: tuple[int, ...], dtype: str, wanted: tuple[int, ...], cure: str) -> ConfigError:
    if shape != wanted:
        return ConfigError(f"{_WHERE}: expected shape {wanted}, worlds × numbers, got {shape}")
    return ConfigError(f"{_WHERE}: expected float32, got {dtype}; write {cure}")


def _not_finite(place: Any) -> ConfigError:
    world, index = (int(each) for each in place)
    return ConfigError(f"{_WHERE}: number {index} of world {world} is not finite; no step was taken")
