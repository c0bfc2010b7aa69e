"""Parts of the table of a solver: numbers, which the asset or Newton may give, determinism, and other solvers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
from attrs.validators import optional

if TYPE_CHECKING:
    import warp as wp


def number(default: Any, *validators: Any) -> Any:
    """Return a field with a default and with validators of its value: `number(0.2, non_negative)`."""
    return attrs.field(default=default, validator=list(validators))


def inherited(*validators: Any) -> Any:
    """Return a field that is None if the file does not set it; then the asset gives the value, or else Newton.

    Args:
        *validators: Validators of a value that is given.
    """
    return attrs.field(default=None, validator=[optional(validator) for validator in validators])


def deterministic_mode(deterministic: bool | None) -> wp.DeterministicMode | None:
    """Return the argument of Newton's solvers for the key `deterministic`; None leaves the choice to Newton."""
    import warp as wp

    if deterministic is None:
        return None
    return wp.DeterministicMode.RUN_TO_RUN if deterministic else wp.DeterministicMode.NOT_GUARANTEED


class SubSolver:
    """The component of a solver that stands in another one's table, `[solver.rigid]` for example.

    The host makes it and passes it to the constructor of the solver around it. It calls none of its hooks: those that
    matter are the other solver's to call, each with the part of the model that it gives away.

    Args:
        name: The component in errors, such as `solver.rigid`.
        component: The plugin object.
        declaration: Its `pippin.support.declaration.Declaration`.
        attributes: Its attributes after the solver was built, `pippin.components.runtime_attributes.RuntimeAttributes`.
        hooks: Its answers, by hook; each takes those of its arguments that the component asks for.
        type_name: Its `type` in the table.
        catalog: The installed plugins, for errors that name other solvers.
    """

    def __init__(
        self,
        name: str,
        component: Any,
        declaration: Any,
        attributes: Any,
        hooks: Mapping[str, Callable[..., Any]],
        type_name: str,
        catalog: Any,
    ) -> None:
        self.name, self.component = name, component
        self.declaration, self.attributes = declaration, attributes
        self._hooks, self.type_name, self.catalog = hooks, type_name, catalog

    @property
    def hooks(self) -> frozenset[str]:
        """The names of the hooks that the component answers."""
        return frozenset(self._hooks)

    def answers(self, hook: str) -> bool:
        """Return whether the component answers a hook."""
        return hook in self._hooks

    def call(self, hook: str, **arguments: Any) -> Any:
        """Call a hook of the component with those of the arguments that it asks for; None if it has no answer.

        What it raises names its own table.
        """
        return self._hooks[hook](**arguments) if hook in self._hooks else None
