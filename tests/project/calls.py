"""Counting of the calls of Pippin's own Python functions: a measure of what a hot path costs the host, and exact."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[2]

_MEMBERS = tuple(str(ROOT / folder) for folder in ("core", "solvers", "actuators", "sensors"))
"""Folders of the workspace that have packages."""


def calls_of(function: Callable[[], Any]) -> list[str]:
    """Return the calls of functions of the workspace's packages while a function runs, in their order, by name.

    Comprehensions, lambdas and the resumptions of generators count as Python counts them; functions of tests and of
    other distributions do not.
    """
    calls: list[str] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_MEMBERS) and "/src/" in code.co_filename:
            calls.append(code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return calls
