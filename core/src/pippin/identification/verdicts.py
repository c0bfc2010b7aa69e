"""Verdicts: how well the logs determine each parameter, and what it cannot be told apart from."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

_WIDE, _AT_END = 0.5, 0.01
_COUPLED, _EQUAL = 0.98, 0.9999
"""R² from which on a value is coupled, and from which on nothing is left of it: derivatives by differences are good to
1 %, so that a smaller rest measures their errors."""

_ROUNDING = 1e-12
"""Smallest eigenvalue of a matrix of correlations that is not rounding."""

IDENTIFIED, _END = "identified", "at an end of its range"


@attrs.frozen(kw_only=True)
class FitVerdict:
    """A value of a parameter, and how well the logs determine it."""

    key: str
    """The place of the parameter."""

    name: str
    """The joint, or what has the value."""

    start: float
    """The value that the file gives."""

    value: float
    """The value that was found."""

    half_width: float
    """Half of the interval that holds the value in 95 % of such logs, if residuals are white noise."""

    verdict: str
    """`identified`, or why not: `no effect`, `not identifiable`, `at an end of its range`."""

    collinearity: float
    """How much of its effect the other values together can have (R²): 1 if nothing tells them apart."""

    block_half_width: float | None = None
    """The same from blocks of the logs, which holds if neighbouring samples share an error; None if there are too few
    blocks, or the value was not fitted."""

    coupled: tuple[str, ...] = ()
    """The value that it is hardest to tell apart from, if the others can have 98 % of its effect."""

    @property
    def is_determined(self) -> bool:
        """Whether the logs tell the value, which may be at an end of its range."""
        return self.verdict in (IDENTIFIED, _END)

    @property
    def is_identified(self) -> bool:
        """Whether the value may be used."""
        return self.verdict == IDENTIFIED


def covariance(jacobian: np.ndarray, residuals: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Return the covariance of unknowns; infinite where nothing depends on one.

    Args:
        jacobian: Derivatives of the residuals, shape [rows, unknowns].
        residuals: Residuals, shape [rows].
        priors: Inverse variance of what was known before, shape [unknowns].
    """
    rows, count = jacobian.shape
    variance = float(residuals @ residuals) / max(rows - count, 1)
    size = np.sqrt((jacobian**2).sum(axis=0) / max(variance, 1e-300) + priors)
    has_effect = size > 0.0
    found = np.full((count, count), np.inf)
    if has_effect.any():
        own, scale = jacobian[:, has_effect], size[has_effect]
        normal = (own.T @ own / max(variance, 1e-300) + np.diag(priors[has_effect])) / np.outer(scale, scale)
        inverse = np.linalg.pinv(normal, rcond=1e-12, hermitian=True) / np.outer(scale, scale)
        lost = np.linalg.eigh(normal)
        for value, direction in zip(lost.eigenvalues, lost.eigenvectors.T, strict=True):
            if value < 1e-12:  # nothing determines this direction
                inverse[np.ix_(*2 * [np.abs(direction) > 0.1])] = np.inf
        found[np.ix_(has_effect, has_effect)] = inverse
    return found


def collinearity(jacobian: np.ndarray, priors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return R² of each column against the others, shape [unknowns], and the largest partner of each.

    Args:
        jacobian: Derivatives of the residuals, shape [rows, unknowns].
        priors: Inverse variance of what was known before, shape [unknowns].
    """
    normal = jacobian.T @ jacobian + np.diag(priors)
    size = np.sqrt(np.diag(normal))
    acting, count = np.flatnonzero(size > 0.0), len(size)
    shares, partners = np.zeros(count), np.full(count, -1)
    if len(acting) > 1:
        unit = normal[np.ix_(acting, acting)] / np.outer(size[acting], size[acting])
        values, directions = np.linalg.eigh(unit)
        inverse = (directions / np.maximum(values, _ROUNDING)) @ directions.T
        shares[acting] = np.maximum(1.0 - 1.0 / np.diag(inverse), 0.0)
        weights = np.abs(inverse) * ~np.eye(len(acting), dtype=bool)  # of the others in its place, times a number
        partners[acting] = acting[weights.argmax(axis=1)]
    return shares, partners


def judge(
    names: Sequence[tuple[str, str]],
    starts: np.ndarray,
    values: np.ndarray,
    ranges: np.ndarray,
    places: np.ndarray,
    deviations: np.ndarray,
    jacobian: np.ndarray,
    priors: np.ndarray,
) -> tuple[FitVerdict, ...]:
    """Return a verdict for each value.

    Args:
        names: Key and name of each value.
        starts: The values of the file.
        values: The values that were found.
        ranges: Lowest and highest value, shape [values, 2].
        places: Places of the values between them, from 0 to 1, as the method counts.
        deviations: Standard deviation of each value, infinite if nothing determines it.
        jacobian: Derivatives of the residuals by the unknowns, shape [rows, values].
        priors: Inverse variance of what was known before.
    """
    shares, partners = collinearity(jacobian, priors)
    sizes = np.linalg.norm(jacobian, axis=0)
    found = []
    for number, (key, name) in enumerate(names):
        half = quantile(len(jacobian) - len(names)) * float(deviations[number])
        low, high = ranges[number]
        # what lies about zero is compared with its range
        typical = max(abs(float(values[number])), 0.1 * (high - low) if low < 0.0 else 0.01 * (high - low))
        coupled: tuple[str, ...] = ()
        if sizes[number] <= 1e-9 * sizes.max(initial=1e-300):
            verdict = "no effect"
        elif not half <= _WIDE * typical or shares[number] > _EQUAL:
            verdict = "not identifiable"
        elif places[number] > 1.0 - _AT_END or (places[number] < _AT_END and low != 0.0):  # 0 is no end: it is none
            verdict = _END
        else:
            verdict = IDENTIFIED
        if shares[number] > _COUPLED and partners[number] >= 0:
            coupled = (": ".join(names[partners[number]]),)
        found.append(
            FitVerdict(
                key=key,
                name=name,
                start=float(starts[number]),
                value=float(values[number]),
                half_width=half,
                verdict=verdict,
                collinearity=float(shares[number]),
                coupled=coupled,
            )
        )
    return tuple(found)


def quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's distribution, by the expansion of Cornish and Fisher."""
    n, z = max(freedom, 3), 1.959964
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
