"""Recordings in MCAP, for robot tools; and how to read files of others safely."""

from .file import refuse_large_chunks
from .messages import message_type

__all__ = ["message_type", "refuse_large_chunks"]
