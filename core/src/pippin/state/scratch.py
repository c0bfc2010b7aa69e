"""Mark of memory that serves one call, so that snapshots and checkpoints leave it alone."""


class Scratch:
    """Base of objects whose arrays hold nothing between two calls.

    Some of these arrays lie over memory of the caller, which may be freed by now: nobody else may read or write them.
    """
