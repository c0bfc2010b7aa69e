"""Warp kernels of impedance: what is added to the effort of Newton's laws."""

import warp as wp

__all__ = ["add_feedforward"]


@wp.kernel
def add_feedforward(feedforward: wp.array[float], rows: wp.array[wp.uint32], forces: wp.array[float]):
    """Effort += feedforward of each lane."""
    i = wp.tid()
    forces[i] += feedforward[rows[i]]
