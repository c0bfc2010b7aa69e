"""Evidence of logs about values: covariance, intervals from blocks of residuals, correlations and weak directions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import attrs
import numpy as np

from .least_squares import inner
from .verdicts import COUPLED, collinearity, covariance, informative_normal, quantile, variances

_DRAWS = 200
_FEWEST, _WANTED = 8, 24
"""Fewest blocks that give an interval, and the number of pieces of windows that are fewer."""

_NORMAL = 1.96
"""The 97.5 % quantile of the normal distribution."""

_SHOWN = 0.3
"""Smallest part of a value in a direction that is shown, as a share of the largest."""


def blocks_of(windows: np.ndarray, width: int) -> np.ndarray:
    """Return the block of each row of residuals, shape [rows]: windows, or equal pieces of them if they are few.
    Samples have `width` rows, and their windows ascend, shape [samples].
    """
    count = int(windows.max(initial=-1)) + 1
    pieces = max(1, -(-_WANTED // max(count, 1))) if count < _WANTED else 1
    sizes = np.bincount(windows, minlength=count)
    places = np.concatenate([np.arange(size) * pieces // size for size in sizes]) if count else np.zeros(0, dtype=int)
    return np.repeat(windows * pieces + places, width)


def bootstrap(jacobian: np.ndarray, residuals: np.ndarray, blocks: np.ndarray, priors: np.ndarray) -> np.ndarray | None:
    """Return half of the 95 % interval of each unknown, shape [unknowns]; None if there are too few blocks.

    Blocks are drawn with replacement, and the linear problem about the minimum is solved for each of 200 draws (Efron
    and Tibshirani 1993, the bootstrap of pairs; Künsch 1989 for blocks).

    The Jacobian of the residuals at the minimum has the shape [rows, unknowns]; priors are inverse variances in units
    of the residuals, shape [unknowns].
    """
    numbers = np.unique(blocks)
    count, unknowns = len(numbers), jacobian.shape[1]
    if count < max(_FEWEST, 2 * unknowns):
        return None
    parts = [blocks == number for number in numbers]
    normals = np.stack([inner(jacobian[part].T, jacobian[part].T) for part in parts])
    gradients = np.stack([inner(jacobian[part].T, residuals[part]) for part in parts])
    left = gradients.sum(axis=0)  # balanced by the priors, or of a minimum that is not quite one
    size = np.sqrt(np.diag(normals.sum(axis=0)) + priors)
    scale = np.where(size > 0.0, size, 1.0)
    draws = np.random.default_rng(0).multinomial(count, np.full(count, 1.0 / count), size=_DRAWS)
    steps = np.zeros((_DRAWS, unknowns))
    for number, weights in enumerate(draws):
        normal = (np.tensordot(weights, normals, 1) + np.diag(priors)) / np.outer(scale, scale)
        gradient = (weights @ gradients - left) / scale
        steps[number] = -np.linalg.lstsq(normal, gradient, rcond=1e-12)[0] / scale
    found = quantile(count - 1) * steps.std(axis=0) * np.sqrt(count / (count - 1))
    return np.where(size > 0.0, found, np.inf)


def directions(
    names: Sequence[str],
    covariance: np.ndarray,
    slopes: np.ndarray,
    values: np.ndarray,
    sizes: np.ndarray,
    count: int = 3,
) -> tuple[str, ...]:
    """Return the weakest directions in words: joint changes of values within the interval of 95 %.

    The covariance of the unknowns, shape [values, values], is infinite for an undetermined one. Slopes are changes of
    the values per change of the unknowns, sizes those of the residuals: in a direction, a small change may outweigh
    others. Changes are shares of the values, and shown as they are where these are NaN.
    """
    finite = np.flatnonzero(np.isfinite(np.diag(covariance)))
    found = []
    spreads, axes = np.linalg.eigh(covariance[np.ix_(finite, finite)])
    for size, axis in list(zip(spreads, axes.T, strict=True))[::-1][:count]:
        step = _NORMAL * np.sqrt(max(float(size), 0.0)) * axis * np.sign(axis[np.abs(axis).argmax()])
        parts = [np.abs(step), np.abs(step) * sizes[finite]]
        is_shown = np.any([part >= _SHOWN * part.max() for part in parts], axis=0)
        shown = [at for at in np.argsort(-np.abs(step), kind="stable") if is_shown[at]]
        changes = [(int(finite[at]), float(step[at] * slopes[finite[at]])) for at in shown]
        texts = [
            f"{names[at]} {change:+.2g}" if np.isnan(values[at]) else f"{names[at]} {100 * change / values[at]:+.2g} %"
            for at, change in changes
        ]
        found.append(", ".join(texts))
    return tuple(found)


_WIDEST = 3.0
"""Standard deviation of an unobservable unknown: a factor of 20, or three times its range."""


@attrs.define(kw_only=True, eq=False, slots=False)
class Evidence:
    """Rows of a least-squares problem at its minimum: the information about its values."""

    names: tuple[str, ...]

    values: np.ndarray
    """The values, shape [values]."""

    is_ratio: np.ndarray
    """Whether changes of a value are written as shares of it."""

    slopes: np.ndarray
    """Change of the values per change of the unknowns."""

    priors: np.ndarray
    """Inverse variance of the priors of the unknowns."""

    jacobian: np.ndarray
    """Derivatives of the residuals by the unknowns, shape [rows, values]."""

    residuals: np.ndarray
    """Residuals, shape [rows]."""

    blocks: np.ndarray
    """The block of each row, whose residuals do not depend on other blocks."""

    errors: np.ndarray
    """Errors of the derivatives, as norms of their columns, shape [values]."""

    channels: np.ndarray
    """The channel of each row, of one noise: a signal of a joint."""

    share: float
    """Share of the rows that the values, and the starts of windows, have not used up."""

    def of(self, columns: np.ndarray) -> Evidence:
        """Return the evidence about some of the values, if the others are held."""
        names = tuple(self.names[column] for column in columns)
        own = {name: getattr(self, name)[columns] for name in ("values", "is_ratio", "slopes", "priors", "errors")}
        return attrs.evolve(self, names=names, jacobian=self.jacobian[:, columns], **own)

    def sensitivities(self, is_held: np.ndarray) -> np.ndarray:
        """Return the sensitivity of each other unknown to each held one, shape [others, held]."""
        normal = inner(self.jacobian.T, self.jacobian.T) + np.diag(self.priors)
        return -np.linalg.pinv(normal[np.ix_(~is_held, ~is_held)], hermitian=True) @ normal[np.ix_(~is_held, is_held)]

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariance of the unknowns if residuals are white noise; infinite for an undetermined one."""
        return covariance(self.jacobian, variances(self.residuals, self.channels, self.share), self.priors)

    @property
    def is_coupled(self) -> bool:
        """Whether the other values can have almost all of the effect of one."""
        return bool((collinearity(self.jacobian, self.priors)[0] > COUPLED).any())

    def block_widths(self) -> list[float | None]:
        """Return half of the interval of each value that blocks give; None if there are too few of them."""
        found = bootstrap(self.jacobian, self.residuals, self.blocks, self.priors)
        return [None] * len(self.values) if found is None else (found * self.slopes).tolist()

    def correlations(self) -> tuple[tuple[float, ...], ...]:
        """Return the correlations of the values; 0 for an undetermined one."""
        whole = np.where(np.isfinite(self.covariance), self.covariance, 0.0)
        size = np.sqrt(np.diag(whole))
        scale = np.where(size > 0.0, size, 1.0)
        return tuple(tuple(row) for row in (whole / np.outer(scale, scale)).tolist())

    def directions(self) -> tuple[str, ...]:
        """Return the weakest directions in words."""
        is_share = self.is_ratio & (self.values != 0.0)
        sizes = np.linalg.norm(self.jacobian, axis=0)
        noise = variances(self.residuals, self.channels, self.share).mean()
        normal = informative_normal(self.jacobian, self.priors, self.errors) / max(noise, 1e-300) + np.diag(self.priors)
        spread = np.linalg.pinv(normal + _WIDEST**-2 * np.eye(len(normal)), hermitian=True)  # finite if undetermined
        spread[sizes == 0.0] = spread[:, sizes == 0.0] = np.inf
        return directions(self.names, spread, self.slopes, np.where(is_share, self.values, np.nan), sizes)
