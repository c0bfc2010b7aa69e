"""Columns of a quantity, chosen by axes."""

from __future__ import annotations

from collections.abc import Sequence

from pippin.errors import ConfigError

__all__ = ["columns"]

_AXES = "xyz"


def columns(labels: Sequence[str], axes: str | None, where: str) -> list[int]:
    """Return the columns of a quantity that some axes choose; all of them for None.

    A quantity of several vectors has labels such as `foot/x`; then the axes of each are chosen.

    Raises:
        ConfigError: The quantity is no vector, or an axis is unknown or repeated.
    """
    if axes is None:
        return list(range(len(labels)))
    if not labels or [label.rpartition("/")[2] for label in labels] != list(_AXES) * (len(labels) // 3):
        raise ConfigError(f"{where}: the quantity has {', '.join(labels)}, not the axes x, y, z; leave `axes` out")
    if not axes or len(set(axes)) < len(axes) or set(axes) - set(_AXES):
        raise ConfigError(f"{where}: {axes!r} is no choice of axes; write some of x, y, z, each once, such as 'xy'")
    return [first + _AXES.index(axis) for first in range(0, len(labels), 3) for axis in axes]
