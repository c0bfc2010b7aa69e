"""Headers: everything about a recording besides its rows, the same in every format."""

from __future__ import annotations

import json
import math
import operator
import zlib
from collections.abc import Sequence
from importlib import metadata
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from pippin.binding import Host
from pippin.config import SimulationConfig, dump_toml
from pippin.errors import ConfigError

from .series import Column, row_type

_DISTRIBUTIONS = {"pippin": "pippin", "newton": "newton", "warp": "warp-lang"}


@attrs.frozen(kw_only=True, eq=False)
class WholeRun:
    """The run, if several processes simulate its worlds: facts that the recorder of a shard needs."""

    config: SimulationConfig
    """Configuration of the run."""

    worlds: tuple[int, ...]
    """The recorded worlds of the run, in the order of the recording."""

    first_world: int
    """Number, in the run, of the first world of the shard."""


@attrs.frozen(kw_only=True, eq=False)
class Header:
    """The contents of a recording, and the run that it belongs to."""

    format: ClassVar[str] = "pippin-recording"
    """Name of the format of headers."""

    format_version: ClassVar[int] = 1
    """Version of the format of headers."""

    label: str
    """Label of the recorder."""

    worlds: tuple[int, ...]
    """Indices of the recorded worlds in the simulation, in the order of the second axis of all values."""

    control_dt: float
    """Length of a control step [s]."""

    period: float
    """Simulated time from one row to the next [s]."""

    start_step: int
    """Control steps before the first row's step."""

    columns: tuple[Column, ...]
    """The recorded channels, without `time`."""

    config: str
    """The configuration of the run, as TOML."""

    versions: dict[str, str]
    """Versions of Pippin, Newton and Warp."""

    quaternion_order: str = "xyzw"
    """Order of the components of quaternions."""
    up_axis: str = "z"
    """Axis against gravity."""

    whole: tuple[int, ...] | None = None
    """The worlds of the whole recording, in its order, if some of them are in files of other processes."""

    @classmethod
    def of(
        cls,
        simulation: Host,
        label: str,
        worlds: Sequence[int] | np.ndarray,
        period: int,
        columns: Sequence[Column],
        whole_run: WholeRun | None = None,
    ) -> Self:
        """For the core: Return the header of a recording that begins now, after the first step.

        A row is recorded every `period` control steps; `whole_run` is None if one process simulates all worlds.
        """
        first = 0 if whole_run is None else whole_run.first_world
        of_run = tuple(first + int(world) for world in worlds)
        return cls(
            label=label,
            worlds=of_run,
            control_dt=simulation.control_dt,
            period=period * simulation.control_dt,
            start_step=simulation.step_count - 1,
            columns=tuple(columns),
            config=dump_toml(simulation.config if whole_run is None else whole_run.config),
            versions={name: metadata.version(distribution) for name, distribution in _DISTRIBUTIONS.items()},
            up_axis="xyz"[int(simulation.model.up_axis)],
            whole=None if whole_run is None or whole_run.worlds == of_run else whole_run.worlds,
        )

    @property
    def row_type(self) -> np.dtype[Any]:
        """The type of a row: the field `time` [s], then a field for each column."""
        return row_type(self.columns)

    def to_json(self) -> str:
        """Return the header as text, which every format stores."""
        data = attrs.asdict(self, recurse=False)
        if self.whole is None:
            del data["whole"]
        columns = [column.plain() for column in self.columns]
        return json.dumps({"format": self.format, "format_version": self.format_version, **data, "columns": columns})

    @classmethod
    def from_json(cls, text: str | bytes, where: str) -> Self:
        """Read the text of `to_json`.

        Args:
            text: The text.
            where: The file, for errors.

        Raises:
            ConfigError: The text is not a header, or belongs to a later version of the format.
        """
        try:
            data = json.loads(text)
            is_ours = data.pop("format") == cls.format
            version = data.pop("format_version")
            if is_ours and version <= cls.format_version:
                return cls._from_plain(data)
        except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
            raise ConfigError(cls.fault(where, error)) from error
        raise ConfigError(
            f"{where}: version {version} of the format, but this Pippin reads {cls.format_version}; update Pippin"
        )

    @classmethod
    def _from_plain(cls, data: dict[str, Any]) -> Self:
        data["columns"] = tuple(map(Column.from_plain, data["columns"]))
        for name in ("worlds", "whole"):
            if name in data:
                data[name] = tuple(map(operator.index, data[name]))
        header = cls(**data)
        header.row_type  # noqa: B018  NumPy refuses rows that are too large
        return header

    @staticmethod
    def fault(where: object, reason: object) -> str:
        """For the core: Return the fault of a file that is not a recording."""
        return f"{where}: not a recording of Pippin ({reason}); name a file that a recorder wrote"

    @staticmethod
    def damage(where: object, reason: object) -> str:
        """For the core: Return the fault of a recording whose bytes are not those that were written."""
        return f"{where}: damaged ({reason}); take another copy, or keep what is before it by `pippin recover`"

    @staticmethod
    def checksums(rows: np.ndarray) -> np.ndarray:
        """For the core: Return the CRC-32 of each row of an array of shape [rows, …]."""
        each = np.ascontiguousarray(rows).reshape(len(rows), math.prod(rows.shape[1:])).view(np.uint8)
        return np.array([zlib.crc32(row.data) for row in each], dtype="<u4")
