"""Parameters of drives, clampings and delays: one value per lane, drawn at a reset or set at run time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin import labels
from pippin.arrays import on_host, present
from pippin.binding import Binding
from pippin.catalog.entries import Catalog
from pippin.errors import ConfigError
from pippin.indices import IndexRange
from pippin.spelling import did_you_mean

from .config import Parameter, Uniform
from .joints import Axes
from .kernels import draw_uniform, draw_uniform_steps

_LARGEST = float(np.finfo(np.float32).max)
"""Largest finite number of an array of parameters."""


@attrs.define(eq=False)
class LaneParameter:
    """One parameter over all lanes."""

    array: wp.array
    """The value of each lane, shape [lanes]: the array that the next step reads."""
    attribute: str
    """Name of the attribute in which a drive or a clamping keeps the array."""
    low: wp.array
    """Lowest random value, shape [lanes]."""
    high: wp.array
    """Highest random value, shape [lanes]; nothing is drawn if it equals `low`."""
    minimum: float
    """Smallest value that may be set, in the unit of the parameter."""
    maximum: float
    """Largest value that may be set, in the unit of the parameter."""
    is_random: bool
    """Whether any lane draws."""
    is_shared: bool = False
    """Whether the lanes of a world draw one value."""


@attrs.frozen(kw_only=True, eq=False)
class Lanes:
    """The driven DOFs of all worlds that have them, one lane each, ordered by world and then as in the model."""

    labels: tuple[str, ...]
    """Labels of the axes in the first of these worlds; a joint with one axis gives its own label."""
    labels_of_world: tuple[tuple[str, ...], ...]
    """The same labels for each world, because another robot's axes may have other names."""
    worlds: np.ndarray
    """The worlds that have driven DOFs, ascending, shape [worlds]."""
    world_count: int
    """The number of all worlds."""
    dofs: np.ndarray
    """Index of each lane into DOF-shaped arrays, shape [len(worlds), len(labels)]."""
    coordinates: np.ndarray
    """Index of each lane into coordinate-shaped arrays, shape [len(worlds), len(labels)]."""
    device: wp.Device
    """The device of all arrays."""
    dt: float
    """Length of a physics step [s]."""
    catalog: Catalog
    """The catalog in which clampings are found."""
    what: str = "joint"
    """What a label names, for errors."""
    prefix: str = ""
    """Place of the parameters in the actuator's table: `clamping[0].` for those of the first clamping."""
    parameters: dict[str, LaneParameter] = attrs.field(factory=dict)
    """For the core: the parameters so far, by their place in the actuator's table."""

    @classmethod
    def of(cls, binding: Binding, axes: Mapping[int, Axes]) -> Lanes:
        """Return lanes for the axes selected in each prototype, in all worlds of the finished model that have them.

        Args:
            binding: The component's place in the simulation.
            axes: The axes of each prototype that has some.
        """
        simulation, worlds = binding.simulation, binding.worlds
        model, prototypes = simulation.model, simulation.prototype_of_world[binding.worlds]
        kinds, rows = np.unique(prototypes, return_inverse=True)
        pairs = {prototype: each.pairs for prototype, each in axes.items()}
        joints = binding.indices("joint", {key: [joint for joint, _ in each] for key, each in pairs.items()})
        offsets = np.array([[axis for _, axis in pairs[key]] for key in kinds.tolist()])[rows]
        labels_of_world = tuple([axes[key].labels for key in prototypes.tolist()])
        return cls(
            labels=labels_of_world[0],
            labels_of_world=labels_of_world,
            worlds=worlds,
            world_count=simulation.world_count,
            dofs=on_host(model.joint_qd_start)[joints] + offsets,
            coordinates=on_host(model.joint_q_start)[joints] + offsets,
            device=model.device,
            dt=simulation.config.simulation.dt,
            catalog=simulation.catalog,
        )

    @cached_property
    def _kinds(self) -> tuple[Sequence[tuple[str, ...]], np.ndarray]:
        """The distinct labels of a world, and which of them each world has."""
        numbers = {names: number for number, names in enumerate(dict.fromkeys(self.labels_of_world))}
        return [*numbers], np.array([numbers[names] for names in self.labels_of_world])

    def within(self, place: str) -> Lanes:
        """Return the same lanes for the parameters of an inner table, such as `clamping[0]`.

        Args:
            place: Place of the inner table.
        """
        return attrs.evolve(self, prefix=f"{self.prefix}{place}.")

    def world_of_lane(self) -> wp.array[int]:
        """Return the world of each lane, shape [lanes]."""
        worlds = np.repeat(self.worlds, self.dofs.shape[1])
        return wp.array(worlds, dtype=int, device=self.device)

    def per_lane(
        self,
        value: Parameter | None,
        where: str,
        minimum: float = -np.inf,
        maximum: float = np.inf,
        missing: float = np.inf,
        attribute: str | None = None,
    ) -> wp.array[float]:
        """Return a parameter for each lane, shape [len(worlds) × len(labels)], that can be read and set by its name.

        Args:
            value: One value for all joints, or a table from patterns of joint labels to values; None for `missing`.
            where: Name of the field, for errors and for `get` and `set`.
            minimum: Smallest value that may be set.
            maximum: Largest value that may be set.
            missing: The value that None stands for.
            attribute: Name of the attribute in which the drive or clamping keeps the array, by default `where`.
                Newton's implicit mode replaces the array in it.

        Raises:
            ConfigError: A pattern matches nothing, or a joint has no value, or two.
        """
        own, place = missing if value is None else value, self.prefix + where
        distinct, rows = self._kinds
        found = np.array([_bounds(own, names, place, self.what) for names in distinct], dtype=np.float32)
        bounds = found[rows].reshape(-1, 2)
        low, high = (wp.array(bounds[:, side], dtype=float, device=self.device) for side in (0, 1))
        array = wp.clone(low)
        is_random = bool((bounds[:, 0] < bounds[:, 1]).any())
        parameter = LaneParameter(array, attribute or where, low, high, minimum, maximum, is_random)
        self.parameters[self.prefix + where] = parameter
        return array

    def bounds(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and the highest value that a parameter has at first, each of shape [len(worlds), DOFs].

        Args:
            name: Place of the parameter in the actuator's table, such as `max_motor_effort`.
        """
        found = self.parameters[name]
        low, high = (np.reshape(on_host(end), self.dofs.shape) for end in (found.low, found.high))
        return low, high

    def own(
        self,
        values: np.ndarray,
        where: str,
        minimum: float = -np.inf,
        attribute: str | None = None,
        maximum: float = np.inf,
    ) -> wp.array:
        """Return a parameter that has a value of its own for each lane, shape [lanes]. See `per_lane`.

        Args:
            values: The value of each lane, whole numbers or not, shape [len(worlds), DOFs].
            where: Name of the parameter in its table.
            minimum: Smallest value that may be set later.
            attribute: Name of the attribute in which the drive or clamping keeps the array, by default `where`.
            maximum: Largest value that may be set later.
        """
        dtypes = (int if values.dtype.kind == "i" else float, float, float)
        array, low, high = (wp.array(values.ravel(), dtype=dtype, device=self.device) for dtype in dtypes)
        parameter = LaneParameter(array, attribute or where, low, high, minimum, maximum, is_random=False)
        self.parameters[self.prefix + where] = parameter
        return array

    def shared(self, bounds: tuple[int, int], where: str, maximum: float) -> wp.array[int]:
        """Return an integer for each lane, shape [lanes]; a world draws one value for all its lanes. See `per_lane`.

        Args:
            bounds: Lowest and highest value; equal ones if nothing is drawn.
            where: Name of the parameter in its table.
            maximum: Largest value that may be set later.
        """
        low, high = (wp.full(self.dofs.size, bound, dtype=float, device=self.device) for bound in bounds)
        array = wp.full(self.dofs.size, bounds[1], dtype=int, device=self.device)
        is_random = bounds[0] < bounds[1]
        parameter = LaneParameter(array, where, low, high, 0.0, maximum, is_random, is_shared=True)
        self.parameters[self.prefix + where] = parameter
        return array


def _bounds(value: Parameter, names: Sequence[str], where: str, what: str) -> list[tuple[float, float]]:
    found = labels.lookup(value, names, where, what)
    return [each.uniform if isinstance(each, Uniform) else (each, each) for each in found]


class Parameters:
    """The parameters of one actuator: drawn for worlds that are reset, read and set by name.

    Args:
        lanes: The lanes, with their parameters.
        world_of_lane: The world of each lane, shape [lanes].
        binding: The actuator's place in the simulation: its label and the seeds of the worlds.
    """

    def __init__(self, lanes: Lanes, world_of_lane: wp.array, binding: Binding) -> None:
        self._lanes, self._world_of_lane = lanes, world_of_lane
        self._by_name: Mapping[str, LaneParameter] = lanes.parameters
        self._random = {name: parameter for name, parameter in self._by_name.items() if parameter.is_random}
        seeds = binding.simulation.seeds
        self._draws = {name: seeds.draws(f"{binding.label}/{name}") for name in self._random}
        everywhere = wp.full(lanes.world_count + 1, value=True, dtype=bool, device=lanes.device)
        self.draw(everywhere)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    @property
    def drawn(self) -> frozenset[str]:
        """The parameters that are drawn when a world is reset."""
        return frozenset(self._random)

    def draw(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the random parameters of the masked worlds anew, on the device."""
        for name, parameter in self._random.items():
            kernel = draw_uniform_steps if parameter.is_shared else draw_uniform
            draws, width = self._draws[name], [] if parameter.is_shared else [self._lanes.dofs.shape[1]]
            inputs = [self._world_of_lane, world_mask, *draws.arguments, *width, parameter.low, parameter.high]
            wp.launch(kernel, parameter.array.size, [*inputs, parameter.array], device=self._lanes.device)
            draws.advance(world_mask)

    def get(self, name: str) -> wp.array:
        """Return the values of a parameter, shape [len(worlds), DOFs]: the memory that the next step reads.

        Args:
            name: Name of the parameter, such as `kp` or `clamping[0].max_effort`.

        Raises:
            ConfigError: There is no such parameter.
        """
        return _by_world(self._find(name).array, self._lanes.dofs.shape)

    def array(self, name: str) -> wp.array:
        """Return the array of a parameter as the law reads it, shape [len(worlds) × DOFs].

        Args:
            name: Name of the parameter, such as `kp`.
        """
        return self._find(name).array

    def set(self, name: str, values: Any, worlds: Any = None, patterns: str | Sequence[str] | None = None) -> None:
        """Set a parameter, from the next step on; see `DriveActuator.set`.

        Args:
            name: Name of the parameter, such as `kp` or `clamping[0].max_effort`.
            values: A number, or an array of shape [worlds, DOFs] of the chosen ones.
            worlds: Indices or a mask of worlds; by default all.
            patterns: Patterns of the driven axes; by default all.

        Raises:
            ConfigError: There is no such parameter, world or axis; or a value is out of bounds, or has a wrong shape.
        """
        parameter = self._find(name)
        rows = self._rows(worlds)
        columns = self._columns(patterns)
        host = parameter.array.numpy().reshape(self._lanes.dofs.shape)
        numbers = _numbers(values, name)
        self._refuse(name, parameter, numbers, host)
        try:
            host[np.ix_(rows, columns)] = numbers
        except ValueError as error:
            shape = f"[{len(rows)} worlds, {len(columns)} {self._lanes.what}s]"
            raise ConfigError(f"{name}: expected values for {shape}, got shape {numbers.shape}") from error
        parameter.array.assign(host.ravel())

    def _refuse(self, name: str, parameter: LaneParameter, numbers: np.ndarray, host: np.ndarray) -> None:
        low, high = parameter.minimum, parameter.maximum
        wrong = numbers[~((numbers >= low) & (numbers <= high) & (np.abs(numbers) <= _LARGEST))]
        if host.dtype.kind == "i" and not wrong.size:
            wrong = numbers[numbers != np.round(numbers)]
        if wrong.size:
            kind = "a whole number" if host.dtype.kind == "i" else "a finite number"
            above = "" if np.isinf(low) else f" of at least {low:g}"
            below = "" if np.isinf(high) else f" up to {high:g}"
            raise ConfigError(f"{name}: expected {kind}{above}{below}, got {wrong.flat[0]:g}")

    def _find(self, name: str) -> LaneParameter:
        if name not in self._by_name:
            names = ", ".join(self._by_name) or "none"
            raise ConfigError(f"{name!r} is not a parameter{did_you_mean(name, self._by_name)}; parameters: {names}")
        return self._by_name[name]

    def _rows(self, worlds: Any) -> np.ndarray:
        own = self._lanes.worlds
        chosen = own if worlds is None else IndexRange(self._lanes.world_count).indices(worlds, "set: worlds")
        without = np.setdiff1d(chosen, own)
        if without.size:
            what = f"{self._lanes.what}s"
            raise ConfigError(f"worlds: world {int(without[0])} has none of the {what}; choose from {own.tolist()}")
        return np.searchsorted(own, chosen)

    def _columns(self, patterns: str | Sequence[str] | None) -> np.ndarray:
        what = self._lanes.what
        if patterns is None:
            return np.arange(len(self._lanes.labels))
        if not patterns:
            raise ConfigError(f"{what}s: no pattern given; leave the argument out for all of them")
        return np.array(labels.match(patterns, self._lanes.labels, what=what, where=f"{what}s"))


def _numbers(values: Any, name: str) -> np.ndarray:
    try:
        numbers = np.asarray(values.numpy() if hasattr(values, "numpy") else values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"{name}: expected numbers, got a {type(values).__name__} that is not an array: {error}"
        ) from error
    if numbers.dtype.kind not in "iuf":
        raise ConfigError(f"{name}: expected numbers, got {values!r} ({numbers.dtype}); pass float32 or integers")
    return numbers.astype(np.float64)


def _by_world(values: wp.array, shape: Any) -> wp.array:
    step: Any = present(values.strides)[0]
    strides: Any = (shape[1] * step, step)
    view = wp.array(ptr=values.ptr, dtype=values.dtype, shape=shape, strides=strides, device=values.device)
    view._ref = values  # the memory lives as long as the view
    return view
