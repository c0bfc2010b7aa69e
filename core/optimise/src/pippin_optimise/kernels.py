"""Kernels of losses and of inputs with their derivative, and of the plugin that plays what was found."""

import warp as wp

SQUARE = wp.constant(0)
ABSOLUTE = wp.constant(1)

FUNCTIONS = {"square": SQUARE, "absolute": ABSOLUTE, "value": 2}
"""Numbers of the functions of a term."""


@wp.kernel
def add_term(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array[float],
    function: int,
    weight: float,
    loss: wp.array[float],
):
    """Loss += weight × the sum of f(value − target) over the columns."""
    world = wp.tid()
    total = wp.float32(0.0)  # a constant cannot grow in a loop
    for i in range(columns.shape[0]):
        x = values[world, columns[i]] - targets[i]
        if function == SQUARE:
            total += x * x
        elif function == ABSOLUTE:
            total += wp.abs(x)
        else:
            total += x
    wp.atomic_add(loss, world, weight * total)


@wp.func
def _put(rows: wp.array2d[float], now: int, before: int, index: wp.array[int], numbers: wp.array[float], i: int):
    numbers[index[i]] = rows[now, i]


@wp.func_grad(_put)
def _put_gradient(
    rows: wp.array2d[float], now: int, before: int, index: wp.array[int], numbers: wp.array[float], i: int
):
    at = index[i]
    wp.adjoint[rows][now, i] += wp.adjoint[numbers][at]
    wp.adjoint[numbers][at] = 0.0
    numbers[at] = rows[before, i]


@wp.kernel
def put_row(rows: wp.array2d[float], now: int, before: int, index: wp.array[int], numbers: wp.array[float]):
    """numbers[index] = rows[now]."""
    _put(rows, now, before, index, numbers, wp.tid())


@wp.kernel
def play_row(
    world_mask: wp.array[wp.bool],
    rows: wp.array3d[float],
    index: wp.array2d[int],
    counts: wp.array[wp.int64],
    numbers: wp.array[float],
):
    """numbers[index] = the row of the control step, in the masked worlds; the last row holds."""
    world, i = wp.tid()
    if world_mask[world]:
        row = wp.min(int(counts[world]), rows.shape[0] - 1)
        numbers[index[world, i]] = rows[row, world, i]


@wp.kernel
def count_step(counts: wp.array[wp.int64]):
    """Count a control step of each world."""
    counts[wp.tid()] += wp.int64(1)
