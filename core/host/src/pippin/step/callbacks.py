"""Callbacks: functions that a simulation calls at events and in the phases of a step, each with a handle."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any, Literal, get_args

import attrs
from pippin.binding import closed
from pippin.errors import SimulationError
from pippin.spelling import did_you_mean

if TYPE_CHECKING:
    import newton

Phase = Literal["model_ready", "simulation_ready", "after_actuators", "before_substep", "after_step", "stopped"]

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "model_ready": ("model",),
    "simulation_ready": ("simulation",),
    "after_actuators": ("state", "control", "dt"),
    "before_substep": ("state", "control", "dt"),
    "after_step": ("simulation",),
    "stopped": ("simulation",),
}
"""The arguments that a callback of each phase may name, as a hook does."""

_RECORDED = ("after_actuators", "before_substep")


@attrs.define(eq=False, kw_only=True)
class Callback:
    """A registered callback, and the handle that removes it."""

    phase: Phase
    """The event, or the phase of the step, at which it is called."""
    name: str
    """Name for errors, traces and profiles."""
    order: int
    """Place among the callbacks of the phase: lower ones are called first."""
    is_capturable: bool
    """Whether the call may be recorded into a graph."""
    _find: Callable[[], Callable[..., Any] | None] = attrs.field(alias="find")
    _owner: weakref.ref[Callbacks] = attrs.field(alias="owner")

    @property
    def function(self) -> Callable[..., Any] | None:
        """The function; None if it was a method of an object that no longer exists."""
        return self._find()

    def remove(self) -> None:
        """Remove the callback; a second call does nothing."""
        owner = self._owner()
        if owner is not None:
            owner.remove(self)

    def bind(self, **arguments: Any) -> Callable[[], None]:
        """Return the call with those of `arguments` that the function names; a call to a dead object does nothing."""
        return partial(self._call, {name: arguments[name] for name in _names(self.function) if name in arguments})

    def _call(self, arguments: Mapping[str, Any]) -> None:
        function = self.function
        if function is not None:
            try:
                function(**arguments)
            except Exception as error:
                error.add_note(f"raised in callback {self.name} of {self.phase}")
                raise

    def reach(self) -> Any:
        """Return the data that the function can change: its object, or the variables that it refers to."""
        return _reach(self.function)


class Callbacks:
    """The callbacks of one simulation.

    They are called in ascending `order`; callbacks of equal order are called in the order of registration. A method
    does not keep its object alive, and is removed with the object. Functions are kept.
    """

    def __init__(self) -> None:
        self._by_phase: dict[Phase, list[Callback]] = {phase: [] for phase in get_args(Phase)}
        #: Incremented by each change of the callbacks in a recorded step; its graphs are then recorded again.
        self.revision: int = 0
        self._is_closed = False

    def add(
        self,
        phase: Phase,
        function: Callable[..., Any],
        *,
        order: int = 0,
        name: str | None = None,
        is_capturable: bool = True,
    ) -> Callback:
        """Register a function once: a second registration in the same phase returns the same handle.

        Args:
            phase: Time of the call. Events: `model_ready(model)`, after the model and before the solver is built;
                `simulation_ready(simulation)`, after all `bind` hooks and before the first recording;
                `stopped(simulation)`, before components close. Phases of a step:
                `after_actuators(state, control, dt)`, once per physics step; `before_substep(state, control, dt)`,
                before each substep of `dt` [s]; `after_step(simulation)`, after each control step, on the host.
            function: Called with those of these arguments that it names. In `after_actuators` and `before_substep`, an
                `is_capturable` function is recorded with the step, and replayed without Python.
            order: Callbacks of lower order are called first.
            name: The name in the program, by default that of the function.
            is_capturable: Whether the function may be recorded; the host checks this claim.

        Raises:
            SimulationError: The simulation is closed, the phase is unknown, the function needs an argument that the
                phase does not give, or it is registered with another order or `is_capturable`.
        """
        if self._is_closed:
            raise SimulationError(closed("callbacks"))
        if phase not in get_args(Phase):
            raise SimulationError(
                f"callbacks: {phase!r} is not a phase{did_you_mean(phase, ARGUMENTS)}; phases: {', '.join(ARGUMENTS)}"
            )
        if not callable(function):
            raise SimulationError(f"callbacks: expected a function for {phase!r}, got {function!r}; pass one to call")
        name = str(name or getattr(function, "__qualname__", type(function).__qualname__))
        _refuse_arguments(phase, name, function)
        known = next((each for each in self.of(phase) if each.function == function), None)
        if known is None:
            return self._add(phase, function, order, name, is_capturable)
        if (known.order, known.is_capturable) != (order, is_capturable):
            raise SimulationError(
                f"callbacks: {name} is registered for {phase!r} with order={known.order} and"
                f" is_capturable={known.is_capturable}; remove it before it is added in another way"
            )
        return known

    def _add(self, phase: Phase, function: Callable[..., Any], order: int, name: str, is_capturable: bool) -> Callback:
        me: weakref.ref[Callbacks] = weakref.ref(self)
        # Each access makes a new method object; a WeakMethod lives as long as the object of the method.
        find = (
            weakref.WeakMethod(function, lambda _, drop=_drop_dead: drop(me))
            if isinstance(function, MethodType)
            else None
        )
        callback = Callback(
            phase=phase, name=name, order=order, is_capturable=is_capturable, find=find or (lambda: function), owner=me
        )
        self._by_phase[phase].append(callback)
        self._by_phase[phase].sort(key=lambda each: each.order)
        self._note(phase)
        return callback

    def remove(self, callback: Callback) -> None:
        """Remove a callback; an unknown callback is ignored."""
        if callback in self._by_phase[callback.phase]:
            self._by_phase[callback.phase].remove(callback)
            self._note(callback.phase)

    def clear(self) -> None:
        """Remove all callbacks."""
        for callback in [each for added in self._by_phase.values() for each in added]:
            self.remove(callback)

    def close(self) -> None:
        """Let go of all callbacks, which may refer to the simulation, and refuse others: it is closed."""
        self._is_closed = True
        for added in self._by_phase.values():
            added.clear()

    def of(self, phase: Phase) -> Sequence[Callback]:
        """Return the callbacks of a phase, in calling order; later changes show in the same sequence."""
        return self._by_phase[phase]

    def call(self, phase: Phase, **arguments: Any) -> None:
        """Call the callbacks of a phase, all of them even if one raises.

        Args:
            phase: The phase whose callbacks are called.
            **arguments: The values that a callback of this phase may name.

        Raises:
            ExceptionGroup: Two or more callbacks raised; a single exception is raised unchanged.
        """
        errors: list[Exception] = []
        for callback in tuple(self._by_phase[phase]):
            try:
                callback.bind(**arguments)()
            except Exception as error:
                errors.append(error)
        if len(errors) > 1:
            raise ExceptionGroup(f"callbacks of {phase} failed", errors)
        if errors:
            raise errors[0]

    def _note(self, phase: Phase) -> None:
        self.revision += phase in _RECORDED


def _reach(function: Any) -> Any:
    if isinstance(function, partial):
        return {"func": _reach(function.func), "args": function.args, "keywords": function.keywords}
    if isinstance(function, MethodType):
        return function.__self__
    if not inspect.isfunction(function):
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    variables = _Globals(function.__globals__, inspect.getclosurevars(function).globals)
    return {"globals": variables, **cells, "defaults": function.__defaults__}


class _Globals(MutableMapping[str, Any]):
    """The global variables that a function refers to; an assignment rebinds the variable in its module."""

    def __init__(self, module: dict[str, Any], names: Iterable[str]) -> None:
        self._module, self._names = module, tuple(names)

    def __getitem__(self, name: str) -> Any:
        return self._module[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._module[name] = value

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"{name}: a variable is bound again, and never taken away")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def clear(self) -> None:
        """Do nothing: the caller rebinds the variables at once, and other threads may run the function."""


def _drop_dead(owner: weakref.ref[Callbacks]) -> None:
    callbacks = owner()
    if callbacks is not None:
        added = [each for phase in callbacks._by_phase.values() for each in phase]
        for callback in [each for each in added if each.function is None]:
            callbacks.remove(callback)


def _names(function: Callable[..., Any] | None) -> list[str]:
    return [] if function is None else list(inspect.signature(function).parameters)


def _refuse_arguments(phase: Phase, name: str, function: Callable[..., Any]) -> None:
    known = ARGUMENTS[phase]
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in known and parameter.default is parameter.empty:
            raise SimulationError(
                f"callbacks: {name} asks for {parameter.name!r}, which {phase!r} does not give"
                f"{did_you_mean(parameter.name, known)}; it gives: {', '.join(known)}"
            )


class CurrentState:
    """The current state while a hook or callback runs; views read and write this state."""

    def __init__(self) -> None:
        #: The state that was passed to the hook or callback; None between steps.
        self.state: newton.State | None = None

    def during(self, state: newton.State, call: Callable[[], Any]) -> Callable[[], None]:
        """Return a function that makes `call` with `state` as the current state."""

        def run() -> None:
            self.state = state
            try:
                call()
            finally:
                self.state = None

        return run
