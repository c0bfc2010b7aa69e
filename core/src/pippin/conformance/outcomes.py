"""Outcomes of a check: a result, or the reason why it does not apply."""

from __future__ import annotations

from typing import Literal

import attrs

__all__ = ["CheckResult", "NotApplicableError"]


class NotApplicableError(Exception):
    """The plugin makes no such promise; the text says why there is nothing to try."""


@attrs.frozen(kw_only=True)
class CheckResult:
    """Result of one check of a plugin."""

    check: str
    """The name of the check."""

    outcome: Literal["passed", "failed", "expected failure", "not applicable"]
    """A check that is expected to fail, and does not, has failed."""

    reason: str = ""
    """Reason for the outcome: what is wrong, why that was expected, or why there was nothing to try."""

    error: Exception | None = None
    """The exception of a check that failed."""
