"""Warp kernel of the asset's own actuators."""

import warp as wp

__all__ = ["write_inputs"]


@wp.kernel
def write_inputs(
    kinds: wp.array[int],
    places: wp.array[int],
    references: wp.array[float],
    inputs: wp.array[float],
    ctrl: wp.array[float],
    joint_target_q: wp.array[float],
    joint_target_qd: wp.array[float],
):
    """Write each input where the solver reads it: 0 direct, 1 a position without its reference, 2 a velocity."""
    i = wp.tid()
    if kinds[i] == 0:
        ctrl[places[i]] = inputs[i]
    elif kinds[i] == 1:
        joint_target_q[places[i]] = inputs[i] - references[i]
    else:
        joint_target_qd[places[i]] = inputs[i]
