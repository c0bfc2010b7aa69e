"""Least squares by the method of Levenberg and Marquardt, over residuals that are evaluated for many points at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import attrs
import numpy as np

STEP = 0.02
"""Step of a difference quotient: in single precision, a smaller one measures rounding."""

DAMPINGS = (1.0, 0.1, 10.0, 0.01, 100.0, 1e3, 1e4)
"""The dampings of the proposals of an iteration, in units of the present one; the first one has a Jacobian."""

DAMPING = 1e-3
"""The damping of the first step of a search."""

_LEAST, _LARGEST = 1e-9, 1e9
_HUBER = 1.345

ALL_TAKEN = "it took all iterations"
"""How a search ends that more iterations would continue."""

NO_LONGER_FALLS = "the cost no longer falls"
"""How a search ends at a minimum."""

FAR_BELOW = "what is left is far below the noise"
"""How a search ends that single precision would continue in circles."""

Residuals = Callable[[np.ndarray], np.ndarray]
"""Returns the residuals of some points, shape [points, rows], from their coordinates, shape [points, unknowns]."""


@attrs.frozen(kw_only=True, eq=False)
class Point:
    """A point, its residuals and their Jacobian."""

    x: np.ndarray
    """Coordinates, shape [unknowns]."""

    residuals: np.ndarray
    """Residuals, shape [rows]."""

    jacobian: np.ndarray
    """Derivatives of the residuals, shape [rows, unknowns]; zero where both neighbours of the point failed."""

    cost: float
    """Half of the sum of the squares; of large residuals with a robust loss, less."""

    errors: np.ndarray
    """Errors of the derivatives, as norms of the columns, shape [unknowns]; 0 until `refine`."""


def cost_of(residuals: np.ndarray, *, is_robust: bool) -> float:
    """Return half of the sum of squares of residuals, infinite if one is not finite.

    For a robust cost, those above 1.345 count linearly.
    """
    if not np.isfinite(residuals).all():
        return np.inf
    if not is_robust:
        return 0.5 * float(np.einsum("r,r->", residuals, residuals))
    size = np.abs(residuals)
    return float(np.where(size <= _HUBER, 0.5 * size**2, _HUBER * (size - 0.5 * _HUBER)).sum())


def inner(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the inner products of rows and other ones. On shared cores, the threads of BLAS would wait for each other
    a thousand times as long, and each number of threads would give other last bits.
    """
    return np.einsum("ur,...r->u...", rows, others)


