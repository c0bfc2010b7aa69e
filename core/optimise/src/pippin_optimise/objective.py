"""The objective of an optimisation: the loss of each world as a function of its values, and the gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ComponentConfig, ConfigError, Host, Simulation
from pippin.arrays import present
from pippin.state import arrays_of
from pippin_task import EpisodeBuffers, TermContext, make_term

from pippin_optimise.config import LossConfig, OptimiseConfig

from .kernels import FUNCTIONS, add_term
from .result import GradientCheck
from .variables import Variable, find_variables

_DRAWS = 10
"""Times that a random start value outside of the bounds is drawn again, before it is put on a bound."""

_NOISE = 1e-6
"""Rounding of a loss of single precision, as a share of it."""


class Objective:
    """The loss of each world of a simulation, as a function of the values of its variables.

    Values have the shape [worlds, count]: in a row those of all variables, one after the other, each point by point.
    The simulation has gradients and a table `[optimise]`, and its state is where rollouts start.
    """

    def __init__(self, simulation: Simulation) -> None:
        config = simulation.config.optimise
        if config is None:
            raise ConfigError("optimise: there is no table [optimise]; add one, with variables and a loss")
        self.config: OptimiseConfig = config
        self._simulation = simulation
        self.variables: tuple[Variable, ...] = find_variables(config, simulation)
        self._terms = [_Term(name, each, simulation, config.steps) for name, each in config.loss.items()]
        ends = np.cumsum([each.count for each in self.variables])
        #: The columns of each variable in the values, by its name.
        self.columns: dict[str, slice] = {
            each.name: slice(int(end) - each.count, int(end)) for each, end in zip(self.variables, ends, strict=True)
        }
        #: What an optimiser counts in, and the bounds, shape [count].
        self.scale: np.ndarray = self._spread_out([each.config.scale for each in self.variables])
        self.low: np.ndarray = self._spread_out([each.bounds[0] for each in self.variables])
        self.high: np.ndarray = self._spread_out([each.bounds[1] for each in self.variables])
        #: Memory of the states that are kept for a backward pass [bytes]; known after a gradient.
        self.kept_bytes: int = 0
        self._start: newton.State | None = None
        self._moves = 0

    def start(self) -> np.ndarray:
        """Return the values that the simulation has now, with the random changes of `spread`."""
        return self._spread_by_world(np.concatenate([each.start() for each in self.variables], axis=1))

    def move(self, plan: np.ndarray) -> np.ndarray:
        """Let all worlds take the first control step of a plan, shape [count], and return the start values of the next
        plans.

        Rollouts begin where it ends. The next plans are this one a step later, with the random changes of `spread`.
        """
        plans = np.tile(plan, (self._simulation.world_count, 1))
        self._write(plans)
        self._start = self._roll_out(None, 0, 1)[-1]
        self._moves += 1
        later = [each.later(plans[:, self.columns[each.name]]) for each in self.variables]
        return self._spread_by_world(np.concatenate(later, axis=1))

    def _spread_by_world(self, values: np.ndarray) -> np.ndarray:
        spread = self._spread_out([each.config.spread for each in self.variables])
        seed = self._simulation.config.simulation.seed
        random = np.random.default_rng([seed, self._moves] if self._moves else seed)
        changed = values + spread * random.normal(size=values.shape)
        for _ in range(_DRAWS):
            is_outside = (changed < self.low) | (changed > self.high)
            changed = np.where(is_outside, values + spread * random.normal(size=values.shape), changed)
        changed[0] = values[0]
        return np.clip(changed, self.low, self.high)

    def loss(self, values: np.ndarray) -> np.ndarray:
        """Return the loss of each world, shape [worlds]. Synchronises with the device."""
        self._write(values)
        total, start = np.zeros(len(values)), None
        for first, count in self._segments():
            states = self._roll_out(start, first, count)
            start = states[-1]
            total += self._losses(states, first).numpy()
        return total

    def gradient(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the loss of each world, shape [worlds], and its gradient, shape [worlds, count]. Synchronises.

        The states of a segment are kept at a time. If there are several, each is computed a second time, from the kept
        state at its start, and gets the gradient of its end from the one that follows.
        """
        self._write(values)
        for variable in self.variables:
            variable.clear()
        starts: dict[int, newton.State | None] = {0: None}
        segments = list(self._segments())
        for first, count in segments[:-1]:
            starts[first + count] = self._roll_out(starts[first], first, count)[-1]
        total, following = np.zeros(len(values)), None
        for first, count in reversed(segments):
            with wp.Tape() as tape:
                states = self._roll_out(starts.pop(first), first, count)
                loss = self._losses(states, first)
            self.kept_bytes = max(self.kept_bytes, self._bytes_of(states[0], count))
            if following is not None:
                _seed(states[-1], following)
            present(loss.grad).fill_(1.0)
            tape.backward()
            total += loss.numpy()
            following = states[0]
        assert following is not None, "a rollout has at least one control step"
        return total, np.concatenate([each.gradient(following) for each in self.variables], axis=1)

    def compare(self, values: np.ndarray, gradient: np.ndarray) -> list[GradientCheck]:
        """Compare a gradient, shape [worlds, count], with differences of rollouts, in some directions of each variable.

        Worlds share the work.
        """
        config, worlds = self.config, len(values)
        random = np.random.default_rng(0)
        found = []
        for variable in self.variables:
            columns = self.columns[variable.name]
            directions = _directions(variable.count, config.check, random)
            for first in range(0, len(directions), worlds):
                step = np.zeros_like(values)
                chosen = directions[first : first + worlds]
                step[: len(chosen), columns] = chosen * variable.config.scale
                ahead, behind = (self.loss(values + side * config.check_step * step) for side in (1.0, -1.0))
                slopes = ((ahead - behind) / (2.0 * config.check_step)).tolist()
                derivatives = (gradient * step).sum(axis=1).tolist()
                found += [
                    GradientCheck(variable=variable.name, world=world, derivative=own, difference=other)
                    for world, (own, other) in enumerate(zip(derivatives, slopes, strict=True))
                    if world < len(chosen)
                ]
        return found

    def refuse_wrong(self, loss: np.ndarray, gradient: np.ndarray, found: list[GradientCheck]) -> None:
        """Refuse a gradient that is zero, or differs from the differences of rollouts, with both numbers and a cure."""
        noise = _NOISE * float(np.abs(loss).max()) / self.config.check_step
        for variable in self.variables:
            own = [each for each in found if each.variable == variable.name]
            slopes = gradient[:, self.columns[variable.name]] * variable.config.scale
            largest = max((abs(each.difference) for each in own), default=0.0)
            if not slopes.any():
                if largest <= noise:
                    raise ConfigError(
                        f"{variable.where}: the loss does not depend on it at its start (the gradient is 0); vary"
                        " something that the loss sees within the rollout, or start elsewhere"
                    )
                raise ConfigError(
                    f"{variable.where}: no gradient reaches it, although the loss changes with it: rollouts differ by"
                    f" {largest:.4g} per unit of 'scale'; the solver or a plugin has no derivative there, so vary"
                    " something else"
                )
            typical = float(np.sqrt((slopes**2).mean()))
            for each in own:
                allowed = self.config.check_tolerance * max(abs(each.difference), abs(each.derivative), typical)
                if not abs(each.derivative - each.difference) <= allowed + noise:
                    raise ConfigError(
                        f"{variable.where}: the gradient gives {each.derivative:.4g} in a direction in which rollouts"
                        f" differ by {each.difference:.4g}, per unit of 'scale'; the loss is rough there, as where"
                        " contacts begin, or a part has no right derivative: set check_step to another size, or check"
                        " = 0 to go on"
                    )

    def _spread_out(self, numbers: list[float]) -> np.ndarray:
        return np.repeat(np.array(numbers, dtype=float), [each.count for each in self.variables])

    def _write(self, values: np.ndarray) -> None:
        for variable in self.variables:
            variable.write(values[:, self.columns[variable.name]])

    def _segments(self) -> Iterator[tuple[int, int]]:
        """Yield the first control step of each segment, and its number of steps."""
        steps = self.config.steps
        length = self.config.segment or steps
        for first in range(0, steps, length):
            yield first, min(length, steps - first)

    def _roll_out(self, start: newton.State | None, first: int, count: int) -> tuple[newton.State, ...]:
        moves = self._moves

        def before_step(number: int) -> None:
            for variable in self.variables:
                variable.before_step(number - moves)

        start = self._start if start is None else start
        return self._simulation.rollout(count, start=start, first=moves + first, before_step=before_step)

    def _losses(self, states: tuple[newton.State, ...], first: int) -> wp.array:
        """Return what the states after control steps add to the losses, shape [worlds]; on a tape if there is one."""
        simulation = self._simulation
        loss = wp.zeros(simulation.world_count, dtype=float, device=simulation.device, requires_grad=True)
        for number, state in enumerate(states[1:], first):
            for term in self._terms:
                term.add(state, number, loss)
        return loss

    def _bytes_of(self, state: newton.State, count: int) -> int:
        options = self._simulation.config.simulation
        one = sum(array.size * wp.types.type_size_in_bytes(array.dtype) for array in arrays_of(state).values())
        return 2 * one * (1 + count * options.decimation * options.substep_count)


