"""Warp kernels of a stack of LSTM layers."""

import warp as wp

__all__ = ["forget", "read_errors", "write_efforts"]


@wp.kernel
def read_errors(
    positions: wp.array[float],
    velocities: wp.array[float],
    targets: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    target_indices: wp.array[wp.uint32],
    position_scale: float,
    velocity_scale: float,
    inputs: wp.array3d[float],
):
    """Write the scaled position error and velocity of each lane, shape [1, lanes, 2]."""
    lane = wp.tid()
    error = targets[target_indices[lane]] - positions[position_indices[lane]]
    inputs[0, lane, 0] = error * position_scale
    inputs[0, lane, 1] = velocities[velocity_indices[lane]] * velocity_scale


@wp.kernel
def write_efforts(outputs: wp.array2d[float], scale: float, efforts: wp.array[float]):
    """Write the scaled output of each lane."""
    lane = wp.tid()
    efforts[lane] = outputs[lane, 0] * scale


@wp.kernel
def forget(mask: wp.array[wp.bool], memory: wp.array3d[float]):
    """Zero the memory of the lanes of a mask, shape [layers, lanes, cells]."""
    layer, lane, cell = wp.tid()
    if mask[lane]:
        memory[layer, lane, cell] = 0.0
