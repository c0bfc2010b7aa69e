"""The loss of each world: quantities of the states of a rollout, minus their targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ComponentConfig, ConfigError, Host
from pippin_task import EpisodeBuffers, TermContext, make_term

from pippin_optimise.config import LossConfig

from .kernels import FUNCTIONS, add_term


class Loss:
    """The terms of the loss in a simulation.

    Raises:
        ConfigError: A quantity does not fit the simulation, or is not differentiable.
        PluginError: A quantity cannot be loaded, or is broken.
    """

    def __init__(self, terms: Mapping[str, LossConfig], simulation: Host, steps: int) -> None:
        self._count, self._device = simulation.world_count, simulation.device
        self._terms = [_Term(name, each, simulation, steps) for name, each in terms.items()]

    def new(self) -> wp.array:
        """Return an array for the losses, shape [worlds], which is zero and has a gradient."""
        return wp.zeros(self._count, dtype=float, device=self._device, requires_grad=True)

    def add(self, state: newton.State, number: int, loss: wp.array) -> None:
        """Add what the state after a control step, from 0 on, contributes to the losses; on a tape if there is one."""
        for term in self._terms:
            term.add(state, number, loss)


class _Term:
    """One term of the loss."""

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
