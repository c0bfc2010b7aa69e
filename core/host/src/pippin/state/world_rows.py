"""Arrays whose rows belong to worlds: their owners, copies and initial contents, and the reset that restores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.attribute_rows import numbers
from pippin.errors import PluginError
from pippin.indices import IndexRange

from .kernels import RowCopy, count_draws, restore_rows

_FUSED = 4
"""Arrays whose rows one launch copies."""

_KIND = newton.Model.AttributeFrequency

_IN_ORDER = frozenset({_KIND.BODY, _KIND.SHAPE, _KIND.ARTICULATION, _KIND.PARTICLE})
_IN_ORDER |= {_KIND.JOINT, _KIND.JOINT_COORD, _KIND.JOINT_DOF, _KIND.JOINT_CONSTRAINT}
"""Frequencies whose rows are sorted by world, in the ranges that the model states."""

_ELEMENTS = {_KIND.SPRING: "spring", _KIND.TRIANGLE: "tri", _KIND.EDGE: "edge", _KIND.TETRAHEDRON: "tet"}
"""Frequencies of elements between particles."""

_WORLDS = {
    _KIND.ATTACHMENT_PARTICLE_BODY: "attachment_particle_body_world",
    _KIND.CONSTRAINT_MIMIC: "constraint_mimic_world",
    _KIND.CURVE: "curve_world",
    _KIND.SURFACE: "surface_world",
    _KIND.VOLUME: "volume_world",
    _KIND.TENDON: "tendon_world",
}
"""The array of a model that states the world of each row of a frequency."""


@attrs.frozen(eq=False)
class WorldRows:
    """An array whose rows belong to worlds, and the saved contents of these rows."""

    array: wp.array
    _saved: wp.array
    _world_of_row: wp.array

    @classmethod
    def of(cls, array: wp.array, world_of_row: np.ndarray, world_count: int) -> WorldRows:
        """Save the present contents of `array`, with the world of each row, shape [rows]; -1 for rows of no world."""
        worlds = np.where(world_of_row < 0, world_count, world_of_row).astype(np.int32)
        return cls(array, wp.clone(array), wp.array(worlds, dtype=int, device=array.device))


def restore_worlds(rows: Iterable[WorldRows], world_mask: wp.array[wp.bool]) -> None:
    """Restore the rows of the masked worlds, mask of shape [world_count + 1]; its last entry is for world -1."""
    last = {each.array.ptr: each for each in rows}  # what was saved last of an array with two owners
    copy_rows([(each._saved, each.array, each._world_of_row) for each in last.values()], world_mask)


def copy_rows(parts: Iterable[tuple[wp.array, wp.array, wp.array]], world_mask: wp.array[wp.bool]) -> None:
    """Copy the rows of the masked worlds. Each part is source, target and the world of each row. May be recorded.

    The last entry of the mask, of shape [world_count + 1], is for rows of no world.
    """
    parts = sorted(parts, key=lambda part: len(part[1]))  # neighbours in a launch have about as many rows
    for first in range(0, len(parts), _FUSED):
        group = parts[first : first + _FUSED]
        copies: list[Any] = [RowCopy() for _ in range(_FUSED)]
        for copy, (source, target, worlds) in zip(copies, group, strict=False):
            for each in (source, target):
                assert each.is_contiguous, "state arrays are whole allocations"
            copy.saved, copy.rows = as_rows(source, wp.uint8, len(source)), as_rows(target, wp.uint8, len(target))
            copy.world_of_row = worlds
        wp.launch(restore_rows, len(group[-1][1]), [world_mask, *copies], device=world_mask.device)


def state_rows(model: newton.Model, state: newton.State) -> list[WorldRows]:
    """Return the rows of every array of `state`, with their present contents.

    Raises:
        PluginError: The worlds of a custom attribute's rows are unknown.
    """
    return [
        WorldRows.of(array, _world_of_row(model, name, len(array)), model.world_count)
        for name, array in arrays_of(state).items()
    ]


def control_rows(model: newton.Model, control: newton.Control) -> list[WorldRows]:
    """Return the rows of every array of `control`; an array whose worlds are unknown is restored with all worlds."""
    rows = []
    for name, array in arrays_of(control).items():
        worlds = worlds_of(model, name)
        worlds = np.full(len(array), -1) if worlds is None or len(worlds) != len(array) else worlds
        rows.append(WorldRows.of(array, worlds, model.world_count))
    return rows


def arrays_of(owner: Any, prefix: str = "") -> dict[str, wp.array]:
    """Return the non-empty arrays of a state by name, of any shape; those in a namespace are `namespace:name`.

    Args:
        owner: A state, a control or a model of Newton.
        prefix: Text before each name.
    """
    found = {}
    for name, value in vars(owner).items():
        if isinstance(value, newton.Model.AttributeNamespace):
            found.update(arrays_of(value, f"{name}:"))
        elif isinstance(value, wp.array) and value.size:
            found[prefix + name] = value
    return found


def _world_of_row(model: newton.Model, name: str, count: int) -> np.ndarray:
    worlds = worlds_of(model, name)
    if worlds is None and name == "_tendon_rebaseline":  # a mask that Newton keeps in the state, without a frequency
        worlds = np.append(np.arange(model.world_count), -1)
    if worlds is None or len(worlds) != count:
        raise PluginError(
            f"solver: state array {name!r} ({count} rows, frequency {_frequency(model, name)!r}) cannot be reset by"
            " world; register it with a frequency whose rows belong to worlds, such as BODY or PARTICLE"
        )
    return worlds


def worlds_of(model: newton.Model, name: str) -> np.ndarray | None:
    """Return the world of each row of a state or control array, shape [rows], -1 for no world; None if unknown.

    Args:
        model: The model of all worlds.
        name: Name of the array, as `arrays_of` gives it.
    """
    return worlds_of_frequency(model, _frequency(model, name))


def _frequency(model: newton.Model, name: str) -> Any:
    """Return the frequency of a state attribute; None if the model does not have the attribute."""
    try:
        return model.get_attribute_frequency(name)
    except KeyError:
        return None


def worlds_of_frequency(model: newton.Model, frequency: Any) -> np.ndarray | None:
    """Return the world of each row of a frequency, -1 for no world; None if the worlds are unknown."""
    if isinstance(frequency, str):  # the rows of MuJoCo's own elements, such as mujoco:actuator
        worlds = numbers(model, f"{frequency}_world")
        return worlds if len(worlds) else None
    if frequency == _KIND.WORLD:
        return np.arange(model.world_count)
    if frequency in _WORLDS:
        worlds = getattr(model, _WORLDS[frequency])
        return None if worlds is None else on_host(worlds)
    if frequency in _ELEMENTS:
        element = _ELEMENTS[frequency]
        particles = on_host(getattr(model, f"{element}_indices")).reshape(getattr(model, f"{element}_count"), -1)
        # The world is that of the particles; an edge at a border has -1 for a missing one.
        return on_host(model.particle_world)[particles.max(axis=1)]
    if frequency in (_KIND.TENDON_GUIDE, _KIND.TENDON_SEGMENT):
        guides = np.diff(on_host(model.tendon_start)) if model.tendon_count else 0
        return np.repeat(on_host(model.tendon_world), guides - (frequency == _KIND.TENDON_SEGMENT))
    if frequency not in _IN_ORDER:
        return None
    starts = on_host(getattr(model, f"{frequency.name.lower()}_world_start"))
    worlds = np.full(starts[-1], -1)
    worlds[starts[0] : starts[-2]] = np.repeat(np.arange(model.world_count), np.diff(starts[:-1]))
    return worlds


def as_rows(array: wp.array, dtype: Any, count: int) -> wp.array:
    """View a dense array as rows of another type, shape [count, …]; the memory lives only as long as the array."""
    size = array.size * wp.types.type_size_in_bytes(array.dtype) // wp.types.type_size_in_bytes(dtype)
    return wp.array(ptr=array.ptr, dtype=dtype, shape=(count, size // max(count, 1)), device=array.device)


class WorldReset:
    """The arrays that a reset of worlds restores, and the masks that select worlds."""

    def __init__(
        self, model: newton.Model, states: tuple[newton.State, ...], control: newton.Control | None = None
    ) -> None:
        self._model = model
        #: Number of resets of each world so far, shape [world_count].
        self.counts = wp.zeros(model.world_count, dtype=int, device=model.device)
        self._rows = [rows for state in states for rows in state_rows(model, state)]
        self._rows += [] if control is None else control_rows(model, control)

    def add(self, owner: str, arrays: Mapping[str, wp.array], worlds: np.ndarray | None = None) -> None:
        """Add the state arrays of a component; the rows belong to its worlds (None for all) in equal parts."""
        worlds = np.arange(self._model.world_count) if worlds is None else worlds
        count = len(worlds)
        for name, array in arrays.items():
            if not isinstance(array, wp.array):
                raise PluginError(
                    f"{owner}: state_arrays: {name!r} is not a Warp array, but a {type(array).__name__}; keep it in a"
                    " Warp array, or answer reset_worlds"
                )
            if not array.size:
                continue  # Warp calls an empty array not contiguous, and there is nothing to restore
            if not array.is_contiguous or len(array) % count:
                raise PluginError(
                    f"{owner}: state array {name!r} of shape {array.shape} cannot be divided among {count} worlds;"
                    " make its first axis a multiple of the number of worlds, or answer reset_worlds"
                )
            world_of_row = np.repeat(worlds, len(array) // count)
            self._rows.append(WorldRows.of(array, world_of_row, self._model.world_count))

    def mask_of(self, worlds: Any, where: str) -> wp.array[wp.bool]:
        """Return the mask of worlds, shape [world_count + 1]. The last entry, of global entities, is set only for None.

        The worlds are indices, a mask, or None for all; a mask on the device is not read by the host.

        Raises:
            ConfigError: An index is out of range, or a mask has another shape.
        """
        count, device = self._model.world_count, self._model.device
        if isinstance(worlds, wp.array) and worlds.dtype is wp.bool and worlds.shape == (count,):
            mask = wp.zeros(count + 1, dtype=bool, device=device)
            wp.copy(mask, worlds, count=count)
            return mask
        chosen = np.append(IndexRange(count).mask(worlds, where), worlds is None)
        return wp.array(chosen, dtype=bool, device=device)

    def restore(self, world_mask: wp.array[wp.bool]) -> None:
        """Restore the initial contents of the masked worlds, and count their reset. May be recorded."""
        wp.launch(count_draws, len(self.counts), [world_mask, self.counts], device=self.counts.device)
        restore_worlds(self._rows, world_mask)
