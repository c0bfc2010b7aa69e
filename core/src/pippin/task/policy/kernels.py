"""Kernels of networks: one thread for each number of a row."""

import warp as wp


@wp.kernel
def multiply(rows: wp.array2d[float], weights: wp.array2d[float], bias: wp.array[float], out: wp.array2d[float]):
    """Out = rows · weights + bias."""
    row, column = wp.tid()
    total = bias[column]
    for i in range(weights.shape[0]):
        total += rows[row, i] * weights[i, column]
    out[row, column] = total


@wp.kernel
def activate(rows: wp.array2d[float], code: int, parameters: wp.vec2, out: wp.array2d[float]):
    """Apply an operator of one number; the codes are those of the operators' table."""
    row, column = wp.tid()
    x = rows[row, column]
    y = x
    if code == 0:
        y = wp.max(x, 0.0)
    elif code == 1:
        y = wp.tanh(x)
    elif code == 2:
        y = 1.0 / (1.0 + wp.exp(-x))
    elif code == 3:
        y = wp.where(x > 0.0, x, parameters[0] * (wp.exp(x) - 1.0))
    elif code == 4:
        y = wp.where(x > 0.0, x, parameters[0] * x)
    elif code == 5:
        y = wp.max(x, 0.0) + wp.log(1.0 + wp.exp(-wp.abs(x)))
    elif code == 6:
        y = parameters[1] * wp.where(x > 0.0, x, parameters[0] * (wp.exp(x) - 1.0))
    elif code == 7:
        y = wp.clamp(x, parameters[0], parameters[1])
    out[row, column] = y


@wp.kernel
def combine(rows: wp.array2d[float], code: int, is_first: int, vector: wp.array[float], out: wp.array2d[float]):
    """Combine each row with a vector: sum, difference, product or quotient; the row is the first operand or not."""
    row, column = wp.tid()
    a = rows[row, column]
    b = vector[column]
    if is_first == 0:
        a = vector[column]
        b = rows[row, column]
    y = a + b
    if code == 1:
        y = a - b
    elif code == 2:
        y = a * b
    elif code == 3:
        y = a / b
    out[row, column] = y
