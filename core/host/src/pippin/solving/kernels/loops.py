"""Kernels of loops, frames of joints in MuJoCo's equality constraints, and of efforts of ball joints."""

import warp as wp

Data = wp.types.vector(length=12, dtype=wp.float32)


@wp.kernel
def write_loop_frames(
    joint_of_row: wp.array2d[int],
    is_weld: wp.array[wp.bool],
    parent_frame: wp.array[wp.transform],
    child_frame: wp.array[wp.transform],
    eq_data: wp.array2d[Data],
):
    """Write where a joint holds its second body: an anchor in each body, and for a weld the rotation between them."""
    world, row = wp.tid()
    joint = joint_of_row[world, row]
    if joint < 0:
        return
    data = eq_data[world, row]
    if is_weld[row]:
        anchor = wp.transform_get_translation(child_frame[joint])
        place = wp.transform_get_translation(parent_frame[joint])
        turn = wp.transform_get_rotation(parent_frame[joint] * wp.transform_inverse(child_frame[joint]))
        for axis in range(3):
            data[axis] = anchor[axis]
            data[3 + axis] = place[axis]
            data[7 + axis] = turn[axis]
        data[6] = turn[3]
    else:
        first = wp.vec3(data[0], data[1], data[2])
        second = wp.transform_point(child_frame[joint] * wp.transform_inverse(parent_frame[joint]), first)
        for axis in range(3):
            data[3 + axis] = second[axis]
    eq_data[world, row] = data


@wp.kernel
def turn_ball_efforts(
    balls: wp.array[int],
    parent: wp.array[int],
    first_dof: wp.array[int],
    parent_frame: wp.array[wp.transform],
    body_q: wp.array[wp.transform],
    efforts: wp.array[float],
    turned: wp.array[float],
):
    """Turn the efforts of ball joints from the axes of their frames in the parents to those of the world."""
    joint = balls[wp.tid()]
    turn = wp.transform_get_rotation(parent_frame[joint])
    if parent[joint] >= 0:
        turn = wp.transform_get_rotation(body_q[parent[joint]]) * turn
    first = first_dof[joint]
    effort = wp.quat_rotate(turn, wp.vec3(efforts[first], efforts[first + 1], efforts[first + 2]))
    for axis in range(3):
        turned[first + axis] = effort[axis]
