"""The task of a simulation: its terms, called in order, and the books of episodes. All of it may be recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.binding import Host
from pippin.config.component import ComponentConfig
from pippin.config.task import TaskConfig
from pippin.errors import ConfigError, SimulationError
from pippin.hookspecs import hookimpl
from pippin.state.draws import Draws

from . import kernels
from .making import make_term
from .observations import Group
from .place import Measured, TaskPlace, Worlds
from .terms import Action, Command, Event, Reward, Termination

__all__ = ["Task"]

_NO_FAULT = 2**31 - 1


class Task:
    """The component that makes a simulation an environment: `Simulation.task`.

    One control step: the action's targets, the physics, the sensors; then terminations and rewards of the new state;
    the reset of the worlds whose episode ended; and the observations from which the next action follows.

    Args:
        config: The `[task]` table.
    """

    def __init__(self, config: TaskConfig) -> None:
        self.config = config
        self._measured: list[Measured] = []
        # The terms that set a target, or change a part of the model, by what they change.
        self._claims: dict[str, str] = {}
        self.notes: list[str] = []

    @hookimpl
    def bind(self, simulation: Host) -> None:
        """Make all terms, and the arrays that they share.

        Raises:
            ConfigError: A term is wrong for this simulation, or the solver cannot take over what an event changes.
            PluginError: A term raised another error.
        """
        config, device, count = self.config, simulation.device, simulation.world_count
        self._host = simulation

        def flags(*shape: int) -> Any:
            return wp.zeros(shape, dtype=bool, device=device)

        def numbers(*shape: int, dtype: Any = float) -> Any:
            return wp.zeros(shape, dtype=dtype, device=device)

        self.world_count = count
        #: The arrays that terms share: the action, and the books of episodes.
        self.worlds = Worlds(count, simulation.seeds, device)
        #: The commands by label.
        self.commands: dict[str, Command] = {}
        #: The actions by label.
        self.actions: dict[str, Action] = {}
        self.actions.update(self._make_all("action", "actions", config.actions))
        widths = [len(action.labels) for action in self.actions.values()]
        self.worlds.set_action_width(sum(widths))
        ends = np.cumsum([0, *widths])
        self._slices: list[Any] = [self.worlds.action[:, int(first) : int(end)] for first, end in pairwise(ends)]
        for label, choice in config.commands.items():
            self.commands[label] = self._make("command", "commands", label, choice)
        #: The groups of observations by name.
        self.observations = {
            name: Group(name, terms, lambda where: self._place(where)) for name, terms in config.observations.items()
        }
        #: The rewards, terminations and events by label. A reward of weight zero is left out.
        rewards = {label: choice for label, choice in config.rewards.items() if choice.config.weight}
        self.rewards: dict[str, Reward] = self._make_all("reward", "rewards", rewards)
        self.terminations: dict[str, Termination] = self._make_all("termination", "terminations", config.terminations)
        self.events: dict[str, Event] = self._make_all("event", "events", config.events)

        rate = simulation.control_dt if config.reward_rate == "second" else 1.0
        weights = [rate * choice.config.weight for choice in rewards.values()]
        self._weights = wp.array(np.array(weights, dtype=np.float32), dtype=float, device=device)
        #: Value of each reward without its weight, shape [rewards, worlds], in the order of `rewards`.
        self.reward_terms = numbers(len(rewards), count)
        #: Whether each termination holds, shape [terminations, worlds].
        self.termination_terms = flags(len(self.terminations), count)
        #: The reward of the last step, shape [worlds].
        self.reward = numbers(count)
        self.episode_return, self.episode_sums = numbers(count), numbers(len(rewards), count)
        #: Length, return and sums of weighted terms of the last finished episode of each world.
        self.finished_length, self.finished_return = numbers(count, dtype=int), numbers(count)
        self.finished_sums = numbers(len(rewards), count)
        #: The worlds that the host resets at the end of a step, shape [worlds + 1].
        self.ended_worlds = flags(count + 1)
        #: Whether the episode of each world ended in the last step, shape [worlds].
        self.finished = flags(count)
        #: Whether each world's episode ended before, and its reset is to come, shape [worlds].
        self.waiting = flags(count)
        self._diverged, self._is_due, self._is_new = flags(count), flags(count), flags(count)
        self._are_any = wp.zeros(1, dtype=int, device=device)
        self._fault = wp.full(1, _NO_FAULT, dtype=int, device=device)
        #: Control steps after which an episode is truncated; 0 for never.
        self.episode_steps = self._steps(config.episode_length, simulation.control_dt)
        self._timers = [
            _Timer(self._place(f"{table}.{label}"), term, period)
            for table, terms in (("events", self.events), ("commands", self.commands))
            for label, term in terms.items()
            if (period := getattr(term.config, "period", None)) is not None
        ]
        everywhere = wp.full(count + 1, value=True, dtype=bool, device=device)
        self._refuse_changes()
        self._apply_at_startup(everywhere)
        self._restart(everywhere)
        self._observe(simulation.state)

    @property
    def action_labels(self) -> tuple[str, ...]:
        """A name for each number of the action."""
        return tuple(f"{name}/{label}" for name, action in self.actions.items() for label in action.labels)

    @property
    def action_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest value of each number of the action, shape [width]."""
        bounds = [action.bounds for action in self.actions.values()]
        empty = np.zeros(0, dtype=np.float32)
        low, high = zip(*bounds, strict=True) if bounds else ((empty,), (empty,))
        return np.concatenate(low), np.concatenate(high)

    @property
    def draws_starts(self) -> bool:
        """Whether events change the start of episodes; then the host resets all worlds before the first step."""
        return bool(self._events_of("reset"))

    @property
    def is_capturable(self) -> bool:
        """Whether all terms may be recorded."""
        return self.eager_reason is None

    @property
    def eager_reason(self) -> str | None:
        """The terms that may not be recorded."""
        terms = [*self.actions.values(), *self.commands.values(), *self._all_quantities(), *self.rewards.values()]
        terms += [*self.terminations.values(), *self.events.values()]
        names = [f"task.{term.place.name} ({type(term).__name__})" for term in terms if not term.is_capturable]
        return ", ".join(names) or None

    @hookimpl
    def start_step(self) -> None:
        """Set the targets of this control step."""
        self._is_due.fill_(True)
        for action, numbers in zip(self.actions.values(), self._slices, strict=True):
            action.apply(numbers)

    @hookimpl
    def end_step(self, state: newton.State, dt: float) -> None:
        """Judge the state after the control step, and mark the worlds to reset."""
        worlds, count, device = self.worlds, self.world_count, self.worlds.device
        for measured in self._measured:
            measured.quantity.measure(state, measured.values)
        for group in self.observations.values():
            group.compose(group.final, self._is_due, self._is_new, keeps=False)
        for row, termination in enumerate(self.terminations.values()):
            termination.evaluate(self.termination_terms[row])
        self._host.mark_diverged(self._diverged)
        inputs = [self.termination_terms, self._diverged, self.episode_steps, worlds.length, worlds.terminated]
        wp.launch(kernels.judge, count, [*inputs, worlds.truncated], device=device)
        for row, reward in enumerate(self.rewards.values()):
            reward.evaluate(self.reward_terms[row])
        inputs = [self.reward_terms, self._weights, self._diverged, self.reward, self.episode_return]
        wp.launch(kernels.weigh, count, [*inputs, self.episode_sums, self._fault], device=device)
        self._end_episodes()
        self._run_timers(state, dt)

    @hookimpl
    def initialize_worlds(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Change the start of the masked worlds at random."""
        events = self._events_of("reset")
        for event in events:
            event.apply(state, world_mask)
        self._tell_solver(events, world_mask)

    @hookimpl
    def reset_worlds(self, world_mask: wp.array[wp.bool]) -> None:
        """Begin an episode in the masked worlds."""
        self._restart(world_mask)

    @hookimpl
    def observe(self, state: newton.State) -> None:
        """Write the observations of the state from which the next step starts: of all worlds, or of reset ones."""
        self._observe(state)
        self._is_due.zero_()
        self._is_new.zero_()
        wp.copy(self.worlds.last_action, self.worlds.action)

    def check(self) -> None:
        """Raise once if a reward was not finite in a world whose state is; the simulation can go on.

        Raises:
            SimulationError: Names the term and the world.
        """
        code = int(self._fault.numpy()[0])
        if code != _NO_FAULT:
            self._fault.fill_(_NO_FAULT)
            term, world = divmod(code, self.world_count)
            label = list(self.rewards)[term]
            raise SimulationError(
                f"task.rewards.{label}: is not finite in world {world}; bound the quantity, or end the episode before"
            )

    def reseed(self, seeds: np.ndarray, worlds: np.ndarray | None = None) -> None:
        """Set the seeds of worlds, and begin all their draws anew.

        Args:
            seeds: A seed for each world, shape [worlds].
            worlds: The worlds to seed, a boolean mask of shape [worlds]; None means all.
        """
        self._host.seeds.reseed(seeds, worlds)

    def _all_quantities(self) -> list[Any]:
        return [measured.quantity for measured in self._measured]

    def _end_episodes(self) -> None:
        worlds, mode = self.worlds, self.config.autoreset
        inputs = [int(mode == "same-step"), int(mode == "next-step"), self.waiting]
        inputs += [worlds.terminated, worlds.truncated]
        inputs += [self.reward, worlds.length, self.episode_return, self.episode_sums]
        inputs += [self.finished_length, self.finished_return, self.finished_sums, self.finished, self.ended_worlds]
        wp.launch(kernels.end_episodes, self.world_count, inputs, device=worlds.device)

    def _run_timers(self, state: newton.State, dt: float) -> None:
        for timer in self._timers:
            timer.count_down(dt)
            if isinstance(timer.term, Command):
                timer.term.resample(timer.due)
            else:
                timer.term.apply(state, timer.due)
                if timer.term.moves_bodies:
                    self._host.take_joints(timer.due)
                self._tell_solver([timer.term], timer.due)

    def _restart(self, world_mask: wp.array[wp.bool]) -> None:
        worlds = self.worlds
        inputs = [world_mask, worlds.length, self.episode_return, self.episode_sums]
        inputs += [worlds.action, worlds.last_action, self.waiting, self._is_due, self._is_new]
        wp.launch(kernels.begin_episodes, self.world_count, inputs, device=worlds.device)
        terms = [*self.actions.values(), *self._all_quantities(), *self.rewards.values(), *self.terminations.values()]
        for term in terms:
            term.reset(world_mask)
        for timer in self._timers:
            timer.draw(world_mask)
        for command in self.commands.values():
            command.resample(world_mask)

    def _events_of(self, when: str) -> list[Event]:
        return [event for event in self.events.values() if event.config.when == when]

    def _refuse_changes(self) -> None:
        """Refuse events whose changes of the model the solver does not take over, and run eagerly if it does."""
        changing = {label: event for label, event in self.events.items() if event.model_changes}
        for label, event in changing.items():
            if fault := self._host.model_change_fault(_flags([event])):
                raise ConfigError(f"events.{label}: {fault}; choose another solver, or leave the event out")
            if event.config.when != "startup" and self._host.solver_eager_reason is not None:
                event.is_capturable = False  # the solver has to be told

    def _apply_at_startup(self, everywhere: wp.array[wp.bool]) -> None:
        events = self._events_of("startup")
        for event in events:
            event.apply(self._host.state, everywhere)
        if flags := _flags(events):
            self._host.notify_model_changed(flags)
        if any(event.moves_bodies for event in events):
            self._host.written.add("joints", everywhere)

    def _tell_solver(self, events: Sequence[Event], world_mask: wp.array[wp.bool]) -> None:
        """Tell the solver what events changed, if any world is masked."""
        flags, device = _flags(events), self.worlds.device
        if not flags:
            return
        tell = partial(self._host.tell_solver, flags, world_mask)
        if device.is_capturing and not (device.is_cpu or wp.is_conditional_graph_supported()):
            tell()
            return
        self._are_any.zero_()
        wp.launch(kernels.note_any, len(world_mask), [world_mask, self._are_any], device=device)
        wp.capture_if(self._are_any, on_true=tell)

    def _observe(self, state: newton.State) -> None:
        for command in self.commands.values():
            command.update(state)
        used = {id(measured) for group in self.observations.values() for measured in group.measured}
        for measured in self._measured:
            if id(measured) in used:
                measured.quantity.measure(state, measured.values)
        for group in self.observations.values():
            group.compose(group.values, self._is_due, self._is_new, keeps=True)

    def _place(self, name: str) -> TaskPlace:
        return TaskPlace(self._host, self.worlds, name, self._measured, self.commands, self._claims, self.actions)

    def _make_all(self, kind: Any, table: str, choices: Mapping[str, ComponentConfig]) -> dict[str, Any]:
        return {label: self._make(kind, table, label, choice) for label, choice in choices.items()}

    def _make(self, kind: Any, table: str, label: str, choice: ComponentConfig) -> Any:
        where = f"{table}.{label}"
        return make_term(self._host, kind, choice, self._place(where), where, f"task.{where}")

    @staticmethod
    def _steps(length: float | None, control_dt: float) -> int:
        if length is None:
            return 0
        steps = round(length / control_dt)
        if steps < 1 or abs(steps * control_dt - length) > 1e-6 * length:
            raise ConfigError(
                f"episode_length: {length:g} s is no whole number of control steps of {control_dt:g} s; use"
                f" {max(1, steps) * control_dt:g}"
            )
        return steps


def _flags(events: Iterable[Event]) -> int:
    """Return the flags of `newton.ModelFlags` of what events change."""
    names = {name for event in events for name in event.model_changes}
    return sum(int(newton.ModelFlags[name]) for name in names)


@attrs.define(eq=False)
class _Timer:
    """Random times of an event or a command in each world."""

    place: TaskPlace
    term: Any
    period: tuple[float, float]
    draws: Draws = attrs.field(init=False)
    left: wp.array = attrs.field(init=False)
    due: wp.array = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.draws = self.place.draws("period")
        self.left = wp.zeros(self.place.world_count, dtype=float, device=self.place.device)
        self.due = wp.zeros(self.place.world_count + 1, dtype=bool, device=self.place.device)

    def draw(self, world_mask: wp.array[wp.bool]) -> None:
        inputs = [world_mask, *self.draws.arguments, *self.period, self.left]
        wp.launch(kernels.draw_times, self.place.world_count, inputs, device=self.place.device)

    def count_down(self, dt: float) -> None:
        inputs = [*self.draws.arguments, *self.period, dt, self.left, self.due]
        wp.launch(kernels.take_due, self.place.world_count, inputs, device=self.place.device)
