"""Configurations of terms that a function of the user computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from pippin_task import RewardConfig, TerminationConfig

Parameter = bool | int | float | str | tuple[float, ...]


@attrs.frozen(kw_only=True, slots=False)  # so that a configuration may derive from it and from another class
class FunctionConfig:
    """A function `def name(context, out, **parameters)` that launches kernels, and writes `out`.

    It is called while the step is recorded, and again for each step that runs eagerly. It gets the
    `pippin_task.TermContext` of its term, whose `simulation.state` is the state after the control step.
    """

    function: str
    """The function as `module:function`; Python must find the module."""

    parameters: Mapping[str, Parameter] = attrs.field(factory=dict)
    """Arguments of the function by name."""

    is_capturable: bool = True
    """Whether the calls may be recorded; if not, the whole task runs eagerly in each step."""


def _are_distinct(instance: Any, attribute: attrs.Attribute[Any], value: tuple[str, ...]) -> None:
    if not value or len(set(value)) < len(value):
        raise ValueError(f"'labels' must be different names, at least one: {list(value)}")


@attrs.frozen(kw_only=True)
class FunctionQuantityConfig(FunctionConfig):
    """A quantity that a function `def name(context, out, **parameters)` measures: `out` has shape [worlds, labels]."""

    implementation = ".terms:FunctionQuantity"

    labels: tuple[str, ...] = attrs.field(default=("0",), validator=_are_distinct)
    """A name for each number of a world; `["x", "y", "z"]` for a vector."""

    unit: str = "1"
    """Unit of the numbers."""


@attrs.frozen(kw_only=True)
class FunctionRewardConfig(FunctionConfig, RewardConfig):
    """A reward that a function `def name(context, out, **parameters)` computes: `out` has shape [worlds]."""

    implementation = ".terms:FunctionReward"


@attrs.frozen(kw_only=True)
class FunctionTerminationConfig(FunctionConfig, TerminationConfig):
    """A termination that a function `def name(context, out, **parameters)` decides: `out` has shape [worlds]."""

    implementation = ".terms:FunctionTermination"
