"""Base of classes that the end of a `with` block closes."""

from __future__ import annotations

from typing import Self


class Closing:
    """Base of what has a method `close`, which the end of a `with` block calls."""

    def close(self) -> None:
        """Close it; nothing happens if it is closed."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
