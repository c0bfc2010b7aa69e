"""Motions that excite joints: waves between -1 and 1 over time."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pippin import ConfigError

Kind = Literal["multisine", "chirp", "steps", "optimal"]

_EDGE = 1.0
"""Time in which a motion begins and ends [s]."""


def edge_of(duration: float) -> float:
    """Return the time in which a motion begins, and that in which it ends [s]."""
    return min(_EDGE, 0.1 * duration)


def envelope(times: np.ndarray, duration: float) -> np.ndarray:
    """Return a factor from 0 to 1 and back to 0, which begins and ends without a jump of speed."""
    share = np.clip(np.minimum(times, duration - times) / edge_of(duration), 0.0, 1.0)
    return 0.5 - 0.5 * np.cos(np.pi * share)


def harmonics(count: int, band: tuple[float, float], duration: float) -> list[np.ndarray]:
    """Return the harmonics of each joint: all in a band, dealt out in turn, so that no two joints share one.

    Args:
        count: Number of joints.
        band: Lowest and highest frequency [Hz].
        duration: Length of the motion [s]; its period is the time between the two edges.

    Raises:
        ConfigError: The band has too few harmonics.
    """
    period = duration - 2.0 * edge_of(duration)
    first, last = int(np.ceil(band[0] * period - 1e-9)), int(np.floor(band[1] * period + 1e-9))
    known = np.arange(max(first, 1), last + 1)
    if len(known) < 2 * count:
        raise ConfigError(
            f"excite: {len(known)} harmonics from {band[0]:g} to {band[1]:g} Hz in {duration:g} s, and {count} joints"
            " need two each; make it longer, widen the band, or use --separate"
        )
    return [known[joint::count] for joint in range(count)]


def multisine(
    times: np.ndarray,
    own: np.ndarray,
    duration: float,
    slope: float = 1.0,
    phases: np.ndarray | None = None,
) -> np.ndarray:
    """Return a sum of sines of one joint; the largest value is 1.

    Args:
        times: Times [s], shape [samples].
        own: Its harmonics.
        duration: Length of the motion [s].
        slope: How fast the amplitude falls: harmonic k has k to the power of minus this. 1 gives all the same speed.
        phases: Phases [rad]; by default Schroeder's, which keep the peak low.
    """
    edge, order = edge_of(duration), np.arange(1, len(own) + 1)
    if phases is None:
        phases = -np.pi * order * (order - 1) / len(own)
    turns = 2.0 * np.pi * own * (times - edge)[:, None] / (duration - 2.0 * edge)
    values = (own**-slope * np.sin(turns + phases)).sum(axis=1)
    return envelope(times, duration) * values / np.abs(values).max()


def chirp(times: np.ndarray, band: tuple[float, float], duration: float) -> np.ndarray:
    """Return a sine whose frequency rises by equal ratios in equal times; its swing falls with the root of it."""
    low, high = band
    ratio = np.log(high / low)
    rise = np.exp(ratio * times / duration)
    return envelope(times, duration) * np.sin(2.0 * np.pi * low * duration / ratio * (rise - 1.0)) / np.sqrt(rise)


def steps(times: np.ndarray, band: tuple[float, float], duration: float, random: np.random.Generator) -> np.ndarray:
    """Return levels of alternating signs, each held for half a period of a frequency of the band."""
    begins, levels = [0.0, edge_of(duration)], [0.0]
    while begins[-1] < duration - edge_of(duration):
        sign = -1.0 if levels[-1] > 0.0 else 1.0
        levels.append(sign * random.uniform(0.3, 1.0))
        begins.append(begins[-1] + 0.5 / np.exp(random.uniform(*np.log(band))))
    levels.append(0.0)
    found = np.array(levels)[np.searchsorted(begins, times, side="right") - 1]
    return np.where(times < duration - 0.5 * edge_of(duration), found, 0.0)
