"""Cases and rows of a self-test: what is checked, and what came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs


class WrongResult(Exception):  # noqa: N818  (what a check found, not an error of the program)
    """Two results differ; the text names the array, the world, the step and both values."""


@attrs.frozen(kw_only=True)
class Case:
    """A group of checks with one solver on one device."""

    group: str
    checks: tuple[str, ...]
    device: str
    is_quick: bool
    solver: str = ""
    robot: str = ""

    @property
    def is_alone(self) -> bool:
        """Whether there is no other device to compare with, as on a CPU."""
        return self.device == "cpu"


@attrs.frozen(kw_only=True)
class Row:
    """Outcome of one check, or figures of one measurement."""

    group: str
    check: str
    outcome: Literal["passed", "wrong", "failed", "skipped", "measured"]
    """A check that cannot end, such as one that crashes its process, has "failed"."""

    detail: str = ""
    seconds: float = 0.0
    """Duration, with the compilation of kernels [s]."""

    figures: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def is_fault(self) -> bool:
        """Whether the self-test fails."""
        return self.outcome in ("wrong", "failed")
