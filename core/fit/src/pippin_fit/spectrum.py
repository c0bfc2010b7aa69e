"""Spectra of residuals: where in frequency a model lacks something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from .result import Trace

_WHITE = 0.2
"""Correlation of neighbouring residuals from which on they are not white."""


@attrs.frozen(kw_only=True, eq=False)
class ResidualSpectrum:
    """Power of the residuals of a signal by frequency: white noise of the assumed size has 1 everywhere."""

    signal: str
    """`position` or `velocity`."""

    frequencies: np.ndarray
    """Frequencies [Hz], shape [frequencies]."""

    power: np.ndarray
    """Power with the values of the file, and with the found ones, shape [frequencies, 2]."""

    correlation: float
    """Mean correlation of neighbouring residuals, with the values that were found."""

    @property
    def is_white(self) -> bool:
        """Whether neighbouring residuals share little."""
        return abs(self.correlation) < _WHITE

    @property
    def band(self) -> tuple[float, float]:
        """The narrowest band from one frequency to another that has half of the power that was left [Hz]."""
        power = self.power[:, 1]
        sums = np.concatenate([[0.0], np.cumsum(power)])
        ends = np.searchsorted(sums, sums[:-1] + 0.5 * sums[-1] * (1.0 - 1e-9))
        widths = np.where(ends < len(sums), ends - np.arange(len(power)), len(sums))
        first = int(widths.argmin())
        return float(self.frequencies[first]), float(self.frequencies[first + widths[first] - 1])


def residual_spectra(
    traces: Sequence[Trace], joints: Sequence[str], noise: Mapping[str, Sequence[float]]
) -> list[ResidualSpectrum]:
    """Return the mean spectrum of each signal, over joints and windows of the same length, with Hann's window.

    The noise is the standard deviation of each joint, by signal.
    """
    found = []
    for signal in noise:
        own = [trace for trace in traces if trace.signal == signal]
        lengths = np.bincount([len(trace.times) for trace in own])
        length = int(lengths.argmax()) if len(lengths) else 0
        own = [trace for trace in own if len(trace.times) == length]
        if length < 8:
            continue
        sizes = np.array([noise[signal][joints.index(trace.joint)] for trace in own])
        values = np.stack([trace.values for trace in own])
        residuals = (values[:, :, 1:] - values[:, :, :1]) / sizes[:, None, None]
        taper = np.hanning(length + 2)[1:-1]
        power = np.abs(np.fft.rfft(residuals * taper[:, None], axis=1)) ** 2 / (taper**2).sum()
        last = residuals[:, :, 1] - residuals[:, :, 1].mean(axis=1, keepdims=True)
        shared = (last[:, 1:] * last[:, :-1]).sum() / max(float((last**2).sum()), 1e-300)
        period = float(np.median(np.diff(own[0].times)))
        found.append(
            ResidualSpectrum(
                signal=signal,
                frequencies=np.fft.rfftfreq(length, period),
                power=power.mean(axis=0),
                correlation=float(shared),
            )
        )
    return found
