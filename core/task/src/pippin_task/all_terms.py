"""All terms of a task, made from their tables, and the quantities that they share."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Any

import newton
import warp as wp
from pippin import ComponentConfig, ConfigError, Host, PluginError
from pippin.components import make_part

from pippin_task.config import TaskConfig

from .context import TermContext
from .delays import LateAction
from .episodes import SUCCESS, EpisodeBuffers
from .observations import ObservationGroup
from .symmetry import mirrored_task
from .terms import Action, Command, Curriculum, Event, Metric, Quantity, Reward, Term, Termination

_METHODS = ("add_forces", "apply", "evaluate", "measure", "resample", "reset", "restore", "update")
"""Methods that the task calls."""


def make_term(kind: str, choice: ComponentConfig, context: TermContext, where: str, key: str) -> Any:
    """Return a term, whose exceptions name its key, its distribution and the line of its code.

    Args:
        kind: The kind of term, such as `quantity`.
        choice: The type of the term, and its configuration.
        context: The task and the simulation as the term sees them.
        where: Key of its table, which begins each fault of the configuration.
        key: Its key in the file, for errors of its code.

    Raises:
        ConfigError: The term refuses its configuration.
        PluginError: The plugin cannot be loaded, has another base class, or raises.
    """
    host = context.simulation
    try:
        term = make_part(host, kind, choice, context, owner="task", key=key, methods=_METHODS)
    except ConfigError as error:
        raise ConfigError(*(f"{where}.{fault}" for fault in error.faults)) from error
    plugin = type(term)
    is_labelled = any("labels" in inspect.get_annotations(each) for each in inspect.getmro(plugin))
    if is_labelled and not hasattr(term, "labels"):
        entry = host.catalog.find(kind, choice.type)
        raise PluginError(f"{key}: {entry}: {plugin.__qualname__} has no `labels`; set them in its constructor")
    return term


def release_term(term: Term) -> None:
    """Drop what lets a term refer to itself and to others; it is not called any more."""
    for part, names in ((term, _METHODS), (term.context, ("_measure", "_commands", "_actions"))):
        for name in names:
            vars(part).pop(name, None)


class QuantityCache:
    """The quantities that terms have chosen so far; equal choices share one."""

    def __init__(self) -> None:
        self._quantities: list[tuple[ComponentConfig, Quantity]] = []

    def __iter__(self) -> Iterator[Quantity]:
        return (quantity for _, quantity in self._quantities)

    def quantity(self, choice: ComponentConfig, context: TermContext, where: str) -> Quantity:
        """Return the quantity of a choice, and make it at its first use."""
        for known, quantity in self._quantities:
            if known == choice:
                return quantity
        quantity = make_term("quantity", choice, context, where, f"task.{context.name}.{where}")
        if not hasattr(quantity, "values"):
            shape = (context.world_count, len(quantity.labels))
            quantity.values = wp.zeros(shape, dtype=float, device=context.device)
        self._quantities.append((choice, quantity))
        return quantity

    def measure(self, state: newton.State) -> None:
        """Measure all quantities."""
        for quantity in self:
            quantity.measure(state, quantity.values)


class AllTerms:
    """The terms of a task by label, made in the order in which they may refer to each other.

    Raises:
        ConfigError: A term is wrong for this simulation.
        PluginError: A term raised another error.
    """

    def __init__(self, config: TaskConfig, simulation: Host, episodes: EpisodeBuffers) -> None:
        self._simulation, self._episodes = simulation, episodes
        # The terms that set a target, or change a part of the model, by what they change.
        self._claims: dict[str, str] = {}
        # The numbers that curricula may change, by table and label of their term.
        self._changeable: dict[str, Mapping[str, wp.array]] = {}
        self.quantities = QuantityCache()
        self.commands: dict[str, Command] = {}
        self.actions: dict[str, Action] = {}
        self._make("action", "actions", config.actions, self.actions)
        ends = list(accumulate((len(action.labels) for action in self.actions.values()), initial=0))
        episodes.set_action_width(ends[-1])
        #: The action that takes effect later than it is given; None if it does at once.
        self.late_action: LateAction | None = None
        if config.action_delay[1] and ends[-1]:
            self.late_action = LateAction(config.action_delay, episodes.action, self.context("action"))
        action: Any = episodes.action if self.late_action is None else self.late_action.values
        self._slices: list[Any] = [action[:, first:end] for first, end in pairwise(ends)]
        self._make("command", "commands", config.commands, self.commands)
        self.observations = {
            name: ObservationGroup(name, terms, self.context) for name, terms in config.observations.items()
        }
        self.rewards: dict[str, Reward] = self._make("reward", "rewards", config.rewards)
        #: What multiplies each reward: the reward of its key `times`, that of this one's, and so on.
        self.factors = {label: list(self._factors(label, choice)) for label, choice in config.rewards.items()}
        self.terminations: dict[str, Termination] = self._make("termination", "terminations", config.terminations)
        self.events: dict[str, Event] = self._make("event", "events", config.events)
        self._changeable.update(self._numbers())
        self.curricula: dict[str, Curriculum] = self._make("curriculum", "curricula", config.curricula)
        self.metrics: dict[str, Metric] = self._make("metric", "metrics", config.metrics)
        if SUCCESS in self.metrics and not self.metrics[SUCCESS].is_flag:
            raise ConfigError(
                f"metrics.{SUCCESS}: this label is for a metric that is 0 or 1, such as `within`, and"
                f" {config.metrics[SUCCESS].type!r} is another number; choose another label"
            )
        self.mirrors = {
            label: mirrored_task(each, f"symmetry.{label}", simulation.model, self.observations, self.actions)
            for label, each in config.symmetry.items()
        }
        observed = {id(quantity) for group in self.observations.values() for _, quantity, _, _ in group.parts}
        #: The quantities that observations read.
        self.observed_quantities = [quantity for quantity in self.quantities if id(quantity) in observed]
        tables = (self.actions, self.commands, self.rewards, self.terminations, self.events, self.curricula)
        tables = (*tables, self.metrics)
        #: All terms, quantities included.
        self.every: list[Term] = [*self.quantities, *(term for table in tables for term in table.values())]
        self.every += [factor for factors in self.factors.values() for factor in factors]

    def act(self) -> None:
        """Let each action set its targets."""
        if self.late_action is not None:
            self.late_action.update()
        for action, numbers in zip(self.actions.values(), self._slices, strict=True):
            action.apply(numbers)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Let all terms forget the masked worlds."""
        late = () if self.late_action is None else (self.late_action,)
        for term in (*self.every, *self.observations.values(), *late):
            term.reset(world_mask)

    def _make(
        self, kind: Any, table: str, choices: Mapping[str, ComponentConfig], terms: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        terms = {} if terms is None else terms
        for label, choice in choices.items():
            where = f"{table}.{label}"
            terms[label] = make_term(kind, choice, self.context(where), where, f"task.{where}")
        return terms

    def _factors(self, label: str, choice: ComponentConfig) -> Iterator[Reward]:
        where, factor = f"rewards.{label}", choice
        # A configuration of an earlier plugin, which derives from no class of ours, has no such key.
        while (factor := getattr(factor.config, "times", None)) is not None:
            where += ".times"
            yield make_term("reward", factor, self.context(where), where, f"task.{where}")

    def context(self, name: str) -> TermContext:
        """Return the simulation as a term of a name sees it."""
        quantity = self.quantities.quantity
        shared = (self.commands, self.actions, self._claims, self._changeable)
        return TermContext(self._simulation, self._episodes, name, quantity, *shared)

    def _numbers(self) -> Iterator[tuple[str, Mapping[str, wp.array]]]:
        """Yield the numbers of each term that curricula may change; a reward has its weight for a control step."""
        for row, (label, reward) in enumerate(self.rewards.items()):
            weight: Any = self._episodes.weights[row : row + 1]
            yield f"rewards.{label}", {**reward.numbers, "weight": weight}
        tables = {"commands": self.commands, "actions": self.actions, "events": self.events}
        for table, terms in {**tables, "terminations": self.terminations}.items():
            yield from ((f"{table}.{label}", term.numbers) for label, term in terms.items())
