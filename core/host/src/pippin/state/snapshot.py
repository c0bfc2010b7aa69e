"""Snapshots of all data that a step can change: the arrays and attributes reachable from some objects."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import lru_cache, partial
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.devices import shares_memory
from pippin.errors import SimulationError
from warp import fem

from .foreign_arrays import contents_of, is_foreign, write


class Scratch:
    """Base of objects whose arrays serve one call and hold nothing between two, so that snapshots leave them alone.

    Some of these arrays lie over memory of the caller, which may be freed by now: nobody else may read or write them.
    """


_SCALARS = (str, bytes, int, float, complex, bool, type(None), np.generic)
_CODE = (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType, wp.Function, wp.Kernel, wp.Module)
_CLOSED = (*_SCALARS, *_CODE, Scratch)
_EXACT = {str, bytes, int, bool, type(None)}
"""Types of scalars that equal themselves."""

_DESCRIPTORS = ("__dict__", "__weakref__")
"""Attributes that are not state; the definition of a Warp struct copies them from its class."""


class Snapshot:
    """The contents of all arrays, containers and attributes reachable from `roots`.

    Arrays are restored in place, so graphs with their addresses stay valid. Attributes and containers get their old
    objects back. The objects that they held in the meantime stay alive in `displaced`, because a graph recorded in
    the meantime may use the memory.

    Args:
        roots: Objects to walk, by name.
        skip: Classes whose instances the walk does not enter.
    """

    def __init__(self, roots: Mapping[str, Any], skip: tuple[type, ...] = ()) -> None:
        self.displaced: list[Any] = []
        self._arrays: list[tuple[Any, Any]] = []
        self._containers: list[tuple[Any, Any]] = []
        self._attributes: list[tuple[Any, dict[str, Any]]] = []
        self._generators: list[tuple[np.random.Generator, Any]] = []
        self._foreign: list[tuple[str, Any, Any]] = []
        self._stores: list[fem.TemporaryStore] = []
        for path, node in walk(roots, skip):
            if isinstance(node, wp.array):
                self._arrays.append((node, _copy_of(node)))
            elif isinstance(node, np.ndarray):
                self._arrays.append((node, node.copy()))
            elif isinstance(node, np.random.Generator):
                self._generators.append((node, node.bit_generator.state))
            elif is_foreign(node):
                self._foreign.append((path, node, contents_of(node)))
            elif isinstance(node, fem.TemporaryStore):  # with older books, it would lend a buffer twice
                self._stores.append(node)
            elif isinstance(node, list | deque | set):
                self._containers.append((node, node.copy()))
            elif isinstance(node, MutableMapping):
                self._containers.append((node, dict(node)))
            else:
                self._attributes.append((node, attributes_of(node)))

    def changes(self) -> list[tuple[wp.array, wp.array]]:
        """Return the Warp arrays that changed since, each with a copy of what it holds now. Reads from the device."""
        arrays = [(node, saved) for node, saved in self._arrays if isinstance(node, wp.array)]
        return [(node, wp.clone(node)) for node, saved in arrays if _bytes_of(node) != _bytes_of(saved)]

    @contextmanager
    def buffers_apart(self) -> Iterator[None]:
        """Let stores of `warp.fem` lend new buffers, to nobody else later, while the block records a graph.

        On CUDA, memory that was allocated in a recording exists only while the graph is replayed.
        """
        books = [(store, vars(store)["_temporaries"]) for store in self._stores]
        for store in self._stores:
            store.clear()
        try:
            yield
        finally:
            for store, pools in books:
                self.displaced.append(vars(store)["_temporaries"])
                vars(store)["_temporaries"] = pools

    def restore(self) -> None:
        """Restore all attributes, containers and arrays.

        Raises:
            SimulationError: An array of another library has changed, and nothing can be written into it.
        """
        for node, attributes in self._attributes:
            for name, value in attributes.items():
                now = getattr(node, name, None)
                if now is not value:
                    self.displaced.append(now)
                    bind(node, name, value)
            found = attributes_of(node)
            for name in found.keys() - attributes.keys():
                self.displaced.append(found[name])
                unbind(node, name)
        for container, saved in self._containers:
            self.displaced.append(tuple(container.items() if isinstance(container, MutableMapping) else container))
            container.clear()
            if isinstance(container, list | deque):
                container.extend(saved)
            else:
                container.update(saved)
        for generator, saved in self._generators:
            generator.bit_generator.state = saved
        for array, saved in self._arrays:
            if isinstance(saved, bytes):
                ctypes.memmove(array.ptr, saved, len(saved))
            elif isinstance(array, wp.array):
                wp.copy(array, saved)
            elif array.flags.writeable:
                array[...] = saved
        for path, node, saved in self._foreign:
            _put_back(path, node, saved)


def _copy_of(array: wp.array) -> wp.array | bytes:
    """Return the contents of an array: bytes if they are one piece of shared memory, which is ten times as fast."""
    if array.is_contiguous and shares_memory(present(array.device)):
        return ctypes.string_at(present(array.ptr), array.size * wp.types.type_size_in_bytes(array.dtype))
    return wp.clone(array)


def _bytes_of(contents: wp.array | bytes) -> bytes:
    return contents if isinstance(contents, bytes) else contents.numpy().tobytes()


def _put_back(path: str, node: Any, saved: np.ndarray) -> None:
    found = contents_of(node)
    if found is not None and found.tobytes() != saved.tobytes() and not write(node, saved):
        kind = f"{type(node).__module__}.{type(node).__qualname__}"
        raise SimulationError(
            f"{path}: a step changed this {kind}, and the host cannot put its contents back; keep them in a NumPy or"
            " Warp array, or declare is_observer if they are not part of the simulation"
        )


def find_arrays(roots: Mapping[str, Any], skip: tuple[type, ...] = ()) -> dict[str, wp.array]:
    """Return all Warp arrays reachable from `roots` by dotted path; the same memory is listed once."""
    return {path: node for path, node in walk(roots, skip) if isinstance(node, wp.array)}


def python_values(node: Any, skip: tuple[type, ...] = ()) -> dict[str, Any]:
    """Return the values on the host of an object and of the objects below it, by dotted path.

    These are scalars, lengths of containers, contents of NumPy's and other libraries' arrays, and states of NumPy's
    random generators.
    """
    values: dict[str, Any] = {}
    for path, found in walk({"": node}, skip):
        name = path.removeprefix(".")
        if isinstance(found, np.ndarray):
            values[name] = found.tobytes()
        elif isinstance(found, np.random.Generator):
            values[name] = str(found.bit_generator.state)
        elif is_foreign(found):
            values[name] = present(contents_of(found)).tobytes()
        elif not isinstance(found, wp.array):
            if isinstance(found, list | deque) and _EXACT.issuperset(map(type, found)):
                values[name] = tuple(found)  # one value: it may have an element for each world
                continue
            if isinstance(found, list | deque | set | MutableMapping):
                values[name] = len(found)
            scalars = {key: value for key, value in _children(found) if isinstance(value, _SCALARS)}
            values.update({f"{name}.{key}".removeprefix("."): value for key, value in scalars.items()})
    return values


def walk(roots: Mapping[str, Any], skip: tuple[type, ...]) -> Iterator[tuple[str, Any]]:
    """Yield each mutable object reachable from `roots` once, with its path, breadth first."""
    is_closed = _ClosedKinds((*_CLOSED, *skip))
    seen: set[Any] = set()
    queue = deque((path, node) for path, node in roots.items() if not is_closed[type(node)])
    while queue:
        path, node = queue.popleft()
        is_array = isinstance(node, wp.array)
        identity = (node.ptr, node.shape, node.strides) if is_array else id(node)
        if identity in seen:
            continue
        seen.add(identity)
        if is_array:
            if node.ptr:
                yield path, node
            continue
        if not isinstance(node, tuple | frozenset):
            yield path, node
        is_flat = isinstance(node, list | tuple | deque | set | frozenset)
        if is_flat and all(is_closed[kind] for kind in set(map(type, node))):
            continue  # no steps of Python for what may have an element for each world
        for name, child in _children(node):
            if not is_closed[type(child)]:  # most children are numbers or strings, and get no path
                queue.append((f"{path}.{name}", child))


class _ClosedKinds(dict[type, bool]):
    """Classes by whether a walk leaves their instances out; each class is looked at once."""

    def __init__(self, closed: tuple[type, ...]) -> None:
        super().__init__()
        self._closed = closed

    def __missing__(self, kind: type) -> bool:
        self[kind] = issubclass(kind, self._closed)
        return self[kind]


def _children(node: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(node, np.ndarray | fem.TemporaryStore) or is_foreign(node):
        return ()
    if isinstance(node, Mapping):
        return zip(map(str, node), node.values(), strict=True)
    if isinstance(node, list | tuple | deque | set | frozenset):
        return zip(map(str, range(len(node))), node, strict=True)
    return attributes_of(node).items()


def setters_of(node: Any) -> Iterator[tuple[Any, Callable[[Any], object]]]:
    """Yield each value directly inside an object or a container, with the function that puts another one there."""
    if isinstance(node, MutableMapping):
        yield from ((value, partial(node.__setitem__, key)) for key, value in node.items())
    elif isinstance(node, list | deque):
        yield from ((value, partial(node.__setitem__, index)) for index, value in enumerate(node))
    elif not isinstance(node, set | Mapping | np.ndarray | wp.array):
        yield from ((value, partial(bind, node, name)) for name, value in attributes_of(node).items())


def attributes_of(node: Any) -> dict[str, Any]:
    """Return the instance attributes of an object: its `__dict__`, its slots, and the contents of a cell."""
    if isinstance(node, CellType):
        try:
            return {"cell_contents": node.cell_contents}
        except ValueError:  # an empty cell
            return {}
    found = dict(getattr(node, "__dict__", ()))
    for name in _DESCRIPTORS:
        found.pop(name, None)
    if slots := _slots_of(type(node)):
        found.update({name: getattr(node, name) for name in slots if hasattr(node, name)})
    return found


@lru_cache(maxsize=4096)
def _slots_of(kind: type) -> tuple[str, ...]:
    found = []
    for cls in kind.__mro__:
        slots = cls.__dict__.get("__slots__", ())
        found += [name for name in ((slots,) if isinstance(slots, str) else slots) if name not in _DESCRIPTORS]
    return tuple(found)


def bind(node: Any, name: str, value: Any) -> None:
    """Set an attribute through its class (a Warp struct copies the value to memory), even if the class is frozen."""
    try:
        setattr(node, name, value)
    except AttributeError:
        object.__setattr__(node, name, value)


def unbind(node: Any, name: str) -> None:
    """Delete an attribute, also if the class is frozen."""
    try:
        delattr(node, name)
    except AttributeError:
        object.__delattr__(node, name)
