"""Kernels of losses, and of the plugin that plays what was found."""

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


@wp.kernel
def play_row(
    rows: wp.array3d[float],
    index: wp.array2d[int],
    counts: wp.array[wp.int64],
    numbers: wp.array[float],
):
    """numbers[index] = the row of the control step of each world; the last row holds."""
    world, i = wp.tid()
    row = wp.min(int(counts[world]), rows.shape[0] - 1)
    numbers[index[world, i]] = rows[row, world, i]