def _directions(count: int, number: int, random: np.random.Generator) -> np.ndarray:
    """Return directions of some values, shape [directions, count]: of single ones, or random ones of equal length."""
    if count <= number:
        return np.eye(count)
    return random.choice([-1.0, 1.0], size=(number, count)) / np.sqrt(count)


def _seed(state: newton.State, following: newton.State) -> None:
    """Let the gradient of a state be that of its copy, from which the next rollout started."""
    gradients = arrays_of(following)
    for name, array in arrays_of(state).items():
        present(array.grad).assign(gradients[name].grad)


class _Term:
    def __init__(self, name: str, config: LossConfig, simulation: Host, steps: int) -> None:
        where, worlds, device = f"optimise.loss.{name}", simulation.world_count, simulation.device
        plugin: Any = simulation.catalog.find("quantity", config.of.type).load()
        if not getattr(plugin, "is_differentiable", False):
            raise ConfigError(
                f"{where}.of: {config.of.type!r} is not declared to be differentiable (is_differentiable); choose a"
                " quantity of the state alone, such as 'parts-position' or 'joint-positions'"
            )
        context = TermContext(simulation, EpisodeBuffers(worlds, device, [], []), f"loss.{name}", _alone, {}, {}, {})
        self._quantity: Any = make_term("quantity", config.of, context, f"{where}.of", f"{where}.of")
        try:
            columns = self._quantity.chosen_columns(config.axes)
        except ConfigError as error:
            raise ConfigError(f"{where}.{error}") from error
        targets = np.atleast_1d(np.array(0.0 if config.target is None else config.target, dtype=np.float32))
        if len(targets) not in (1, len(columns)):
            raise ConfigError(
                f"{where}.target: expected 1 or {len(columns)} numbers, got {len(targets)}; give one each"
            )
        self._columns = wp.array(columns, dtype=int, device=device)
        self._targets = wp.array(np.broadcast_to(targets, len(columns)).copy(), dtype=float, device=device)
        self._shape = (worlds, len(self._quantity.labels))
        self._function = FUNCTIONS[config.function]
        self._weights = _weights(config, steps)

    def add(self, state: newton.State, number: int, loss: wp.array) -> None:
        weight = self._weights[number]
        if weight == 0.0:
            return
        values = wp.zeros(self._shape, dtype=float, device=loss.device, requires_grad=True)
        self._quantity.measure(state, values)
        inputs = [values, self._columns, self._targets, self._function, weight, loss]
        wp.launch(add_term, len(loss), inputs, device=loss.device)


def _weights(config: LossConfig, steps: int) -> list[float]:
    if config.when == "end":
        return [0.0] * (steps - 1) + [config.weight]
    share = 1.0 if config.when == "sum" else 1.0 / steps
    return [config.weight * share * config.discount ** (steps - 1 - number) for number in range(steps)]


def _alone(choice: ComponentConfig, context: TermContext, where: str) -> Any:
    raise ConfigError(f"{where}: {choice.type!r} is a quantity of a quantity, which a loss cannot have; choose another")
