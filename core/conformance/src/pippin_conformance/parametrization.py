"""Checks as pytest tests."""

from __future__ import annotations

import pytest

from .suite import Conformance


def parametrize(conformance: Conformance) -> pytest.MarkDecorator:
    """Return a decorator that runs a test once for each check; the test calls its argument `check`.

    An expected failure becomes an xfail; if the check passes instead, the test fails. A check that does not apply is
    skipped.

    Args:
        conformance: The checks of one plugin.
    """
    return pytest.mark.parametrize("check", [_Test(conformance, name) for name in conformance.checks], ids=str)


class _Test:
    def __init__(self, conformance: Conformance, name: str) -> None:
        self._conformance, self._name = conformance, name

    def __str__(self) -> str:
        return self._name

    def __call__(self) -> None:
        result = self._conformance.run(self._name)
        if result.outcome == "expected failure":
            pytest.xfail(result.reason)
        if result.outcome == "not applicable":
            pytest.skip(result.reason)
        if result.error is not None:
            raise result.error
