"""Variables: the numbers of a simulation that an optimisation varies, a row of them for each world."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError, Host, did_you_mean
from pippin.arrays import on_host, present
from pippin.state import arrays_of, worlds_of

from pippin_optimise.config import OptimiseConfig, VariableConfig

from .kernels import put_row

_CORNERS = {
    newton.Model.AttributeFrequency.SPRING: ("spring_indices", 2),
    newton.Model.AttributeFrequency.TRIANGLE: ("tri_indices", 3),
    newton.Model.AttributeFrequency.EDGE: ("edge_indices", 4),
    newton.Model.AttributeFrequency.TETRAHEDRON: ("tet_indices", 4),
}
"""The particles of elements, by their frequency."""

_KINDS = ("actuators", "plugins")

_TARGETS = ("position_targets", "velocity_targets", "feedforward")
"""Arrays of an actuator that are set from outside."""


class Variable(abc.ABC):
    """Numbers that are varied, at places of a flat array, shape [worlds, elements, columns]."""

    is_in_start: bool = False
    """Whether the numbers belong to the start state, so that a reset restores them."""

    arrays: Mapping[str, np.ndarray]
    """The arrays that it writes, each with the places of the numbers, shape [worlds, numbers]."""

    def __init__(self, name: str, config: VariableConfig, index: np.ndarray) -> None:
        #: Its name, its table, and the key path of the table.
        self.name, self.config, self.where = name, config, f"optimise.variables.{name}"
        worlds, elements, width = index.shape
        columns = list(range(width)) if config.columns is None else list(config.columns)
        wrong = [column for column in columns if column >= width]
        if wrong:
            raise ConfigError(f"{self.where}.columns: {wrong[0]}, but there are {width}; count from 0 to {width - 1}")
        index = index[:, :, columns]
        #: Places of the numbers in the flat array, shape [worlds, numbers].
        self.index: np.ndarray = index.reshape(worlds, -1)
        own = np.arange(index[0].size).reshape(elements, -1)
        self._value_of = (own % len(columns) if config.together else own).ravel()
        #: Number of values at a time.
        self.width: int = int(self._value_of.max()) + 1
        #: Number of values in a world, those of all points in time.
        self.count: int = config.points * self.width
        #: Lowest and highest value.
        low, high = config.low, config.high
        self.bounds: tuple[float, float] = (-np.inf if low is None else low, np.inf if high is None else high)

    def start(self) -> np.ndarray:
        """Return the values as the file states them, shape [worlds, count]; refuse those out of bounds, and different
        ones of elements that go together.
        """
        present = self.read()
        values = np.zeros((len(present), self.width))
        values[:, self._value_of] = present
        if not np.array_equal(values[:, self._value_of], present):
            raise ConfigError(f"{self.where}.together: the elements start with different numbers; give them one")
        low, high = self.bounds
        if not ((values >= low) & (values <= high)).all():
            wrong = values[(values < low) | (values > high)].flat[0]
            raise ConfigError(f"{self.where}: starts at {wrong:g}, outside {low:g} to {high:g}; change the bounds")
        return np.tile(values, self.config.points)

    def numbers(self, values: np.ndarray) -> np.ndarray:
        """Return the numbers of some values, shape [worlds, points, numbers]."""
        return values.reshape(len(values), self.config.points, self.width)[:, :, self._value_of]

    def gathered(self, numbers: np.ndarray) -> np.ndarray:
        """Return the gradient of the values, shape [worlds, count], from that of the numbers."""
        found = np.zeros((*numbers.shape[:2], self.width))
        for place, value in enumerate(self._value_of.tolist()):
            found[:, :, value] += numbers[:, :, place]
        return found.reshape(len(found), -1)

    @abc.abstractmethod
    def read(self) -> np.ndarray:
        """Return the present numbers, shape [worlds, numbers]."""

    @abc.abstractmethod
    def write(self, values: np.ndarray) -> None:
        """Let the next rollouts have some values, shape [worlds, count]."""

    def before_step(self, number: int) -> None:  # noqa: B027 (most variables are written once)
        """Write what changes from control step to control step."""

    def later(self, values: np.ndarray) -> np.ndarray:
        """Return the values of plans that begin a control step later, shape [worlds, count]; the last value holds."""
        return values

    @abc.abstractmethod
    def clear(self) -> None:
        """Forget the gradient of earlier backward passes."""

    @abc.abstractmethod
    def gradient(self, start: newton.State) -> np.ndarray:
        """Return the gradient of the values, shape [worlds, count], after the backward pass of rollouts."""


class StartVelocity(Variable):
    """The initial velocity of particles, or of free bodies: of these also that of their joints."""

    is_in_start = True

    def __init__(self, name: str, config: VariableConfig, host: Host) -> None:
        assert config.velocity_of is not None, "the subject"
        where, model = f"optimise.variables.{name}.velocity_of", host.model
        objects = host.services.scene_objects
        what, found = objects.particles_or_bodies(config.velocity_of, where)
        rows = _equal_rows(objects.by_world(what, found), where)
        self.arrays = arrays = {}  # of the state
        if what == "body":  # a solver starts from one of the two, and the other one has no gradient
            super().__init__(name, config, _free_dofs(model, rows, where))
            arrays["joint_qd"] = self.index
        super().__init__(name, config, _places(rows, 3 if what == "particle" else 6))
        arrays[f"{what}_qd"] = self.index
        self._host = host

    def read(self) -> np.ndarray:
        """Return the velocities of the current state."""
        name, index = list(self.arrays.items())[-1]
        return _take(getattr(self._host.state, name), index)

    def write(self, values: np.ndarray) -> None:
        """Write the velocities of the current state."""
        numbers = self.numbers(values)[:, 0]
        for name, index in self.arrays.items():
            _put(getattr(self._host.state, name), index, numbers)

    def clear(self) -> None:
        """Do nothing: each rollout has a start state of its own."""

    def gradient(self, start: newton.State) -> np.ndarray:
        """Return the gradient by the velocities of the start."""
        numbers = sum(_take(getattr(start, name).grad, index) for name, index in self.arrays.items())
        return self.gathered(np.asarray(numbers)[:, None])


class ModelVariable(Variable):
    """Rows of an array of the model."""

    def __init__(self, name: str, config: VariableConfig, host: Host) -> None:
        assert config.model is not None, "the subject"
        where, model = f"optimise.variables.{name}.model", host.model
        known = [key for key, each in arrays_of(model).items() if each.requires_grad and _is_real(each)]
        if config.model not in known:
            near = did_you_mean(config.model, known) or f"; it has {', '.join(known)}"
            raise ConfigError(f"{where}: the model has no array {config.model!r} with gradients{near}")
        self.array: wp.array = getattr(model, config.model)
        worlds = worlds_of(model, config.model)
        if worlds is None or len(worlds) != len(self.array):
            raise ConfigError(f"{where}: the rows of {config.model!r} belong to no world; vary something else")
        chosen = np.arange(len(worlds))
        if config.of is not None:
            chosen = _rows_of(host, config, chosen, f"optimise.variables.{name}.of")
        rows = [chosen[worlds[chosen] == world] for world in range(model.world_count)]
        padded = np.full((len(rows), max(map(len, rows))), -1)
        for row, own in zip(padded, rows, strict=True):
            row[: len(own)] = own
        super().__init__(name, config, _places(_equal_rows(padded, where), _width(self.array)))
        self.arrays = {config.model: self.index}
        self.array.requires_grad = True

    def read(self) -> np.ndarray:
        """Return the numbers of the model."""
        return _take(self.array, self.index)

    def write(self, values: np.ndarray) -> None:
        """Write the numbers of the model, where the solver reads them."""
        _put(self.array, self.index, self.numbers(values)[:, 0])

    def clear(self) -> None:
        """Zero the gradient of the array."""
        present(self.array.grad).zero_()

    def gradient(self, start: newton.State) -> np.ndarray:
        """Return the gradient of the array."""
        return self.gathered(_take(present(self.array.grad), self.index)[:, None])


class InputVariable(Variable):
    """An array of an actuator or of a plugin, with values that may change in time.

    A tape reads in its backward pass what the forward pass read. An array that is written anew in each control step
    would hold the last numbers then. So the backward pass of the write puts back what was there before, after it has
    taken the gradient of the numbers that it wrote.
    """

    def __init__(self, name: str, config: VariableConfig, host: Host, steps: int) -> None:
        assert config.value_of is not None, "the subject"
        where = f"optimise.variables.{name}"
        #: The array, whose first axis is divided among the worlds.
        self.array: wp.array = _array_at(host, config.value_of, f"{where}.value_of")
        size, worlds = self.array.size * wp.types.type_size(self.array.dtype), host.world_count
        if len(self.array) % worlds or not size:
            raise ConfigError(
                f"{where}.value_of: {config.value_of!r} has {len(self.array)} rows, which cannot be divided among"
                f" {worlds} worlds; use one world, or give each its own rows"
            )
        columns = self.array.shape[-1] if self.array.ndim > 1 else _width(self.array)
        super().__init__(name, config, np.arange(size).reshape(worlds, -1, columns))
        self.arrays = {config.value_of: self.index}
        if config.points > steps:
            raise ConfigError(f"{where}.points: {config.points}, but a rollout has {steps} control steps; give fewer")
        self.array.requires_grad = True
        #: Weight of each point in each control step, shape [steps, points].
        self.weights: np.ndarray = _weights(steps, config.points, config.interpolation)
        self._later = _weights_later(self.weights, config.interpolation)
        device = self.array.device
        self._flat, self._places = flat(self.array), wp.array(self.index.ravel(), dtype=int, device=device)
        self._rows = wp.zeros((steps, self.index.size), dtype=float, device=device, requires_grad=True)

    def rows(self, values: np.ndarray) -> np.ndarray:
        """Return the numbers of each control step, shape [steps, worlds, numbers]."""
        return np.einsum("sp,wpn->swn", self.weights, self.numbers(values))

    def rows_of_moves(self, values: np.ndarray) -> np.ndarray:
        """Return the numbers of control steps that have values each, shape [steps, worlds, numbers]."""
        return values.reshape(len(values), -1, self.width)[:, :, self._value_of].swapaxes(0, 1)

    def later(self, values: np.ndarray) -> np.ndarray:
        """Return the values at the points of plans that begin a control step later."""
        plans = values.reshape(len(values), self.config.points, self.width)
        return np.einsum("lp,wpn->wln", self._later, plans).reshape(len(values), -1)

    def read(self) -> np.ndarray:
        """Return the numbers of the array."""
        return _take(self.array, self.index)

    def write(self, values: np.ndarray) -> None:
        """Note the numbers of each control step."""
        rows = self.rows(values)
        self._rows.assign(rows.reshape(len(rows), -1).astype(np.float32))

    def before_step(self, number: int) -> None:
        """Write the numbers of a control step into the array, on a tape if there is one."""
        inputs = [self._rows, number, max(number - 1, 0), self._places, self._flat]
        wp.launch(put_row, self._places.size, inputs, device=self._places.device)

    def clear(self) -> None:
        """Zero the gradients."""
        present(self._rows.grad).zero_()
        present(self.array.grad).zero_()

    def gradient(self, start: newton.State) -> np.ndarray:
        """Return the gradient of the values at the points."""
        by_step = on_host(self._rows.grad).reshape(len(self.weights), *self.index.shape)
        return self.gathered(np.einsum("sp,swn->wpn", self.weights, by_step))


def find_variables(config: OptimiseConfig, host: Host) -> tuple[Variable, ...]:
    """Return the variables of a table in a simulation.

    Raises:
        ConfigError: A variable names nothing, or what cannot be varied; or two variables vary one number.
    """

    def found(name: str, table: VariableConfig) -> Variable:
        if table.value_of is not None:
            return InputVariable(name, table, host, config.steps)
        return (StartVelocity if table.model is None else ModelVariable)(name, table, host)

    variables = tuple(found(name, each) for name, each in config.variables.items())
    for first, second in itertools.combinations(variables, 2):
        shared = first.arrays.keys() & second.arrays.keys()
        if any(np.intersect1d(first.arrays[each], second.arrays[each]).size for each in shared):
            raise ConfigError(f"{second.where}: varies numbers that {first.where} varies, too; leave one of them out")
    return variables


def _weights(steps: int, points: int, interpolation: str) -> np.ndarray:
    number = np.arange(steps)
    if interpolation == "step" or points == 1:
        return np.eye(points)[number * points // steps]
    place = number * (points - 1) / steps
    earlier = place.astype(int)
    found, share = np.zeros((steps, points)), place - earlier
    found[number, earlier] = 1.0 - share
    found[number, earlier + 1] += share
    return found


def _weights_later(weights: np.ndarray, interpolation: str) -> np.ndarray:
    """Return the weight of each point in each point of a plan that begins a step later, shape [points, points]."""
    steps, points = weights.shape
    if interpolation == "step" or points == 1:
        first = -(-np.arange(points) * steps // points)
        return weights[np.minimum(first + 1, steps - 1)]
    place = np.minimum(np.arange(points) + (points - 1) / steps, points - 1.0)
    return np.maximum(1.0 - np.abs(place[:, None] - np.arange(points)), 0.0)


def _array_at(host: Host, path: str, where: str) -> wp.array:
    kind, _, rest = path.partition(".")
    label, _, name = rest.rpartition(".")
    if kind not in _KINDS or not label:
        paths = " or ".join(f"{each}.LABEL.NAME" for each in _KINDS)
        raise ConfigError(f"{where}: {path!r} is not a path; write {paths}")
    components = getattr(host, kind)
    if label not in components:
        names = ", ".join(components) or "none"
        raise ConfigError(f"{where}: there is no {label!r} in {kind}{did_you_mean(label, components)}; labels: {names}")
    component = components[label]
    known = [key for key in _names(component, kind) if not key.startswith("_")]
    if name not in known:
        near = did_you_mean(name, known) or f"; it has {', '.join(known) or 'none'}"
        raise ConfigError(f"{where}: {label!r} has no array of real numbers {name!r}{near}")
    return component.parameter_array(name) if name in getattr(component, "parameters", ()) else getattr(component, name)


def _names(component: Any, kind: str) -> Sequence[str]:
    if kind == "actuators":
        unread = getattr(component, "unread_targets", {})
        return [*(name for name in _TARGETS if name not in unread), *getattr(component, "parameters", ())]
    return [name for name, value in vars(component).items() if isinstance(value, wp.array) and _is_real(value)]


def _rows_of(host: Host, config: VariableConfig, rows: np.ndarray, where: str) -> np.ndarray:
    assert config.of is not None, "the caller asked"
    assert config.model is not None, "'of' needs it"
    model = host.model
    what, found = host.services.scene_objects.particles_or_bodies(config.of, where)
    frequency: Any = model.get_attribute_frequency(config.model)
    kinds = newton.Model.AttributeFrequency
    if frequency == {"particle": kinds.PARTICLE, "body": kinds.BODY}[what]:
        return found
    if what == "body" or frequency not in _CORNERS:
        raise ConfigError(f"{where}: the rows of {config.model!r} do not belong to a {what} each; leave 'of' out")
    name, width = _CORNERS[frequency]
    corners = on_host(getattr(model, name)).reshape(-1, width)
    return rows[(np.isin(corners, found) | (corners < 0)).all(axis=1)]


def _free_dofs(model: newton.Model, rows: np.ndarray, where: str) -> np.ndarray:
    """Return the degrees of freedom of free bodies, shape [worlds, bodies, 6]."""
    kinds, children = on_host(model.joint_type), on_host(model.joint_child)
    parents, starts = on_host(model.joint_parent), on_host(model.joint_qd_start)
    free = np.flatnonzero((kinds == int(newton.JointType.FREE)) & (parents < 0))
    joint_of = np.full(model.body_count, -1)
    joint_of[children[free]] = free
    joints = joint_of[rows]
    if (joints < 0).any():
        label = model.body_label[int(rows[joints < 0].flat[0])]
        raise ConfigError(f"{where}: {label!r} is not free, its joint decides how it moves; choose a free body")
    return starts[joints][..., None] + np.arange(6)


def _equal_rows(rows: np.ndarray, where: str) -> np.ndarray:
    if not rows.size:
        raise ConfigError(f"{where}: nothing is chosen; choose more, or leave the selection out")
    if (rows < 0).any():
        raise ConfigError(f"{where}: the worlds differ in what is chosen; choose the same in all of them")
    return rows


def _places(rows: np.ndarray, width: int) -> np.ndarray:
    """Return the places of the numbers of some rows in a flat array, shape [worlds, rows, width]."""
    return rows[..., None] * width + np.arange(width)


def _width(array: wp.array) -> int:
    inner = int(np.prod(array.shape[1:])) if array.ndim > 1 else 1
    return inner * wp.types.type_size(array.dtype)


def flat(array: wp.array) -> wp.array:
    """View a contiguous array of real numbers or vectors as numbers, one after the other, with their gradient."""
    return array.view(wp.float32).reshape(array.size * wp.types.type_size(array.dtype))


def _is_real(array: wp.array) -> bool:
    return getattr(array.dtype, "_wp_scalar_type_", array.dtype) is wp.float32 and array.size > 0


def _take(array: wp.array, index: np.ndarray) -> np.ndarray:
    return on_host(array).reshape(-1)[index].astype(float)


def _put(array: wp.array, index: np.ndarray, numbers: np.ndarray) -> None:
    whole = on_host(array).copy()
    whole.reshape(-1)[index] = numbers
    array.assign(whole)
