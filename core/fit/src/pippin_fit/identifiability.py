"""Identifiability of values at a minimum: evidence and verdicts, and which values are reset to the file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import attrs
import numpy as np

from .evidence import Evidence, blocks_of
from .journal import FitState, ValueReset
from .least_squares import STEP, Point, Residuals
from .problem import FitProblem
from .verdicts import CHI_SQUARED, CONTRADICTED, CORRELATED, IDENTIFIED, UNOBSERVABLE, FitVerdict, is_worse, judge

_DEPENDENT = 0.2
"""Sensitivity above which a value counts as dependent on a held one."""


@attrs.frozen(kw_only=True, eq=False)
class Minimum:
    """The best point so far of a search over some of the unknowns."""

    unknowns: np.ndarray
    """All unknowns, shape [values]."""

    is_free: np.ndarray
    """Whether each of them varies, shape [values]."""

    point: Point
    """The residuals there, and their derivatives by the free unknowns."""


class Identifiability:
    """Identifiability of the free values at a minimum: their evidence and their verdicts."""

    def __init__(self, problem: FitProblem, minimum: Minimum) -> None:
        self._problem, self._minimum = problem, minimum
        self._free = np.flatnonzero(minimum.is_free)
        self._values = problem.unknowns.values(minimum.unknowns)

    @property
    def share(self) -> float:
        """Share of the residuals of samples and starts that the unknowns have not used up."""
        rows = len(self._minimum.point.residuals) - len(self._values)
        return max(self._problem.sample_rows - len(self._free), 1) / max(rows, 1)

    @cached_property
    def evidence(self) -> Evidence:
        """The rows of the residuals, and their derivatives by the free values."""
        point, free, rollouts = self._minimum.point, self._free, self._problem.rollouts
        unknowns, part, width = self._problem.unknowns, rollouts.parts[0], rollouts.width
        rows, windows = len(point.residuals) - len(self._values), len(part.windows)
        slopes = unknowns.slopes(self._values)[free]
        blocks = blocks_of(part.window_of, width)
        states = rollouts.channels_of_states()[: (rows - len(blocks)) // max(windows, 1)]  # none if not estimated
        firsts = np.repeat(np.searchsorted(part.window_of, np.arange(windows)) * width, len(states))
        owners = [unknowns.owners[number] for number in free]
        return Evidence(
            names=tuple(f"{each.key} {name}" for each, name in owners),
            values=self._values[free],
            is_ratio=unknowns.is_ratio[free],
            slopes=slopes,
            priors=unknowns.priors[1][free] * slopes**2,
            jacobian=point.jacobian[:rows],
            residuals=point.residuals[:rows],
            errors=point.errors,
            blocks=np.concatenate([blocks, blocks[firsts]]),
            channels=np.concatenate([np.tile(np.arange(width), len(part.window_of)), np.tile(states, windows)]),
            share=self.share,
        )

    def verdicts(self, earlier: Mapping[int, FitVerdict]) -> dict[int, FitVerdict]:
        """Return the verdict on each free value, by its number.

        A value with an earlier verdict is determined only because another one is held.
        """
        found = self._judged(self._free, earlier)
        widths = self.evidence.block_widths() if found else []
        return {
            number: attrs.evolve(verdict, block_half_width=width)
            for (number, verdict), width in zip(found.items(), widths, strict=True)
        }

    def _judged(self, chosen: np.ndarray, earlier: Mapping[int, FitVerdict]) -> dict[int, FitVerdict]:
        """Return the verdicts on some of the free values, by their numbers, if the others are held."""
        if not len(chosen):
            return {}
        unknowns, at = self._problem.unknowns, self._minimum.unknowns
        evidence = self.evidence.of(np.searchsorted(self._free, chosen))
        verdicts = judge(
            [(unknowns.owners[number][0].key, unknowns.owners[number][1]) for number in chosen],
            unknowns.file_values[chosen],
            self._values[chosen],
            unknowns.ranges[chosen],
            ((at - unknowns.low) / (unknowns.high - unknowns.low))[chosen],
            np.sqrt(np.diag(evidence.covariance)) * evidence.slopes,
            evidence.jacobian,
            evidence.priors,
            evidence.errors,
        )
        found = dict(zip(chosen.tolist(), verdicts, strict=True))
        for number in found.keys() & earlier.keys():
            if found[number].is_determined:
                found[number] = attrs.evolve(found[number], verdict=CORRELATED, coupled=earlier[number].coupled)
        return found

    def held(self, earlier: Mapping[int, FitVerdict]) -> tuple[list[int], dict[int, FitVerdict]]:
        """Return the numbers of the values to hold so that the logs determine all others, and the verdicts on these and
        on those others that depend on a held one.

        Of correlated values, the one with the smallest effect is held first. If all were held, the others would absorb
        the error of their sum.
        """
        left, evidence, sizes = self._minimum.is_free.copy(), self.evidence, np.zeros(len(self._values))
        sizes[left] = np.linalg.norm(evidence.jacobian, axis=0)
        dependent: dict[int, FitVerdict] = {}
        while lost := {
            number: each
            for number, each in self._judged(np.flatnonzero(left), earlier).items()
            if not each.is_determined
        }:
            least = min(lost, key=lambda number: sizes[number])
            left[least], dependent[least] = False, lost[least]
        is_held = ~left[self._free]
        shares, names = np.abs(evidence.sensitivities(is_held)), np.array(evidence.names)[is_held]
        verdicts = self.verdicts(earlier)
        for number, own in zip(np.flatnonzero(left).tolist(), shares, strict=True):
            if own.max(initial=0.0) > _DEPENDENT:
                coupled = (str(names[own.argmax()]).replace(" ", ": ", 1),)
                dependent[number] = attrs.evolve(verdicts[number], verdict=CORRELATED, coupled=coupled)
        return self._free[is_held].tolist(), dependent


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
            lost = {number: each for number, each in found.items() if not each.is_determined}
            state.verdicts |= lost
            numbers, dependent = judge.held(state.verdicts)
            state.verdicts |= dependent | lost
            held += numbers
        if not held:
            return False
        contradicted = {number for number, each in state.verdicts.items() if each.is_contradicted}
        back = [number for number in held if number not in contradicted]
        state.reset = ValueReset(unknowns=state.unknowns, is_free=state.is_free, numbers=np.array(back, int))
        state.unknowns, state.is_free = state.unknowns.copy(), state.is_free.copy()
        state.unknowns[back] = unknowns.of_file[back]
        state.is_free[held] = False
        return bool(state.is_free.any())

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


class WholeNumbers:
    """The whole numbers among the unknowns of a fit."""

    def __init__(self, problem: FitProblem) -> None:
        self._problem = problem
        self._better: dict[int, float] = {}
        self._visited: set[tuple[float, ...]] = set()

    def judge(
        self, residuals: Residuals, unknowns: np.ndarray, is_free: np.ndarray, *, is_fitted: bool
    ) -> dict[int, FitVerdict]:
        """Return the verdict on each whole number, by its number: identified if both neighbours raise the cost clearly,
        each with its own best other values.

        The noise is that of the residuals if they are fitted, and otherwise the one that the fit assumes.
        """
        own, free, found = self._problem.unknowns, np.flatnonzero(is_free), {}
        ahead = np.where(unknowns + STEP <= own.high, STEP, -STEP)[free]
        samples, self._better = self._problem.sample_rows, {}
        for number in np.flatnonzero(own.is_whole).tolist():
            low, high = own.owners[number][0].config.range
            value = own.values(unknowns)[number]
            near = [(each - low) / (high - low) for each in (value - 1.0, value + 1.0) if low <= each <= high]
            points = np.tile(unknowns, (1 + len(free) + len(near), 1))
            points[1 + np.arange(len(free)), free] += ahead
            points[1 + len(free) :, number] = near
            rows = residuals(points)
            present = rows[0] if is_fitted else np.zeros_like(rows[0])
            changes = rows[1:] - rows[0]
            changes[~np.isfinite(changes).all(axis=1)] = np.nan
            basis = np.linalg.qr(np.nan_to_num(changes[: len(free)]).T)[0]
            both = np.vstack([present, present + changes[len(free) :]]).T
            squares = ((both - basis @ (basis.T @ both)) ** 2).sum(axis=0)
            variance = squares[0] / max(samples - len(free), 1) if is_fitted else 1.0
            rise = np.nan_to_num(squares[1:] - squares[0], nan=np.inf)  # a neighbour that diverges is excluded
            found[number] = self._verdict(number, unknowns, bool((rise > CHI_SQUARED * variance).all()))
            if rise.min(initial=0.0) < -CHI_SQUARED * variance:
                self._better[number] = near[int(rise.argmin())]
        return found

    def step(self, unknowns: np.ndarray) -> np.ndarray | None:
        """Return unknowns with the neighbours that explain the logs better; None without any, or if these were visited
        before.
        """
        is_whole = self._problem.unknowns.is_whole
        self._visited.add(tuple(unknowns[is_whole].tolist()))
        moved = unknowns.copy()
        for number, unknown in self._better.items():
            moved[number] = unknown
        is_known = tuple(moved[is_whole].tolist()) in self._visited
        return None if not self._better or is_known else moved

    def _verdict(self, number: int, unknowns: np.ndarray, is_identified: bool) -> FitVerdict:
        own = self._problem.unknowns
        parameter, name = own.owners[number]
        return FitVerdict(
            key=parameter.key,
            name=name,
            start=float(own.file_values[number]),
            value=float(own.values(unknowns)[number]),
            half_width=0.5 if is_identified else np.inf,
            verdict=IDENTIFIED if is_identified else UNOBSERVABLE,
            collinearity=0.0,
        )