class LeastSquares:
    """A minimisation within bounds. An iteration evaluates a point, its neighbours and other proposals at once.

    A row of residuals that is not finite makes a point infinitely bad. Unknowns are within the bounds, and may be the
    logarithms of values, `is_ratio`, shape [unknowns] each. With `is_robust`, residuals above 1.345 count linearly, as
    Huber proposed. The end: an iteration lowers the cost by no more than the share `tolerance`, or no step is expected
    to; or the root mean square of the residuals, in units of their noise, is below `floor`.
    """

    def __init__(
        self,
        residuals: Residuals,
        low: np.ndarray,
        high: np.ndarray,
        *,
        is_ratio: np.ndarray | None = None,
        is_robust: bool = False,
        tolerance: float,
        damping: float = DAMPING,
        taken: int = 0,
        floor: float = 0.0,
    ) -> None:
        self._residuals, self._low, self._high = residuals, low, high
        self._is_ratio = np.zeros(len(low), dtype=bool) if is_ratio is None else is_ratio
        self._is_robust, self._tolerance, self._floor = is_robust, tolerance, floor
        #: The damping of the next step.
        self.damping: float = damping
        #: Iterations so far.
        self.taken: int = taken
        #: Why it ended; empty as long as it has not.
        self.ended: str = ""

    def iterate(self, x: np.ndarray, iterations: int) -> Iterator[Point]:
        """Yield the best point so far: the start, then after each iteration.

        Raises:
            FloatingPointError: The residuals of the start are not finite.
        """
        steps, answer = self.proceed(x, iterations), None
        while True:
            try:
                item = steps.send(answer)
            except StopIteration:
                return
            answer = None if isinstance(item, Point) else self._residuals(item)
            if isinstance(item, Point):
                yield item

    def proceed(self, x: np.ndarray, iterations: int) -> Generator[Point | np.ndarray, np.ndarray | None, None]:
        """Yield points whose residuals have to be sent, shape [points, unknowns], and the best point so far as
        `iterate`. Several searches proceed side by side so.
        """
        point, _ = yield from self._evaluate(x, [])
        if not np.isfinite(point.cost):
            raise FloatingPointError("the residuals of the start are not finite")
        yield point
        while self.taken < iterations:
            gradient, normal = self._equations(point)
            step = self._step(point.x, gradient, normal, 0.0)
            if -float(step @ (gradient + 0.5 * normal @ step)) <= self._tolerance * point.cost:
                self.ended = NO_LONGER_FALLS
                return
            self.taken += 1
            steps = [self._step(point.x, gradient, normal, self.damping * factor) for factor in DAMPINGS]
            proposals = [self._moved(point.x, step) for step in steps]
            main, costs = yield from self._evaluate(proposals[0], proposals[1:])
            best = int(np.argmin([main.cost, *costs]))
            if best and main.cost >= point.cost > costs[best - 1]:
                main, _ = yield from self._evaluate(proposals[best], [])
            change = point.cost - main.cost
            self.damping = float(np.clip(self.damping * DAMPINGS[best], _LEAST, _LARGEST))
            if change > 0.0:
                is_still = change <= self._tolerance * point.cost
                point = main
                is_low = point.cost <= 0.5 * self._floor**2 * len(point.residuals)
                # known before a reader may be killed
                self.ended = FAR_BELOW if is_low else NO_LONGER_FALLS if is_still else ""
                yield point
                if self.ended:
                    return
            else:
                if self.damping >= _LARGEST or np.abs(proposals[0] - point.x).max() < 1e-3 * STEP:
                    self.ended = "no step lowers the cost"
                    return
                self.damping = min(self.damping * 1e3, _LARGEST)
        self.ended = ALL_TAKEN

    def refine(self, point: Point) -> Point:
        """Return a point with derivatives of second order and their errors: half of the difference of both sides."""
        ahead = self._ahead(point.x)
        behind = np.where((point.x - ahead >= self._low) & (point.x - ahead <= self._high), -ahead, 2.0 * ahead)
        rows = self._residuals(np.stack([point.x, *(point.x + np.diag(behind))]))
        other = ((rows[1:] - rows[0]) / behind[:, None]).T
        is_whole = np.isfinite(other).all(axis=0)
        other = np.where(is_whole, other, point.jacobian)
        difference = other - point.jacobian
        # (r(x + 2 h) - r(x)) / 2 h is as far on the other side of the truth again
        jacobian = point.jacobian + difference * np.where(behind == -ahead, 0.5, -1.0)
        errors = np.linalg.norm(difference, axis=0) * np.where(behind == -ahead, 0.5, 1.0)
        return attrs.evolve(point, jacobian=jacobian, errors=errors)

    def _ahead(self, x: np.ndarray) -> np.ndarray:
        return np.where(x + STEP <= self._high, STEP, -STEP)

    def _evaluate(
        self, x: np.ndarray, others: list[np.ndarray]
    ) -> Generator[Point | np.ndarray, np.ndarray | None, tuple[Point, list[float]]]:
        ahead = self._ahead(x)
        neighbours = x + np.diag(ahead)
        rows = yield np.stack([x, *neighbours, *others])
        assert rows is not None, "points are answered by residuals"
        count = len(x)
        is_whole = np.isfinite(rows[1 : 1 + count]).all(axis=1) & np.isfinite(rows[0]).all()
        jacobian = np.where(is_whole[:, None], rows[1 : 1 + count], 0.0) - np.where(is_whole[:, None], rows[0], 0.0)
        jacobian /= ahead[:, None]
        cost = cost_of(rows[0], is_robust=self._is_robust)
        point = Point(x=x, residuals=rows[0], jacobian=jacobian.T, cost=cost, errors=np.zeros(count))
        return point, [cost_of(row, is_robust=self._is_robust) for row in rows[1 + count :]]

    def _equations(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        rows, residuals = point.jacobian.T, point.residuals
        if self._is_robust:
            weights = np.minimum(1.0, _HUBER / np.maximum(np.abs(residuals), 1e-300))
            return inner(rows, weights * residuals), inner(rows, weights * rows)
        return inner(rows, residuals), inner(rows, rows)

    def _moved(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return a point after a step. A value that grows does so by its derivative, not by a power of e, since the
        equations of motion are linear in armature, damping, friction and gains; one that shrinks stays positive.
        """
        grown = np.log1p(np.maximum(step, 0.0))
        return np.clip(x + np.where(self._is_ratio & (step > 0.0), grown, step), self._low, self._high)

    def _step(self, x: np.ndarray, gradient: np.ndarray, normal: np.ndarray, damping: float) -> np.ndarray:
        is_free, step = np.ones(len(x), dtype=bool), np.zeros(len(x))
        for _ in range(len(x)):
            is_free &= np.diag(normal) > 0.0
            step = np.zeros_like(x)
            own = normal[np.ix_(is_free, is_free)]
            step[is_free] = -np.linalg.lstsq(own + damping * np.diag(np.diag(own)), gradient[is_free], rcond=None)[0]
            held = ((x <= self._low) & (step < 0.0)) | ((x >= self._high) & (step > 0.0))
            if not (held & is_free).any():
                break
            is_free &= ~held
        return step
