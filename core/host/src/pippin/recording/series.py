"""Series: one quantity over the rows of a recording."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np


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
