"""Evidence of logs about values: covariance, intervals, correlations and weak directions."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np

from .blocks import bootstrap, directions
from .least_squares import inner
from .verdicts import COUPLED, collinearity, covariance, informative_normal, variances

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
