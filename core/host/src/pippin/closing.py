"""Base of classes that the end of a `with` block closes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Base of what has a method `close`, which the end of a `with` block calls."""

    @abstractmethod
    def close(self) -> None:
        """Close it; nothing happens if it is closed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
