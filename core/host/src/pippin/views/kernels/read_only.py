"""The kernel that restores elements of an array whose new values the solver cannot take over."""

import warp as wp

from .rows import REFUSED, fault


@wp.kernel
def restore(
    index: wp.array[int],
    low: wp.array[float],
    high: wp.array[float],
    before: wp.array[float],
    faults: wp.array[int],
    values: wp.array[float],
):
    """values[k] = before[k] for each k of index whose value has changed and is out of its range, which is a fault."""
    i = wp.tid()
    k = index[i]
    value = values[k]
    if value != before[k] and not (value >= low[i] and value <= high[i]):
        values[k] = before[k]
        fault(faults, REFUSED, k)
