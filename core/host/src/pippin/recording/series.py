"""Quantities of a recording: a column as files store it, and a series over the rows, each with names and units."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np


@attrs.frozen(kw_only=True, eq=False)
class Column:
    """One quantity of a recording: the name, the units and the shape of its values in a row."""

    name: str
    """Name of the channel, such as `joint_q` or `sensors/torso/linear_acceleration`."""

    shape: tuple[int, ...]
    """Shape of the values in a row, [worlds, …]."""

    dtype: np.dtype[Any]
    """Type of the values."""

    labels: tuple[str, ...] = ()
    """Label of each entry of the second axis, if the entries have names: of a joint, body or site of a world."""

    units: tuple[str, ...] = ()
    """SI unit of all values, or one for each label; `1` for values without a unit. Poses, [m] and 1, have none."""

    frame: str = "none"
    """Frame of the components, as in `pippin.sensing.Output`; `none` for values without a direction."""

    components: tuple[str, ...] = ()
    """Names of the entries of the last axis, such as `x`, `y` and `z`, if they have names."""

    def plain(self) -> dict[str, Any]:
        """Return the column as plain data for JSON."""
        return {name: getattr(self, name) for name in attrs.fields_dict(Column)} | {"dtype": self.dtype.str}

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> Column:
        """Return the column whose `plain` gave `data`.

        Raises:
            ValueError: The values are no numbers, which NumPy would take for addresses in memory; or a shape is none.
            TypeError: A key is missing or unknown.
        """
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
        }
        values["dtype"] = np.dtype(values.get("dtype"))
        column = cls(**values)
        if column.dtype.kind not in "biuf":
            raise ValueError(f"column {column.name!r} is of type {column.dtype}, and not of numbers")
        if not all(isinstance(size, int) and size >= 0 for size in column.shape):
            raise ValueError(f"column {column.name!r} has shape {column.shape}")
        return column


def row_type(columns: Iterable[Column]) -> np.dtype[Any]:
    """Return the type of a row: the field `time` [s], then a field for each column."""
    fields: Any = [("time", "<f8"), *((column.name, column.dtype, column.shape) for column in columns)]
    return np.dtype(fields, align=True)


@attrs.frozen(kw_only=True, eq=False)
class Series:
    """One quantity over time, with names and units; a slice such as `series[-100:, 0]` reads no other rows."""

    _source: Any = attrs.field(alias="values")

    labels: tuple[str, ...] = ()
    """Names of the entries of a world, if they have names."""

    units: tuple[str, ...] = ()
    """SI unit of all entries, or one for each label."""

    frame: str = "none"
    """Frame of the components, as in `pippin.sensing.Output`; `none` for values without a direction."""

    components: tuple[str, ...] = ()
    """Names of the entries of the last axis, if they have names."""

    @property
    def values(self) -> np.ndarray:
        """All values, shape [rows, worlds, …]."""
        return self._source if isinstance(self._source, np.ndarray) else self._source[:]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of `values`; nothing is read."""
        return self._source.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of `values`; nothing is read."""
        return self._source.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        return self._source[rows]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)
