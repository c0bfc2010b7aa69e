"""Checks as pytest tests."""

from __future__ import annotations

import functools

import pytest

from .suite import Conformance


def parametrize(conformance: Conformance) -> pytest.MarkDecorator:
    """Return a decorator that runs a test once for each check; the test calls its argument `check`.

    An expected failure becomes an xfail; if the check passes instead, the test fails. A check that does not apply is
    skipped.

    Args:
        conformance: The checks of one plugin.
    """
    names = list(conformance.checks)
    return pytest.mark.parametrize("check", [functools.partial(_test, conformance, name) for name in names], ids=names)


def _test(conformance: Conformance, name: str) -> None:
    result = conformance.run(name)
    if result.outcome == "expected failure":
        pytest.xfail(result.reason)
    if result.outcome == "not applicable":
        pytest.skip(result.reason)
    if result.error is not None:
        raise result.error
