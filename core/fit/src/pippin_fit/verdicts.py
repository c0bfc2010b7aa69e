"""Verdicts: how well the logs determine each parameter, and with which others it is correlated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from .least_squares import inner

_WIDE, _AT_END = 0.5, 0.01

COUPLED, _EQUAL = 0.98, 0.9999
"""Smallest R² of a value that is coupled, and of one that is unobservable."""

_ERRORS, _PART = 2.0, 0.05
"""Smallest informative effect, as a multiple of the error of its derivatives; and the smallest squared part in an
uninformative direction that makes a value unobservable."""

_ROUNDING = 1e-12
"""Smallest eigenvalue of a matrix of correlations that is not rounding."""

IDENTIFIED, _END, CORRELATED = "identified", "at an end of its range", "only together"

UNOBSERVABLE, CONTRADICTED, _UNVALIDATED = "not identifiable", "logs contradict the file", "fitted, not validated"

_UNEXPLAINED = "fitted, logs not explained"

CHI_SQUARED = 3.841
"""The 95 % quantile of χ² with one degree of freedom: a cost that rises more is no noise."""

_EXPLAINED, _WORSE = 5.0, 1.05
"""Largest residual of windows that the model explains, with noisy starts, in σ; and the smallest ratio of that of
windows that the fit did not see to the residual with the file above chance."""


@attrs.frozen(kw_only=True)
class FitVerdict:
    """A value of a parameter, and how well the logs determine it."""

    key: str
    """The place of the parameter."""

    name: str
    """The joint, the body or the signal that has the value."""

    start: float
    """The value that the file gives."""

    value: float
    """The value that was found."""

    half_width: float
    """Half of the interval that holds the value in 95 % of such logs, if residuals are white noise; if the model does
    not explain the logs, as if all residuals had one cause."""

    verdict: str
    """`identified`, or why not: `no effect`, `not identifiable`, `at an end of its range`, or `only together`: right if
    the value that it is coupled to, which is held, is right. `fitted, not validated`: windows that the fit did not see
    say that the model lacks something; `fitted, logs not explained`: so do those that it saw. `logs contradict the
    file`: the value is not identifiable, and is held as it was found, since the value of the file does not explain the
    logs."""

    collinearity: float
    """Share of its effect that the other values together can have (R²): 1 if the logs cannot distinguish them."""

    block_half_width: float | None = None
    """The same from blocks of the logs, which holds if neighbouring samples share an error; None if there are too few
    blocks, or the value was not fitted."""

    coupled: tuple[str, ...] = ()
    """The value with which it is most correlated, if the others can have 98 % of its effect."""

    @property
    def is_determined(self) -> bool:
        """Whether the logs determine the value, which may be at an end of its range, or depend on a held one."""
        return self.verdict in (IDENTIFIED, _END, CORRELATED, _UNVALIDATED, _UNEXPLAINED)

    @property
    def is_kept(self) -> bool:
        """Whether the value goes into the file that was found: it and the values that are held explain the logs."""
        return self.verdict in (IDENTIFIED, CORRELATED, _UNVALIDATED, _UNEXPLAINED, CONTRADICTED)

    @property
    def is_identified(self) -> bool:
        """Whether the value may be used by itself."""
        return self.verdict == IDENTIFIED

    def plain(self) -> dict[str, Any]:
        """For the core: return the numbers, for JSON, which has no infinity."""
        widths = {name: getattr(self, name) for name in ("half_width", "block_half_width")}
        finite = {name: width if width is not None and math.isfinite(width) else None for name, width in widths.items()}
        return {**attrs.asdict(self), **finite}

    def concluded(self, *, is_refuted: bool, residual: float, rows: int) -> FitVerdict:
        """For the core: return the verdict at the end of a fit.

        Args:
            is_refuted: Whether windows that the fit did not see say that the model lacks something.
            residual: The residual of the windows that were fitted, in σ.
            rows: The number of residuals.
        """
        if not is_explained(residual):
            wide = attrs.evolve(self, half_width=self.half_width * math.sqrt(rows))
            return attrs.evolve(wide, verdict=_UNEXPLAINED) if self.is_identified else wide
        if is_refuted and self.is_identified:
            return attrs.evolve(self, verdict=_UNVALIDATED)
        return attrs.evolve(self, verdict=CONTRADICTED) if self.is_contradicted else self

    @property
    def is_contradicted(self) -> bool:
        """Whether the value is not identifiable, but the one of the file does not explain the logs, or lies outside the
        interval.
        """
        width = max(self.half_width, self.block_half_width or 0.0)
        return self.verdict == CONTRADICTED or (self.verdict == UNOBSERVABLE and abs(self.start - self.value) > width)


def kept_values(verdicts: Sequence[FitVerdict]) -> np.ndarray:
    """Return the value of each verdict that a file gets, shape [verdicts]: as estimated, or as the file had it."""
    return np.array([each.value if each.is_kept else each.start for each in verdicts])


def is_explained(residual: float) -> bool:
    """Return whether a model explains windows of logs: whether their residual is at most 5 σ.

    Args:
        residual: The root mean square of the residuals [σ].
    """
    return residual <= _EXPLAINED


def is_worse(validation: tuple[float, float]) -> bool:
    """Return whether windows that a fit did not see are met worse, by more than 5 %.

    Args:
        validation: The residual of what they are compared with, such as the file, and theirs [σ].
    """
    return validation[1] > _WORSE * validation[0]


def is_refuted(validation: tuple[float, float] | None) -> bool:
    """Return whether windows that a fit did not see say that the model lacks something; None if there are none."""
    return validation is not None and (not is_explained(validation[1]) or is_worse(validation))


def variances(residuals: np.ndarray, channels: np.ndarray, share: float) -> np.ndarray:
    """Return the variance of the residuals of each row's channel, shape [rows].

    The unknowns have left a share of the rows, and used up the others.
    """
    counts = np.bincount(channels)
    own = np.bincount(channels, weights=residuals**2) / np.maximum(share * counts, 1.0)
    return own[channels]


def covariance(jacobian: np.ndarray, noise: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Return the covariance of unknowns that minimise the sum of squares; infinite where nothing depends on one.

    The residuals were divided by a noise that was assumed, and theirs, shape [rows], may be another one in each
    channel: (JᵀJ + P)⁻¹ (Jᵀ S J + P) (JᵀJ + P)⁻¹ with their variances S (White 1980), the Jacobian J, shape [rows,
    unknowns], and the inverse variances of the priors P.
    """
    count = jacobian.shape[1]
    size = np.sqrt((jacobian**2).sum(axis=0) + priors)
    has_effect = size > 0.0
    found = np.full((count, count), np.inf)
    if has_effect.any():
        own, known = jacobian[:, has_effect] / size[has_effect], np.diag(priors[has_effect] / size[has_effect] ** 2)
        normal = inner(own.T, own.T) + known
        inverse = np.linalg.pinv(normal, rcond=1e-12, hermitian=True)
        spread = inverse @ (inner(own.T, own.T * noise) + known) @ inverse
        axes = np.linalg.eigh(normal)
        for value, direction in zip(axes.eigenvalues, axes.eigenvectors.T, strict=True):
            if value < 1e-12:  # nothing determines this direction
                spread[np.ix_(*2 * [np.abs(direction) > 0.1])] = np.inf
        found[np.ix_(has_effect, has_effect)] = spread / np.outer(size[has_effect], size[has_effect])
    return found


