"""Checkpoints: a simulation in a file, with its configuration and all arrays and numbers that steps carry on.

A checkpoint is a zip archive of NumPy arrays and one JSON text. It holds data only: reading a checkpoint
cannot run code. Arrays are found by a walk through the objects of the simulation, and the path of the walk is their
name. Reading copies them into the arrays of a newly built simulation.
"""

from __future__ import annotations

import gc
import json
import os
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from itertools import compress
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import warp as wp
from attrs.validators import ge, instance_of, lt
from pippin.array_files import UNREADABLE, read_arrays
from pippin.arrays import present
from pippin.config import SimulationConfig, dump_toml, structure
from pippin.errors import ConfigError, SimulationError
from pippin.files import partial_path
from pippin.solving.engine_memory import EngineMemory

from .foreign_arrays import contents_of, is_foreign, remade, write
from .snapshot import attributes_of, bind, find_arrays, setters_of, walk

FORMAT = 2
"""Version of the layout; raised if an older reader would misunderstand a newer file."""

_PACKAGES = ("pippin", "newton", "warp-lang")
_HOST_LIMIT = 2**31
"""Integers of at least this value may be addresses or handles, which only this process can use."""

_LIBRARIES = ("ctypes", "mujoco_warp", "newton", "warp")
"""Packages whose objects use such integers for addresses only, not for counts."""


