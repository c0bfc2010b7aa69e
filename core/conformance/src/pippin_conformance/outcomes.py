"""Checks of a plugin and their outcomes: a promise with the function that checks it, its result, and the error if some
failed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal

import attrs
from pippin import PluginError


class NotApplicableError(Exception):
    """The plugin does not make the promise; the text is the reason why there is nothing to check."""


@attrs.frozen(kw_only=True)
class CheckResult:
    """Result of one check of a plugin."""

    check: str
    """The name of the check."""

    outcome: Literal["passed", "failed", "expected failure", "not applicable"]
    """Outcome; a check that was expected to fail and passes has "failed"."""

    reason: str = ""
    """Reason for the outcome: the fault, why the failure was expected, or why there was nothing to check."""

    error: Exception | None = None
    """The exception of a check that failed."""

    seconds: float = 0.0
    """Time that it took [s]; the first check that uses a run waits for it, and others find it done."""


def check_name(family: str, name: str) -> str:
    """Return the name of the check of one feature, tree, observable or change."""
    return f"{family}_{name.replace(' ', '_')}"


def result_of(name: str, check: Callable[[], None]) -> CheckResult:
    """Run a check, and return its result."""
    try:
        check()
    except NotApplicableError as nothing:
        return CheckResult(check=name, outcome="not applicable", reason=str(nothing))
    except Exception as error:  # a plugin may raise anything
        return CheckResult(check=name, outcome="failed", reason=str(error) or type(error).__name__, error=error)
    return CheckResult(check=name, outcome="passed")


def raise_failed(results: list[CheckResult]) -> list[CheckResult]:
    """Return the results if no check failed.

    Raises:
        PluginError: Checks failed; at least one line for each.
    """
    failed = [result for result in results if result.outcome == "failed"]
    if failed:
        raise PluginError("\n".join(f"{result.check}: {result.reason}" for result in failed)) from failed[0].error
    return results


@attrs.frozen(kw_only=True)
class Check:
    """A promise of plugins, and the function that checks it."""

    name: str
    """Name of the check, as in `expected_failures`."""

    promise: str
    """The promise, in one paragraph."""

    run: Callable[[Any], None]
    """For the core: raises `PluginError` if the promise is broken, `NotApplicableError` if it is not made."""

    seconds: float = 0.1
    """About the time that it takes alone, after the imports, with a light solver [s]: 0.1 for a small simulation."""


def check(run: Callable[[Any], None], seconds: float = 0.1) -> Check:
    """Return the check of a function `check_NAME`, with its docstring as the promise.

    Args:
        run: Raises `PluginError` if the promise is broken. It gets the runs of the plugin's simulations, and
            `runs.subject`, the plugin itself.
        seconds: About the time that it takes alone [s].
    """
    promise = " ".join((inspect.getdoc(run) or "").split())
    return Check(name=run.__name__.removeprefix("check_"), promise=promise, run=run, seconds=seconds)
