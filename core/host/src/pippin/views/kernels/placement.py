"""The kernels of `Placement`: they set poses and velocities of bodies, through the joints that move the bodies."""

import warp as wp

from .rows import HELD, INVALID, DirtyFlags, SelectedRows, fault, selected_row, set_flags
from .rules import is_pose, is_twist


@wp.struct
class Movers:
    """The body of each row and the joint that moves it, shapes [count]."""

    body_of: wp.array(dtype=int)

    joint_of: wp.array(dtype=int)
    """Joint that moves the body; -1 for none."""

    coord_of: wp.array(dtype=int)
    """First of the seven coordinates of a free joint; -1 for every other joint."""

    dof_of: wp.array(dtype=int)
    """First of the six DOFs of a free joint; -1 for every other joint."""

    moves_anchor: bool
    """Whether a pose moves the anchor of a joint that is not free; otherwise a body that it holds stays."""


@wp.func
def is_identity(frame: wp.transform):
    """Return whether a frame is the identity."""
    size = wp.float32(0.0)
    for k in range(6):
        size += wp.abs(frame[k])
    return size == 0.0


@wp.kernel
def flag_joined(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array[wp.transform],
    movers: Movers,
    selected: SelectedRows,
    faults: wp.array[int],
    flags: DirtyFlags,
):
    """Set the flags of the selected rows whose body is held by a joint that is not free, if their pose is allowed."""
    for position in range(wp.tid(), count, row_step):
        row, at = selected_row(position, movers.body_of.shape[0], selected, False, faults)
        if row >= 0:  # noqa: SIM102 (Warp would evaluate all conditions)
            if movers.joint_of[row] >= 0 and movers.coord_of[row] < 0 and is_pose(values[at]):
                set_flags(row, flags)


@wp.kernel
def scatter_poses(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array[wp.transform],
    movers: Movers,
    selected: SelectedRows,
    faults: wp.array[int],
    flags: DirtyFlags,
    child_frame: wp.array[wp.transform],
    parent_frame: wp.array[wp.transform],
    joint_q: wp.array[float],
    body_q: wp.array[wp.transform],
):
    """Set the poses of the bodies of the selected rows in the world.

    A free joint takes the pose that puts its body there. If the anchor of any other joint may move, the joint's
    coordinates stay as they are, and its frame in the world moves along. A body without a joint is put there itself.
    """
    for position in range(wp.tid(), count, row_step):
        row, at = selected_row(position, movers.body_of.shape[0], selected, True, faults)
        if row >= 0:
            pose = values[at]
            joint = movers.joint_of[row]
            start = movers.coord_of[row]
            if start < 0 and joint >= 0 and not movers.moves_anchor:
                fault(faults, HELD, row)
            elif not is_pose(pose):
                fault(faults, INVALID, row)
            else:
                if start >= 0:
                    # body = parent_frame * joint * child_frame⁻¹, solved for the joint. Most free joints have frames
                    # that change nothing, and products of transforms are what takes time here.
                    moved = pose
                    if not is_identity(parent_frame[joint]):
                        moved = wp.transform_inverse(parent_frame[joint]) * moved
                    if not is_identity(child_frame[joint]):
                        moved = moved * child_frame[joint]
                    for k in range(7):
                        joint_q[start + k] = moved[k]
                elif joint >= 0:
                    # The body moves by pose * body⁻¹ in the world. The joint's coordinates stay, so its frame makes
                    # the same move.
                    body = movers.body_of[row]
                    parent_frame[joint] = pose * wp.transform_inverse(body_q[body]) * parent_frame[joint]
                else:
                    body_q[movers.body_of[row]] = pose
                set_flags(row, flags)


@wp.kernel
def scatter_twists(
    count: int,
    row_step: int,
    column_step: int,
    values: wp.array[wp.spatial_vector],
    movers: Movers,
    selected: SelectedRows,
    faults: wp.array[int],
    flags: DirtyFlags,
    parent_frame: wp.array[wp.transform],
    joint_qd: wp.array[float],
    body_qd: wp.array[wp.spatial_vector],
):
    """Set the velocities of the free bodies of the selected rows in the world."""
    for position in range(wp.tid(), count, row_step):
        row, at = selected_row(position, movers.body_of.shape[0], selected, True, faults)
        if row >= 0:
            twist = values[at]
            start = movers.dof_of[row]
            if start < 0 and movers.joint_of[row] >= 0:
                fault(faults, HELD, row)
            elif not is_twist(twist):
                fault(faults, INVALID, row)
            else:
                if start >= 0:
                    # Newton's free joint measures the velocity of the centre of mass, as the views do: only the axes
                    # differ.
                    turn = wp.quat_inverse(wp.transform_get_rotation(parent_frame[movers.joint_of[row]]))
                    linear = wp.quat_rotate(turn, wp.spatial_top(twist))
                    angular = wp.quat_rotate(turn, wp.spatial_bottom(twist))
                    for k in range(3):
                        joint_qd[start + k] = linear[k]
                        joint_qd[start + 3 + k] = angular[k]
                else:
                    body_qd[movers.body_of[row]] = twist
                set_flags(row, flags)