@attrs.frozen(kw_only=True)
class Checkpoint:
    """The contents of a checkpoint file."""

    config: str = attrs.field(validator=instance_of(str))
    """The configuration, as TOML."""
    step_count: int = attrs.field(validator=[instance_of(int), ge(0), lt(2**63)])
    """Control steps done."""
    model_changes: int = attrs.field(validator=[instance_of(int), ge(0)])
    """Flags of `newton.ModelFlags` that the solver was notified of."""
    versions: Mapping[str, str] = attrs.field(validator=instance_of(Mapping))
    """Versions of the packages that wrote the file."""
    arrays: Mapping[str, np.ndarray]
    """Contents of arrays of any shape, on the device and on the host, by path."""
    numbers: Mapping[str, Any] = attrs.field(validator=instance_of(Mapping))
    """Scalars and states of random generators, by path."""

    def configuration(self, device: str | None = None, *, observed: bool = True) -> SimulationConfig:
        """Return the configuration.

        Args:
            device: Device in place of the saved one.
            observed: Whether its viewers and recorders stay.

        Raises:
            ConfigError: It is wrong, or a plugin of it is not installed.
        """
        try:
            tables = tomllib.loads(self.config)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise ConfigError(f"the configuration of the checkpoint is no TOML: {error}") from error
        if device is not None:
            tables.setdefault("simulation", {})["device"] = device
        config = structure(tables)
        return config if observed else config.unobserved()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file completely or not at all: a reader never sees a partial file.

        Args:
            path: The file.

        Raises:
            SimulationError: It cannot be written.
        """
        target = Path(path)
        manifest = {
            "format": FORMAT,
            "config": self.config,
            "step_count": self.step_count,
            "model_changes": self.model_changes,
            "versions": dict(self.versions),
            "numbers": dict(self.numbers),
            "names": list(self.arrays),
        }
        partial = partial_path(target)
        text = json.dumps(manifest, default=np.ndarray.tolist).encode()
        # Names go into the manifest: a path may contain characters that a file name in an archive may not.
        numbered = {f"a{index}": array for index, array in enumerate(self.arrays.values())}
        try:
            with zipfile.ZipFile(partial, "w") as archive:
                for name, array in {"manifest": np.frombuffer(text, dtype=np.uint8), **numbered}.items():
                    # An entry made like this has no date, so equal contents give equal files.
                    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
                        np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
            partial.replace(target)
        except OSError as error:
            with suppress(OSError):
                partial.unlink()
            raise SimulationError(
                f"save: {target}: cannot be written: {error.strerror or error}; name a file in a folder that exists"
                " and can be written"
            ) from error

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """Read and check a file.

        Args:
            path: The file.

        Raises:
            ConfigError: The file is missing, truncated, or not a checkpoint.
        """
        try:
            file = read_arrays(path)
            manifest = json.loads(file["manifest"].tobytes())
            arrays = {name: file[f"a{index}"] for index, name in enumerate(manifest["names"])}
            found = manifest["format"]
            written = ("config", "step_count", "model_changes", "versions", "numbers")
            if found == FORMAT:
                return cls(arrays=arrays, **{name: manifest[name] for name in written})
        except FileNotFoundError as error:
            raise ConfigError(f"{path}: no such file") from error
        except UNREADABLE as error:
            raise ConfigError(f"{path}: not a checkpoint, or a truncated one ({error})") from error
        raise ConfigError(
            f"{path}: checkpoint of format {found!r}, this is pippin {version('pippin')}"
            f" and reads format {FORMAT}; resume it with the version that wrote it"
        )


class PersistentState:
    """All data that a simulation carries from step to step, found by a walk through some objects.

    Args:
        roots: The objects, by name.
        hosts: Names of roots whose values on the host are included: the components and the solver.
        skip: Classes whose instances the walk does not enter.
    """

    def __init__(self, roots: Mapping[str, Any], hosts: frozenset[str], skip: tuple[type, ...]) -> None:
        self._roots = roots
        self._hosts = {name: roots[name] for name in roots if name in hosts}
        self._skip = skip

    def checkpoint(self, config: SimulationConfig, step_count: int, model_changes: int) -> Checkpoint:
        """Return a checkpoint of the present contents."""
        arrays, numbers = self.contents()
        return Checkpoint(
            config=dump_toml(config),
            step_count=step_count,
            model_changes=model_changes,
            versions=versions(),
            arrays=arrays,
            numbers=numbers,
        )

    def contents(self, device: Mapping[str, wp.array] | None = None) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the present arrays and numbers by path.

        Args:
            device: The Warp arrays by path; None lets them be found.

        Raises:
            SimulationError: A component keeps Python objects in a NumPy array, an integer that may be an address, or
                an array of another library into which nothing can be written.
        """
        device = self._device_arrays() if device is None else device
        arrays = {f"device/{name}": array.numpy() for name, array in device.items()}
        numbers: dict[str, Any] = {}
        for name, node in self._host_nodes():
            if isinstance(node, np.ndarray):
                if node.dtype.hasobject:
                    raise SimulationError(f"save: {name} is an array of Python objects; keep numbers in it")
                arrays[f"host/{name}"] = node
            elif is_foreign(node):
                arrays[f"host/{name}"] = self._saved(name, node)
            elif isinstance(node, np.random.Generator):
                numbers[f"{name}#generator"] = node.bit_generator.state
            else:
                numbers |= {f"{name}.{key}": value for key, value in _numbers_of(node).items()}
                _refuse_unknown_addresses(name, node)
        return arrays, numbers

    def restore_model(self, checkpoint: Checkpoint) -> None:
        """Restore the arrays of the model that still fit; `restore` refuses the others."""
        for name, array in self._device_arrays().items():
            saved = checkpoint.arrays.get(f"device/{name}")
            if name.startswith("model.") and saved is not None and saved.shape == array.numpy().shape:
                array.assign(saved)

    def restore(self, checkpoint: Checkpoint, source: str) -> None:
        """Copy the contents of a checkpoint into the existing arrays and attributes.

        Raises:
            ConfigError: The checkpoint belongs to another simulation or to other versions.
        """
        device = self._device_arrays()
        self._refuse_other(checkpoint, source, device)
        for name, array in device.items():
            array.assign(checkpoint.arrays[f"device/{name}"])
        for name, node in self._host_nodes():
            if isinstance(node, np.ndarray):
                node[...] = checkpoint.arrays[f"host/{name}"]
            elif is_foreign(node):
                self._put(node, checkpoint.arrays[f"host/{name}"])
            elif isinstance(node, np.random.Generator):
                self._seed(node, f"{name}#generator", checkpoint, source)
            else:
                for key, value in _numbers_of(node).items():
                    saved = checkpoint.numbers[f"{name}.{key}"]
                    if saved != value:
                        bind(node, key, type(getattr(node, key))(saved))

    def _seed(self, node: np.random.Generator, name: str, checkpoint: Checkpoint, source: str) -> None:
        try:
            node.bit_generator.state = checkpoint.numbers[name]
        except (TypeError, ValueError, LookupError, OverflowError) as error:
            raise ConfigError(f"{source}: {name!r} is no state of a random generator ({error})") from error

    def _saved(self, name: str, node: Any) -> np.ndarray:
        contents = present(contents_of(node))
        if isinstance(node, EngineMemory):  # it is not loaded to see whether it can be
            return contents
        if not write(node, contents) and (remade(node, contents) is None or not self._setters(node)):
            raise SimulationError(
                f"save: {name} is a {type(node).__module__}.{type(node).__qualname__}, into which nothing can be"
                " written; keep a NumPy or Warp array, or declare unsaved_reason"
            )
        return contents

    def _put(self, node: Any, contents: np.ndarray) -> None:
        """Write into an array of another library, or put a new one into its places if it is immutable."""
        if write(node, contents):
            return
        array = remade(node, contents)
        for put in self._setters(node):
            put(array)

    def _setters(self, node: Any) -> list[Callable[[Any], object]]:
        owners = (owner for _, owner in walk(self._hosts, self._skip))
        return [put for owner in owners for value, put in setters_of(owner) if value is node]

    def _refuse_other(self, checkpoint: Checkpoint, source: str, device: Mapping[str, wp.array]) -> None:
        here = versions()
        other = [
            f"{name} {checkpoint.versions.get(name)}" for name in here if checkpoint.versions.get(name) != here[name]
        ]
        if other:
            here = ", ".join(f"{name} {found}" for name, found in here.items())
            raise ConfigError(
                f"{source}: written with {', '.join(other)}, and this is {here}; a step of other versions gives"
                " other bits: resume with the versions that wrote it"
            )
        arrays, numbers = self.contents(device)
        of_engines = {f"host/{name}" for name, node in self._host_nodes() if isinstance(node, EngineMemory)}
        shapes, written = (
            {name: (name in of_engines or array.shape, array.dtype) for name, array in each.items()}
            for each in (arrays, checkpoint.arrays)
        )
        odd = [name for name in shapes | written if shapes.get(name) != written.get(name)]
        saved = checkpoint.numbers
        odd += sorted(
            name
            for name in {*numbers, *saved}
            if not _are_alike(name, numbers, saved) or _may_be_address(saved[name])  # none is saved that may be one
        )
        if odd:
            raise ConfigError(
                f"{source}: {odd[0]!r} is not the same in the file and in the simulation it describes;"
                " pass the plugins and the prototype that it was saved with"
            )

    def _device_arrays(self) -> dict[str, wp.array]:
        found = find_arrays(self._roots, skip=self._skip)
        handles = cache(_handles)  # a search of the memory, for which few simulations have a reason
        return {name: array for name, array in found.items() if not _holds_handles(array, handles)}

    def _host_nodes(self) -> Iterator[tuple[str, Any]]:
        for name, node in walk(self._hosts, self._skip):
            if is_foreign(node):
                yield name, node
                continue
            is_constant = isinstance(node, np.ndarray) and not node.flags.writeable
            if not isinstance(node, wp.array | list | Mapping) and not is_constant and _is_plain(node):
                yield name, node


