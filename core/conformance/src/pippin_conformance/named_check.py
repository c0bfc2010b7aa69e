"""Check of a plugin: a promise, and the function that checks it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import attrs


@attrs.frozen(kw_only=True)
class Check:
    """A promise of plugins, and the function that checks it."""

    name: str
    """Name of the check, as in `expected_failures`."""

    promise: str
    """The promise, in one paragraph."""

    run: Callable[[Any], None]
    """For the core: raises `PluginError` if the promise is broken, `NotApplicableError` if it is not made."""


def check(run: Callable[[Any], None]) -> Check:
    """Return the check of a function `check_NAME`, with its docstring as the promise.

    Args:
        run: Raises `PluginError` if the promise is broken. It gets the runs of the plugin's simulations, and
            `runs.subject`, the plugin itself.
    """
    promise = " ".join((inspect.getdoc(run) or "").split())
    return Check(name=run.__name__.removeprefix("check_"), promise=promise, run=run)
