"""The kernel that holds elements of an array at their values, if the solver cannot take over the new ones."""

import warp as wp

from .faults import REFUSED, fault

__all__ = ["hold"]


@wp.kernel
def hold(
    index: wp.array[int],
    low: wp.array[float],
    high: wp.array[float],
    before: wp.array[float],
    faults: wp.array[int],
    values: wp.array[float],
):
    """values[k] = before[k] for each k of index whose value has changed and is out of its range; counts them."""
    i = wp.tid()
    k = index[i]
    value = values[k]
    if value != before[k] and not (value >= low[i] and value <= high[i]):
        values[k] = before[k]
        fault(faults, REFUSED, k)
