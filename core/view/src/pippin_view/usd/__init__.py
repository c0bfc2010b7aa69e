"""The motion of a run in USD."""
