"""The task of a simulation: its terms in order, and episode statistics. All of it may be recorded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import ConfigError, Host, hookimpl

from pippin_task.config import TaskConfig

from . import kernels
from .all_terms import AllTerms, release_term
from .context import TermContext
from .delays import Timer
from .episodes import EpisodeBuffers
from .score import Score
from .terms import Command, Event, Term


class Task:
    """The component that makes a simulation an environment: `Simulation.task`.

    One control step: the action's targets, the physics, the sensors; then terminations and rewards of the new state;
    the reset of the worlds whose episode ended; and the observations from which the next action follows.

    Args:
        config: The `[task]` table.
    """

    def __init__(self, config: TaskConfig) -> None:
        self.config = config
        self.notes: list[str] = []
        self._bound: Sequence[Term] = ()
        pushes = any(getattr(each.config, "adds_forces", False) for each in config.events.values())
        #: For the core: hooks that the task leaves out, since none of its events needs them.
        self.unused_hooks: tuple[str, ...] = () if pushes else ("before_substep",)
        #: For the core: whether the policy acts, shape [1]; None without a policy.
        self.policy_switch: wp.array | None = None

    @hookimpl
    def bind(self, simulation: Host) -> None:
        """Make all terms, and the arrays that they share.

        Raises:
            ConfigError: A term is wrong for this simulation, or the solver cannot take over what an event changes.
            PluginError: A term raised another error.
        """
        config, count, device = self.config, simulation.world_count, simulation.device
        named = {getattr(each.config, "of", None) for each in config.curricula.values()}
        choices = config.rewards.items()
        rewards = {label: each for label, each in choices if each.config.weight or f"rewards.{label}" in named}
        rate = simulation.control_dt if config.reward_rate == "second" else 1.0
        weights = [rate * choice.config.weight for choice in rewards.values()]
        #: The arrays that terms share: the action, rewards and ends, and statistics of episodes.
        truncates = [getattr(each.config, "truncates", False) for each in config.terminations.values()]
        self.episodes = EpisodeBuffers(count, device, weights, truncates, tuple(config.metrics))
        #: The worlds that the host resets at the end of a step, shape [worlds + 1].
        self.ended_worlds = self.episodes.ended
        self._host = simulation
        self._terms = terms = AllTerms(attrs.evolve(config, rewards=rewards), simulation, self.episodes)
        self._bound = terms.every
        #: The actions and commands by label.
        self.actions, self.commands = terms.actions, terms.commands
        #: For the core: whether a user holds each command, shape [1], and the numbers that it has then, by label.
        self.command_holds = {
            label: (wp.zeros(1, dtype=bool, device=device), wp.zeros_like(each.value))
            for label, each in self.commands.items()
        }
        #: The groups of observations by name.
        self.observations = terms.observations
        #: The rewards, terminations and events by label. A reward of weight zero is left out unless a
        #: curriculum names it.
        self.rewards, self.terminations, self.events = terms.rewards, terms.terminations, terms.events
        #: The curricula and the metrics by label.
        self.curricula, self.metrics = terms.curricula, terms.metrics
        #: For the core: the symmetries by label.
        self.mirrors = terms.mirrors
        #: Control steps after which an episode is truncated; 0 for never.
        self.episode_steps = _steps(config.episode_length, simulation.control_dt)
        timed = chain(self.events.values(), self.commands.values())
        self._timers = [Timer(term) for term in timed if getattr(term.config, "period", None) is not None]
        self._factor = wp.zeros(count, dtype=float, device=device)
        self._refuse_changes()
        everywhere = wp.full(count + 1, value=True, dtype=bool, device=device)
        self._apply_at_startup(everywhere)
        for curriculum in self.curricula.values():
            curriculum.update(self.episodes.finished)
        self.reset_worlds(everywhere)
        self._write_observations(simulation.state)
        self.episodes.finish_step()  # else the next reading would replace the first one, as after a reset

    def context(self, name: str) -> TermContext:
        """For the core: return the simulation as a term of a name sees it."""
        return self._terms.context(name)

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
        """Whether events or a curriculum change the start of episodes; then the host resets all worlds at first."""
        places = self._host.services.places
        return bool(self._events_of("reset")) or (places is not None and places.are_changed)

    @property
    def is_capturable(self) -> bool:
        """Whether all terms may be recorded."""
        return self.eager_reason is None

    @property
    def eager_reason(self) -> str | None:
        """The terms that may not be recorded."""
        terms = [term for term in self._terms.every if not term.is_capturable]
        return ", ".join(f"task.{term.context.name} ({type(term).__name__})" for term in terms) or None

    @hookimpl
    def start_step(self) -> None:
        """Set the targets of this control step."""
        self.episodes.due.fill_(True)
        self._terms.act()

    @hookimpl
    def before_substep(self, state: newton.State, dt: float) -> None:
        """Add the forces of events to those of a substep."""
        for event in self.events.values():
            event.add_forces(state, dt)

    @hookimpl
    def end_step(self, state: newton.State, dt: float) -> None:
        """Judge the state after the control step, and mark the worlds to reset."""
        episodes = self.episodes
        self._terms.quantities.measure(state)
        for row, termination in enumerate(self.terminations.values()):
            termination.evaluate(episodes.termination_terms[row])
        self._host.services.mark_diverged(episodes.diverged)
        episodes.judge(self.episode_steps)
        for row, (label, reward) in enumerate(self.rewards.items()):
            reward.evaluate(episodes.reward_terms[row])
            for factor in self._terms.factors[label]:
                factor.evaluate(self._factor)
                inputs = [factor.config.weight, self._factor, episodes.reward_terms[row]]
                wp.launch(kernels.multiply, len(self._factor), inputs, device=episodes.device)
        for row, metric in enumerate(self.metrics.values()):
            metric.evaluate(episodes.metric_terms[row])
        episodes.end(self.config.autoreset)
        for curriculum in self.curricula.values():
            curriculum.update(episodes.finished)
        self._run_timers(dt)
        self._write_final_observations(state)
        self._run_events(state)

    @hookimpl
    def initialize_worlds(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Put back what interval events changed in the masked worlds, and change their start at random."""
        passed, events = self._events_of("interval"), self._events_of("reset")
        for event in passed:
            event.restore(world_mask)
        for event in events:
            event.apply(state, world_mask)
        self._notify_solver([*passed, *events], world_mask)

    @hookimpl
    def reset_worlds(self, world_mask: wp.array[wp.bool]) -> None:
        """Begin an episode in the masked worlds."""
        self.episodes.begin(world_mask)
        self._terms.reset(world_mask)
        for timer in self._timers:
            timer.draw(world_mask)
        for command in self.commands.values():
            command.resample(world_mask)

    @hookimpl
    def observe(self, state: newton.State) -> None:
        """Write the observations of the state from which the next step starts: of all worlds, or of reset ones."""
        self._write_observations(state)
        self.episodes.finish_step()

    @hookimpl
    def close(self) -> None:
        """Let the terms go of each other: what they measured last stays readable."""
        for term in self._bound:
            release_term(term)

    def score(self) -> dict[str, Any]:
        """Return how the episodes of all worlds went that have ended so far; waits for the device.

        `episodes` counts them; `mean_return`, `std_return` and `mean_length` [control steps] are None without any,
        and `mean_return_half_width`, that of the 95 % interval of the mean, without two. `terminated`, `truncated` and
        `diverged` count their ends, `timed_out` the truncated ones without a termination, `terminations` the ends at
        which each one held, `rewards` are the means of the sums of each weighted reward, and `metrics` those of the
        metrics at the end of episodes, as `mean` and `half_width`. `unfinished` tells the same of the others.
        """
        return self.sums.plain()

    @property
    def sums(self) -> Score:
        """For the core: the sums that the score is computed from."""
        return Score.of(self.episodes, tuple(self.rewards), tuple(self.terminations), tuple(self.metrics))

    @property
    def curriculum_means(self) -> dict[str, float]:
        """For the core: the mean over the worlds of each number of the curricula, by label; waits for the device."""
        means = {label: (each.labels, each.value.numpy().mean(axis=0)) for label, each in self.curricula.items()}
        return {
            label if len(names) == 1 else f"{label}/{name}": float(mean)
            for label, (names, values) in means.items()
            for name, mean in zip(names, values, strict=True)
        }

    def raise_errors(self) -> None:
        """Raise once if a reward was not finite in a world whose state is; the simulation can continue.

        Raises:
            SimulationError: Names the term and the world.
        """
        self.episodes.raise_errors(list(self.rewards))

    def reseed(self, seeds: np.ndarray, worlds: np.ndarray | None = None) -> None:
        """Set the `seeds` of the boolean mask `worlds`, or of all, shape [worlds] each, and begin their draws anew."""
        self._host.seeds.reseed(seeds, worlds)

    def _run_timers(self, dt: float) -> None:
        for timer in self._timers:
            timer.count_down(dt)
            if isinstance(timer.term, Command):
                timer.term.resample(timer.due)

    def _run_events(self, state: newton.State) -> None:
        """Apply the events that are due, but not where an episode has ended: its last state is shown until a reset."""
        for timer in self._timers:
            if isinstance(timer.term, Event):
                if self.config.autoreset != "same-step":  # otherwise no world waits
                    inputs = [timer.due, self.episodes.waiting, timer.due]
                    wp.launch(kernels.leave_out, self.episodes.count, inputs, device=self.episodes.device)
                timer.term.apply(state, timer.due)
                if timer.term.moves_bodies:
                    self._host.services.update_from_joints(timer.due)
                self._notify_solver([timer.term], timer.due)

    def _events_of(self, when: str) -> list[Event]:
        return [event for event in self.events.values() if event.config.when == when]

    def _refuse_changes(self) -> None:
        """Refuse events whose changes of the model the solver does not take over, and run eagerly if it does."""
        changing = {label: event for label, event in self.events.items() if event.model_changes}
        for label, event in changing.items():
            if fault := self._host.services.model_change_fault(_flags([event])):
                raise ConfigError(f"events.{label}: {fault}; choose another solver, or leave the event out")
            if event.config.when == "interval" and type(event).restore is Event.restore:
                raise ConfigError(
                    f"events.{label}.when: what {type(event).__name__} changes would outlive a reset, as it has no"
                    ' `restore`; use when = "reset", or give the class one'
                )
            if event.config.when != "startup":
                self._host.services.model_changes.is_told_in_steps = True
                if self._host.services.solver_eager_reason is not None:
                    event.is_capturable = False  # the solver has to be notified

    def _apply_at_startup(self, everywhere: wp.array[wp.bool]) -> None:
        events = self._events_of("startup")
        for event in events:
            event.apply(self._host.state, everywhere)
        if flags := _flags(events):
            self._host.notify_model_changed(flags)
        if any(event.moves_bodies for event in events):
            self._host.services.written.add("joints", everywhere)

    def _notify_solver(self, events: Sequence[Event], world_mask: wp.array[wp.bool]) -> None:
        if flags := _flags(events):
            self._host.services.notify_solver(flags, world_mask)

    def _write_final_observations(self, state: newton.State) -> None:
        """Write what the policy would see if no world were reset: commands and times are past those of the rewards."""
        if later := [each for each in self._terms.observed_quantities if each.advances]:
            self._update_commands(state)
        for quantity in later:
            quantity.measure(state, quantity.values)
        for group in self.observations.values():
            group.show_final(self.episodes)

    def _update_commands(self, state: newton.State) -> None:
        for label, command in self.commands.items():
            command.update(state)
            is_held, kept = self.command_holds[label]
            wp.launch(kernels.hold_command, kept.shape, [is_held, kept, command.value], device=kept.device)

    def _write_observations(self, state: newton.State) -> None:
        self._update_commands(state)
        for quantity in self._terms.observed_quantities:
            quantity.measure(state, quantity.values)
        for group in self.observations.values():
            group.show(self.episodes)


def _steps(length: float | None, control_dt: float) -> int:
    if length is None:
        return 0
    steps = round(length / control_dt)
    if steps >= 2**31:
        raise ConfigError(
            f"episode_length: {length:g} s are {steps} control steps, and a device counts to 2**31; leave it out for"
            " episodes without an end"
        )
    if steps < 1 or abs(steps * control_dt - length) > 1e-6 * length:
        raise ConfigError(
            f"episode_length: {length:g} s is not a whole number of control steps of {control_dt:g} s; use"
            f" {max(1, steps) * control_dt:g}"
        )
    return steps


def _flags(events: Iterable[Event]) -> int:
    names = {name for event in events for name in event.model_changes}
    return sum(int(newton.ModelFlags[name]) for name in names)
