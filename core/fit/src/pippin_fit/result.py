"""The result of a fit: a verdict for each value, costs, and the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np

from .verdicts import FitVerdict, is_explained, is_refuted


@attrs.frozen(kw_only=True, eq=False)
class Trace:
    """A signal of a joint over a window, measured and simulated."""

    log: str
    """Name of the log."""

    joint: str
    """Label of the joint."""

    signal: str
    """`position` or `velocity`."""

    unit: str
    """Unit of its values."""

    is_validation: bool
    """Whether the fit did not see it."""

    times: np.ndarray
    """Times of the samples [s], shape [samples]."""

    commanded: np.ndarray
    """The last command at each sample, in the unit of the commands, shape [samples]."""

    values: np.ndarray
    """Measured, simulated with the values of the file, and with the found ones, shape [samples, 3]."""


@attrs.frozen(kw_only=True)
class FitResult:
    """The parameters that a fit found, and how well the logs determine them."""

    folder: Path
    """The folder of its files."""

    verdicts: tuple[FitVerdict, ...]
    """A verdict for each value."""

    costs: tuple[float, ...]
    """Root of the mean square of the residuals, in units of the noise: with the file, before each iteration, and at the
    end."""

    ends: tuple[float, ...]
    """The same at the ends of `fit.starts` searches, the lowest one first; empty if there was one."""

    validation: tuple[float, float] | None
    """The same of the windows that the fit did not see: with the values of the file, and with the found ones;
    None if there are none."""

    start: Literal["measured", "estimated"]
    """The states that all windows started from."""

    correlated: tuple[str, ...]
    """Names of the values that were fitted, held ones included."""

    correlations: tuple[tuple[float, ...], ...]
    """Correlation of each of them with each, between -1 and 1."""

    directions: tuple[str, ...]
    """Changes of several values at once that the residuals hardly show, the weakest direction first."""

    delay: tuple[float, float] | None
    """A delay of the commands, which lie on straight lines [s], and the residual of a fit with it [σ]: what is tried if
    the model does not explain the logs; None otherwise."""

    rollouts: int
    """Rollouts of all candidates."""

    seconds: float
    """Wall time of the iterations [s]."""

    ended: str
    """Why it ended."""

    noise: Mapping[str, tuple[float, ...]]
    """Standard deviation of the noise of each joint that was assumed, by signal."""

    traces: tuple[Trace, ...] = attrs.field(repr=False, eq=False)
    """Signals before and after."""

    @property
    def file(self) -> Path:
        """The file that extends the user's, and has the values that were identified."""
        return self.folder / "identified.toml"

    @property
    def is_identified(self) -> bool:
        """Whether the model explains the logs, each value is identified, and windows that the fit did not see do not
        say otherwise: their residual is at most 5 σ, and no more than with the values of the file.
        """
        is_right = self.is_explained and not is_refuted(self.validation)
        return is_right and all(each.is_identified for each in self.verdicts)

    @property
    def is_explained(self) -> bool:
        """Whether the model explains the windows that were fitted: their residual is at most 5 σ."""
        return is_explained(self.costs[-1])

    @property
    def joints(self) -> tuple[str, ...]:
        """Labels of the joints of the logs, in the order of the noise."""
        return tuple(dict.fromkeys(trace.joint for trace in self.traces))

    def value(self, key: str) -> dict[str, float]:
        """Return the values of a parameter by the names of its joints.

        Args:
            key: The place of the parameter, as in `[fit.parameters]`.
        """
        return {each.name: each.value for each in self.verdicts if each.key == key}

    def summary(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        plain = attrs.asdict(self, filter=lambda field, _: field.name != "traces")
        plain |= {"verdicts": [each.plain() for each in self.verdicts], "folder": str(self.folder)}
        return {**plain, "file": str(self.file), "is_identified": self.is_identified}


@attrs.frozen(kw_only=True)
class LogAlignment:
    """Length and rate of a log, and the lag of its motion behind its commands."""

    name: str

    seconds: float
    """Its length [s]."""

    rate: float
    """Samples a second [Hz]."""

    lag: float | None
    """Median time from a command to the motion [s]; None if no joint follows clearly."""

    drift: float
    """Change of the lag from the first third to the last one [s]."""

    notes: tuple[str, ...]
    """Remarks of its reader."""


@attrs.frozen(kw_only=True)
class FitCheck:
    """A look at logs before a fit: their alignment, and a verdict for each parameter."""

    logs: tuple[LogAlignment, ...]

    verdicts: tuple[FitVerdict, ...]
    """A verdict for each value, at the values of the file, if the residuals of a fit were noise."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return {**attrs.asdict(self), "verdicts": [each.plain() for each in self.verdicts]}
