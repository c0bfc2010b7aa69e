"""Outcomes of checks: the result of each, and the error if some failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

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
