"""The settings that every recorder has in common."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs.validators import ge, min_len, optional
from pippin.validators import non_negative, positive, slice_or_indices


@attrs.frozen(kw_only=True)
class RecorderConfig:
    """Settings of every recorder; each plugin adds its own."""

    worlds: str | tuple[int, ...] = attrs.field(default="0:1", validator=slice_or_indices)
    """Worlds to record: a slice as in Python (`"0:8"`, `"::2"`) or a list of indices. They must have the same
    contents."""

    period: float | None = attrs.field(default=None, validator=optional(positive))
    """Simulated time from one row to the next [s], a whole number of control steps; by default one control step."""

    series: tuple[str, ...] | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Channels to record: full-match regular expressions of the last part of a channel's name, or of the whole name if
    they contain a `/`. By default all channels except body poses, particles and contacts."""

    path: str = ""
    """File to write. A relative path is in the run folder. By default the label with the suffix of the format."""

    chunk_bytes: int = attrs.field(default=1_000_000, validator=ge(1))
    """Size of the buffer of rows [bytes], which is written when it is full; it holds at least one row."""

    flush_period: float = attrs.field(default=1.0, validator=non_negative)
    """Wall time after which rows are written although the buffer is not full [s]: the most that a killed run loses."""

    on_full: Literal["stop-recording", "stop-run"] = "stop-recording"
    """What happens if the disk is nearly full, before the file is damaged: `stop-recording` closes the file and
    continues the run without it, `stop-run` ends the run."""

    max_contacts: int = attrs.field(default=16, validator=ge(1))
    """Contacts of a world for which the channels `contacts/...` have room; `contacts/count` counts the others too."""