def collinearity(jacobian: np.ndarray, priors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return R² of each column of a Jacobian against the others, shape [unknowns], and the largest partner of each."""
    normal = inner(jacobian.T, jacobian.T) + np.diag(priors)
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


def informative_normal(jacobian: np.ndarray, priors: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return JᵀJ without its uninformative directions, in which the effect is an error of the derivatives.

    The errors are norms of the columns of those of the Jacobian, shape [unknowns].
    """
    normal = inner(jacobian.T, jacobian.T)
    size = np.sqrt(np.diag(normal) + priors)
    acting = np.flatnonzero(size > 0.0)
    if not errors.any() or not len(acting):
        return normal
    scale = np.maximum(errors, 1e-9 * size)[acting]
    values, axes = np.linalg.eigh(normal[np.ix_(acting, acting)] / np.outer(scale, scale))
    values[values <= _ERRORS**2] = 0.0
    informative = np.zeros_like(normal)
    informative[np.ix_(acting, acting)] = (axes * values) @ axes.T * np.outer(scale, scale)
    return informative


def _is_unobservable(jacobian: np.ndarray, priors: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return whether each value has a part in an uninformative direction, shape [unknowns]."""
    size = np.sqrt(np.diag(inner(jacobian.T, jacobian.T)) + priors)
    acting = np.flatnonzero(size > 0.0)
    found = np.zeros(len(size), dtype=bool)
    if errors.any() and len(acting):
        scaled = (informative_normal(jacobian, priors, errors) + np.diag(priors)) / np.outer(size, size).clip(1e-300)
        left = np.linalg.eigh(scaled[np.ix_(acting, acting)])
        parts = (left.eigenvectors[:, left.eigenvalues < _ROUNDING * 1e3] ** 2).sum(axis=1)
        found[acting] = parts > _PART
    return found


def judge(
    names: Sequence[tuple[str, str]],
    starts: np.ndarray,
    values: np.ndarray,
    ranges: np.ndarray,
    places: np.ndarray,
    deviations: np.ndarray,
    jacobian: np.ndarray,
    priors: np.ndarray,
    errors: np.ndarray,
) -> tuple[FitVerdict, ...]:
    """Return a verdict for each value, by its key and name.

    The file has the starts. The values that were found lie in ranges, shape [values, 2], at places from 0 to 1 as the
    method counts; their standard deviations are infinite if they are undetermined. The Jacobian has the derivatives of
    the residuals, shape [rows, values]; errors are norms of its columns. Priors are inverse variances.
    """
    shares, partners = collinearity(jacobian, priors)
    sizes = np.linalg.norm(jacobian, axis=0)
    is_unobservable = _is_unobservable(jacobian, priors, errors)
    is_alike = (shares > _EQUAL) & (priors == 0.0) & (priors[partners] == 0.0)  # a prior distinguishes two values
    found = []
    for number, (key, name) in enumerate(names):
        half = quantile(len(jacobian) - len(names)) * float(deviations[number])
        low, high = ranges[number]
        # a value about zero is compared with its range
        typical = max(abs(float(values[number])), 0.1 * (high - low) if low < 0.0 else 0.01 * (high - low))
        coupled: tuple[str, ...] = ()
        if sizes[number] <= 1e-9 * sizes.max(initial=1e-300):
            verdict = "no effect"
        elif is_alike[number] or is_unobservable[number]:
            verdict, half = UNOBSERVABLE, np.inf  # a narrow interval would be one of errors of the derivatives
        elif not half <= _WIDE * typical:
            verdict = UNOBSERVABLE
        elif places[number] > 1.0 - _AT_END or (places[number] < _AT_END and low != 0.0):  # 0 is no end: it is none
            verdict = _END
        else:
            verdict = IDENTIFIED
        if shares[number] > COUPLED and partners[number] >= 0:
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
