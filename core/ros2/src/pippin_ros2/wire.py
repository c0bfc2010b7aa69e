"""Writers and readers of topics, whose messages are bytes with the head of CDR."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Literal

__all__ = ["Reliability", "Wire"]

Reliability = Literal["reliable", "best-effort"]
"""Whether a reader asks again for what was lost; a reliable one hears no writer that is `best-effort`."""


class Wire(abc.ABC):
    """A connection to the programs of a domain."""

    #: Where it is, in words.
    address: str = ""

    @abc.abstractmethod
    def writer(self, topic: str, kind: str) -> Callable[[bytes | bytearray], None]:
        """Return a function that publishes.

        Args:
            topic: Name of the topic, such as `/joint_states`.
            kind: Name of the message in the table, such as `sensor_msgs/JointState`.
        """

    @abc.abstractmethod
    def reader(self, topic: str, kind: str, reliability: Reliability = "reliable") -> Callable[[], list[bytes]]:
        """Return a function that takes what has come since its last call, the oldest first, at most 100 messages.

        Args:
            topic: Name of the topic.
            kind: Type of its messages.
            reliability: `reliable` asks for what was lost; `best-effort` hears all publishers.
        """

    def announce(self) -> None:
        """Tell others which readers and writers there are, once all are made."""
        return

    @abc.abstractmethod
    def close(self) -> None:
        """Leave; a second call does nothing."""
