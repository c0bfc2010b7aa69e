"""Strides: control steps between two moments at which the host looks at the clock."""

from __future__ import annotations


def next_stride(stride: int, elapsed: float, period: float) -> int:
    """Return the number of control steps that take about a period: at least one, at most twice as many as before.

    Args:
        stride: The control steps of the last stride.
        elapsed: Time that they took [s].
        period: Time that the next stride should take [s].
    """
    return max(1, min(2 * stride, int(stride * period / elapsed))) if elapsed else 2 * stride
