"""Selection of the values that vary: unobservable ones are reset, and restored if the fit got worse."""

from __future__ import annotations

import attrs
import numpy as np

from .identifiability import Identifiability, Minimum
from .journal import FitState, ValueReset
from .problem import FitProblem
from .verdicts import CHI_SQUARED, CONTRADICTED, UNOBSERVABLE, is_worse


class ValueSelection:
    """The choice of the values that vary."""

    def __init__(self, problem: FitProblem, state: FitState) -> None:
        self._problem, self._state = problem, state

    def reset(self, minimum: Minimum | None) -> bool:
        """Reset unobservable values to the file, and hold them. Values that the logs contradict are held as estimated.
        Return whether other values have to be fitted anew. There may be no minimum of the free values yet.
        """
        state, unknowns = self._state, self._problem.unknowns
        is_moved = unknowns.is_whole & (state.unknowns != unknowns.of_file)
        held = [number for number, each in state.verdicts.items() if is_moved[number] and not each.is_determined]
        if minimum is not None and state.is_free.any():
            judge = Identifiability(self._problem, minimum)
            found = judge.verdicts(state.verdicts)
            state.verdicts |= {number: each for number, each in found.items() if not each.is_determined}
            numbers, dependent = judge.held(state.verdicts)
            state.verdicts |= dependent
            held += numbers
        if not held:
            return False
        back = [number for number in held if not self._is_contradicted(number)]
        state.reset = ValueReset(unknowns=state.unknowns, is_free=state.is_free, numbers=np.array(back, int))
        state.unknowns, state.is_free = state.unknowns.copy(), state.is_free.copy()
        state.unknowns[back] = unknowns.of_file[back]
        state.is_free[held] = False
        return bool(state.is_free.any())

    def _is_contradicted(self, number: int) -> bool:
        verdict = self._state.verdicts.get(number)
        return verdict is not None and verdict.is_contradicted

    def restore(self, minimum: Minimum | None) -> bool:
        """Restore the estimates of reset values if the fit got worse: the other values cannot compensate a large reset,
        although they can a small one. Return whether this happened.

        Of several values, those are held as estimated that have no finite interval.
        """
        state = self._state
        if minimum is None or not state.is_free.any():
            return False
        reset, state.reset = state.reset, None
        cost, rows = minimum.point.cost, len(minimum.point.residuals)
        least = state.least = min(state.least, cost)
        if reset is None or not is_worse((np.sqrt(least), np.sqrt(cost))):
            return False
        if 2.0 * (cost - least) <= CHI_SQUARED * len(reset.numbers) * max(2.0 * least / rows, 1.0):
            return False
        own = [number for number in reset.numbers.tolist() if not self._problem.unknowns.is_whole[number]]
        lost = [number for number in own if state.verdicts[number].verdict == UNOBSERVABLE]
        if not (wrong := [each for each in lost if not np.isfinite(state.verdicts[each].half_width)] or lost):
            return False
        state.unknowns, state.is_free = reset.unknowns.copy(), reset.is_free.copy()
        state.is_free[wrong] = False
        contradicted = {each: attrs.evolve(state.verdicts[each], verdict=CONTRADICTED) for each in wrong}
        state.verdicts |= contradicted
        return True
