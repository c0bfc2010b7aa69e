"""Walker: makes calls on a bed, and finds those that are silent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pippin.errors import PippinError

Motion = Mapping[str, list[np.ndarray]]

ERRORS = (PippinError, AttributeError)
"""Errors of refused calls; an array of targets that is replaced is an AttributeError."""


class Walker:
    """Makes calls one by one.

    Args:
        bed: The simulation.
        tolerance: Largest difference of a world that was not asked; 0 means that all its bits are the same.
    """

    def __init__(self, bed: Any, tolerance: float = 0.0) -> None:
        self._bed, self._tolerance = bed, tolerance
        #: Number of calls that were accepted, refused, and accepted without an effect for a documented reason.
        self.counts = {"accepted": 0, "refused": 0, "none": 0}

    def make(self, call: Any) -> None:
        """Make a call, and the steps after it.

        Raises:
            AssertionError: The call was silent, changed what nobody asked for, or was refused without a cure.
        """
        bed = self._bed
        before, alone = bed.bits(), bed.twin()
        null = self._of_null(call, alone)
        try:
            call.act()
        except ERRORS as error:
            self.counts["refused"] += 1
            self._refused(call, error, before, alone)
            return
        assert not call.is_wrong, f"{call.name}: it is wrong, and was accepted"
        self.counts["accepted"] += 1
        _ = bed.simulation.state
        assert not (text := call.check()), f"{call.name}: {text}"
        bed.step()
        assert not (text := call.later()), f"{call.name}: later, {text}"
        self._compare(call, alone, null, bed.motion())

    def _of_null(self, call: Any, alone: Motion) -> Motion:
        if call.null is None or call.is_wrong:
            return alone
        try:
            return self._bed.twin(call.null)
        except ERRORS:
            return alone

    def _refused(self, call: Any, error: Exception, before: Any, alone: Motion) -> None:
        text = str(error)
        lacking = [word for word in call.names if word not in text]
        assert not lacking, f"{call.name}: its error does not name {lacking}: {text}"
        assert ";" in text or "," in text, f"{call.name}: its error names no cure: {text}"
        differences = self._bed.bits().differences(before)
        assert not differences, f"{call.name}: it was refused ({text}), and left other bits in {differences}"
        self._bed.step()
        odd = self._odd_worlds(alone, self._bed.motion(), self._tolerance)
        assert not odd, f"{call.name}: it was refused ({text}), and then worlds moved in another way: {odd}"

    def _compare(self, call: Any, alone: Motion, null: Motion, after: Motion) -> None:
        touched = self._odd_worlds(alone, after, self._tolerance)
        strangers = {world: names for world, names in touched.items() if world not in call.worlds}
        strangers = {world: names for world, names in strangers.items() if world not in call.rewritten}
        far = max((np.abs(a - b).max(initial=0.0) for w in strangers for a, b in _pairs(alone, after, w)), default=0.0)
        assert not strangers, f"{call.name}: worlds that nobody asked moved in another way, by {far:.1e}: {strangers}"
        assert all(np.isfinite(rows).all() for each in after.values() for rows in each), f"{call.name}: not finite"
        moved = self._odd_worlds(null, after, 0.0)
        for world in sorted(call.worlds - moved.keys()):
            reason = call.none(world)
            assert reason, f"{call.name}: accepted, and world {world} moves as without it"
            self.counts["none"] += 1

    def _odd_worlds(self, one: Motion, other: Motion, tolerance: float) -> dict[int, list[str]]:
        """Return the worlds that differ, with the arrays in which they do."""
        found: dict[int, list[str]] = {}
        for name in one:
            for world, (left, right) in enumerate(zip(one[name], other[name], strict=True)):
                if _differs(left, right, tolerance):
                    found.setdefault(world, []).append(name)
        return found


def _differs(left: np.ndarray, right: np.ndarray, tolerance: float) -> bool:
    if not tolerance:
        return left.tobytes() != right.tobytes()
    return bool(np.abs(left - right).max(initial=0.0) > tolerance)


def _pairs(one: Motion, other: Motion, world: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the rows of a world in two motions."""
    return [(one[name][world], other[name][world]) for name in one]
