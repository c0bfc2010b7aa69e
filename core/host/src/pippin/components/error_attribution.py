"""Errors of plugins: they name the component, the hook, the distribution and the place in the file."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import attrs
from pippin.config.tree import Node
from pippin.errors import ConfigError, PippinError, PluginError, SimulationError

_LONGEST = 300
"""Longest text of an exception in a message; the exception itself is the cause of the error."""

_REFUSALS: dict[str, tuple[type[Exception], ...]] = {"build_solver": (NotImplementedError, ValueError)}
"""Exceptions by which Newton's constructors refuse a model or an argument: faults of the file, not of the plugin."""


@attrs.frozen(kw_only=True, eq=False)
class ErrorAttribution:
    """The component that is named if its code raises.

    An exception becomes a `PluginError`, which has it as its `__cause__`. A `ConfigError` stays one: it is about the
    user's file, and its faults get the place of the component's table in front.
    """

    owner: str
    """The registered name of the component, such as `actuators:legs`."""

    place: str
    """The beginning of the component's faults: `actuators.legs.`, or the prim that describes the component."""

    source: str
    """The plugin and its distribution, or the class of an object made in Python."""

    package: str
    """The top-level package of the component's class."""

    tree: Node
    """The tree of the configuration, which knows file and line of each key."""

    def guarded(self, hook: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose exceptions name the component and the hook."""

        @functools.wraps(function)
        def call(*args: Any, **arguments: Any) -> Any:
            try:
                return function(*args, **arguments)
            except Exception as error:
                raise self._judged(hook, error) from _cause(error)

        return call

    def guarded_wrapper(self, hook: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function of a wrapper, a generator function, whose exceptions name the component and the hook."""

        @functools.wraps(function)
        def wrap(*args: Any, **arguments: Any) -> Generator[None, Any, Any]:
            try:
                return (yield from function(*args, **arguments))
            except Exception as error:
                raise self._judged(hook, error) from _cause(error)

        return wrap

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        """Let what a block raises name the component and `what` it was asked for."""
        try:
            yield
        except Exception as error:
            raise self._judged(what, error) from _cause(error)

    def _judged(self, what: str, error: Exception) -> PippinError:
        """Return the error to raise for an exception: itself, with its place, if it is one of Pippin's."""
        if isinstance(error, _REFUSALS.get(what, ())):
            refused = ConfigError(self.tree.placed(f"{self._key}: refused this model or these settings: {error}"))
            refused.owner = self.owner
            return refused
        if not isinstance(error, PippinError):
            text = textwrap.shorten(f"{type(error).__name__}: {error}".rstrip(": "), _LONGEST, placeholder=" ...")
            where = ", ".join([self.source, *_line_in(self.package, error.__traceback__)])
            fault = f"{self._key}: {what} raised {text} ({where}); correct the plugin, or leave it out"
            raised = PluginError(self.tree.placed(fault))
            raised.owner = self.owner
            return raised
        if error.owner is None:
            error.owner = self.owner
            self._place(what, error)
        return error

    def _place(self, what: str, error: PippinError) -> None:
        if isinstance(error, ConfigError):
            own = self.place, f"{self._key}:"  # code that serves several callers may have stated them
            error.restate(lambda fault: self.tree.placed(fault if fault.startswith(own) else f"{self.place}{fault}"))
        elif isinstance(error, SimulationError):
            error.add_note(f"raised in {what} of {self.owner}")
        elif not str(error).startswith(self.owner):
            error.restate(lambda fault: self.tree.placed(f"{self._key}: {what}: {fault} ({self.source})"))

    @property
    def _key(self) -> str:
        return self.place.rstrip(".: ")


def _cause(error: Exception) -> BaseException | None:
    """Return the cause of the error that is raised for an exception; an error of Pippin keeps its own."""
    return error.__cause__ if isinstance(error, PippinError) else error


def _line_in(package: str, trace: TracebackType | None) -> Iterator[str]:
    """Yield file and line of the innermost call inside a package; nothing if the traceback has none."""
    found = None
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == package:
            found = trace
        trace = trace.tb_next
    if found is not None:
        yield f"{Path(found.tb_frame.f_code.co_filename).name}:{found.tb_lineno}"