def _handles() -> np.ndarray:
    """Return the handles of Warp objects outside of arrays, such as meshes: addresses in this process."""
    kinds = (wp.Mesh, wp.Volume, wp.Bvh, wp.HashGrid, wp.Texture)
    # All objects in memory are searched: a missed handle would be restored, and then crash the process.
    found = {node.id for node in _instances(gc.get_objects(), kinds) if getattr(node, "id", None)}
    return np.array(sorted(found), dtype=np.uint64)


def _instances(nodes: Sequence[Any], kinds: tuple[type, ...]) -> Iterator[Any]:
    """Yield instances of some classes; there are hundreds of thousands of objects, of a few thousand types."""
    types = {kind for kind in set(map(type, nodes)) if issubclass(kind, kinds)}
    return compress(nodes, map(types.__contains__, map(type, nodes)))


def _holds_handles(array: wp.array, handles: Callable[[], np.ndarray]) -> bool:
    """Tell whether an array contains handles, such as those of meshes, or structs with 64-bit keys, as of contacts."""
    if array.dtype is wp.uint64:
        values = array.numpy()
        return bool(values.any() and np.isin(values, handles()).any())
    dtype = array.numpy().dtype
    return dtype.names is not None and "u8" in str(dtype)


def versions() -> dict[str, str]:
    """Return the versions of the packages that determine the bits of a step."""
    return {name: version(name) for name in _PACKAGES}


def _refuse_unknown_addresses(name: str, node: Any) -> None:
    """Refuse a large integer that is neither the address nor the handle of an existing object: it may be a count."""
    if type(node).__module__.partition(".")[0] in _LIBRARIES:
        return
    large = {key: value for key, value in attributes_of(node).items() if _may_be_address(value)}
    if not large:
        return
    known = _addresses()
    for key, value in large.items():
        if value not in known:
            raise SimulationError(
                f"save: {name}.{key} is {value}, which may be an address of this process; keep a count of that size in"
                " a NumPy array, and declare unsaved_reason for an address"
            )


def _may_be_address(value: Any) -> bool:
    return isinstance(value, int) and abs(value) >= _HOST_LIMIT


def _addresses() -> set[int]:
    """Return the identities of Python's objects, the addresses of Warp's arrays and the handles of Warp's objects."""
    objects = gc.get_objects()
    arrays = (node.ptr for node in _instances(objects, (wp.array,)) if getattr(node, "ptr", None))
    return {*map(id, objects), *arrays, *_handles().tolist()}


def _is_plain(node: Any) -> bool:
    """Tell whether an object belongs to a component or a solver; Warp's own objects have handles as attributes."""
    module = type(node).__module__
    return not module.startswith("warp.") or isinstance(node, np.ndarray)


def _are_alike(name: str, here: Mapping[str, Any], saved: Mapping[str, Any]) -> bool:
    """Tell whether both have a number of a name, of the same kind; or the state of a generator of the same kind."""
    one, other = here.get(name), saved.get(name)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and one["bit_generator"] == other["bit_generator"]
    kinds = (bool, int, str, float)
    first, second = (next((kind for kind in kinds if isinstance(each, kind)), None) for each in (one, other))
    return first is not None and (first is second or (first, second) == (float, int))


def _numbers_of(node: Any) -> dict[str, Any]:
    """Return the attributes of an object that may count steps or the like: booleans and numbers."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in attributes_of(node).items()
        if isinstance(value, bool | float | np.integer | np.floating | np.bool_)
        or (isinstance(value, int) and not _may_be_address(value))
    }
