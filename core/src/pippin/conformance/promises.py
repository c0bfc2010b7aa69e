"""What a check says where the plugin made no promise."""

__all__ = ["NotApplicableError"]


class NotApplicableError(Exception):
    """There is nothing to try; the text says why."""
