"""Outcomes of a check: a result, or the reason why it does not apply."""

from __future__ import annotations

from typing import Literal

import attrs


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
