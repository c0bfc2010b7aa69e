"""Warp kernel of the asset's own actuators."""

import warp as wp

__all__ = ["write_inputs"]


@wp.kernel
def write_inputs(
    kinds: wp.array[int],
    places: wp.array[int],
    references: wp.array[float],
    ranges: wp.array[wp.vec2],
    inputs: wp.array[float],
    ctrl: wp.array[float],
    joint_target_q: wp.array[float],
    joint_target_qd: wp.array[float],
):
    """Write each input where the solver reads it: 0 direct, 1 a position without its reference, 2 a velocity.

    Those of servos stay within their ranges, as only MuJoCo's solvers would keep them.
    """
    i = wp.tid()
    value = wp.clamp(inputs[i], ranges[i][0], ranges[i][1])
    if kinds[i] == 0:
        ctrl[places[i]] = inputs[i]
    elif kinds[i] == 1:
        joint_target_q[places[i]] = value - references[i]
    else:
        joint_target_qd[places[i]] = value
