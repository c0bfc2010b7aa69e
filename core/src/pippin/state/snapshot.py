"""Everything that a step can change, saved and put back: the arrays and the attributes reachable from some objects."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import warp as wp

__all__ = ["Snapshot", "attributes_of", "bind", "find_arrays", "python_values", "walk"]

_SCALARS = (str, bytes, int, float, complex, bool, type(None), np.generic)
_CLOSED = (*_SCALARS, type, ModuleType, FunctionType, MethodType, BuiltinFunctionType)
_DESCRIPTORS = ("__dict__", "__weakref__")
"""Attributes that are no state; a Warp struct's definition has them from the class it was made of."""


class Snapshot:
    """The contents of every array and container, and every attribute, reachable from `roots`.

    Arrays are restored in place, so graphs that hold their addresses stay valid. Attributes and containers are
    bound again to what they held; what they held in between stays alive in `displaced`, because a graph that was
    recorded in between may point into it.

    Args:
        roots: Objects to walk, by name.
        skip: Classes whose instances are not entered.
    """

    def __init__(self, roots: Mapping[str, Any], skip: tuple[type, ...] = ()) -> None:
        self.displaced: list[Any] = []
        self._arrays: list[tuple[Any, Any]] = []
        self._containers: list[tuple[Any, Any]] = []
        self._attributes: list[tuple[Any, dict[str, Any]]] = []
        self._generators: list[tuple[np.random.Generator, Any]] = []
        for _, node in walk(roots, skip):
            if isinstance(node, wp.array):
                self._arrays.append((node, wp.clone(node)))
            elif isinstance(node, np.ndarray):
                self._arrays.append((node, node.copy()))
            elif isinstance(node, np.random.Generator):
                self._generators.append((node, node.bit_generator.state))
            elif isinstance(node, list | deque | set):
                self._containers.append((node, node.copy()))
            elif isinstance(node, MutableMapping):
                self._containers.append((node, dict(node)))
            else:
                self._attributes.append((node, attributes_of(node)))

    def restore(self) -> None:
        """Put back every attribute, container and array."""
        for node, attributes in self._attributes:
            for name, value in attributes.items():
                present = getattr(node, name, None)
                if present is not value:
                    self.displaced.append(present)
                    bind(node, name, value)
        for container, saved in self._containers:
            self.displaced.append(tuple(container.items() if isinstance(container, MutableMapping) else container))
            container.clear()
            container.extend(saved) if isinstance(container, list | deque) else container.update(saved)
        for generator, saved in self._generators:
            generator.bit_generator.state = saved
        for array, saved in self._arrays:
            if isinstance(array, wp.array):
                wp.copy(array, saved)
            elif array.flags.writeable:
                array[...] = saved


def find_arrays(roots: Mapping[str, Any], skip: tuple[type, ...] = ()) -> dict[str, wp.array]:
    """Return every Warp array reachable from `roots` by its dotted path; the same memory is listed once."""
    return {path: node for path, node in walk(roots, skip) if isinstance(node, wp.array)}


def python_values(node: Any, skip: tuple[type, ...] = ()) -> dict[str, Any]:
    """Return what an object keeps on the host, and what the objects it holds do, by dotted path.

    That is scalars, the lengths of containers, the contents of NumPy arrays and the state of NumPy's generators.
    """
    values: dict[str, Any] = {}
    for path, found in walk({"": node}, skip):
        name = path.removeprefix(".")
        if isinstance(found, np.ndarray):
            values[name] = found.tobytes()
        elif isinstance(found, np.random.Generator):
            values[name] = str(found.bit_generator.state)
        elif not isinstance(found, wp.array):
            if isinstance(found, list | deque | set | MutableMapping):
                values[name] = len(found)
            scalars = {key: value for key, value in _children(found) if isinstance(value, _SCALARS)}
            values.update({f"{name}.{key}".removeprefix("."): value for key, value in scalars.items()})
    return values


def walk(roots: Mapping[str, Any], skip: tuple[type, ...]) -> Iterator[tuple[str, Any]]:
    """Yield each object below `roots` that can change, once, with its path, breadth first."""
    closed = (*_CLOSED, *skip)
    seen: set[Any] = set()
    queue = deque(roots.items())
    while queue:
        path, node = queue.popleft()
        identity = (node.ptr, node.shape, node.strides) if isinstance(node, wp.array) else id(node)
        if isinstance(node, closed) or identity in seen:
            continue
        seen.add(identity)
        if isinstance(node, wp.array):
            if node.ptr:
                yield path, node
            continue
        if not isinstance(node, tuple | frozenset):
            yield path, node
        queue.extend((f"{path}.{name}", child) for name, child in _children(node))


def _children(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, np.ndarray):
        return
    if isinstance(node, Mapping):
        yield from ((str(key), value) for key, value in node.items())
    elif isinstance(node, list | tuple | deque | set | frozenset):
        yield from ((str(index), value) for index, value in enumerate(node))
    else:
        yield from attributes_of(node).items()


def attributes_of(node: Any) -> dict[str, Any]:
    """Return the instance attributes of an object: those of its `__dict__` and its slots, and what a cell holds."""
    if isinstance(node, CellType):
        try:
            return {"cell_contents": node.cell_contents}
        except ValueError:  # an empty one
            return {}
    found = {name: value for name, value in getattr(node, "__dict__", {}).items() if name not in _DESCRIPTORS}
    for cls in type(node).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in _DESCRIPTORS and hasattr(node, name):
                found[name] = getattr(node, name)
    return found


def bind(node: Any, name: str, value: Any) -> None:
    """Set an attribute as its class does (a Warp struct writes through), also where the class is frozen."""
    try:
        setattr(node, name, value)
    except AttributeError:
        object.__setattr__(node, name, value)
