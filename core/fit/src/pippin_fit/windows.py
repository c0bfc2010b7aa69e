"""Windows of logs: the pieces that are simulated side by side."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from pippin import ConfigError

from pippin_fit.config import FitConfig

from .log import Log

_SHORTEST = 0.5
"""Shortest piece at the end of a log that is a window of its own, as a share of a window."""


@attrs.frozen(kw_only=True, eq=False)
class Window:
    """A window: it starts from the measured state, and the samples after it count."""

    log: int
    """Index of the log."""

    first: int
    """Index of the sample that it starts with."""

    samples: np.ndarray
    """Indices of the samples that count."""

    is_validation: bool
    """Whether it judges the fit, which does not see it."""


def divide(logs: Sequence[Log], config: FitConfig, dt: float) -> tuple[tuple[Window, ...], int]:
    """Return the windows of logs, and the number of control steps of the longest one.

    Raises:
        ConfigError: There is no window to fit.
    """
    windows: list[Window] = []
    longest = 0
    for number, log in enumerate(logs):
        length = log.duration if isinstance(config.window, str) else config.window
        own: list[Window] = []
        start = 0
        while start < len(log.times) - 1:
            end = log.times[start] + length
            after = int(np.searchsorted(log.times, end, side="right"))
            inside = np.arange(start + 1, min(after, len(log.times)))
            kept = inside[log.times[inside] >= log.times[start] + config.burn_in]
            is_short = log.times[-1] - log.times[start] < _SHORTEST * length
            if len(kept) and not (is_short and own):
                own.append(Window(log=number, first=start, samples=kept, is_validation=False))
                longest = max(longest, int(np.ceil((log.times[kept[-1]] - log.times[start]) / dt - 1e-6)))
            start = max(after - 1, start + 1)
        share = 0.0 if isinstance(config.validation, tuple) else config.validation
        validating = len(own) if log.is_unseen else round(share * len(own))
        windows += own[: len(own) - validating]
        windows += [attrs.evolve(each, is_validation=True) for each in own[len(own) - validating :]]
    if all(each.is_validation for each in windows):
        raise ConfigError("fit.validation: no window is left to fit; shorten 'window', lower 'validation', or log more")
    return tuple(windows), longest
