"""A fault of a log."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Fault:
    """A fault of a log."""

    text: str
    """The fault and its cure, for a message."""

    kind: str = ""
    """Its name in `accept`; empty if it cannot be accepted."""

    is_note: bool = False
    """Whether it is only said."""
