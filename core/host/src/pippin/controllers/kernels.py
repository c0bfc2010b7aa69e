"""Kernels of controllers: goals at the start of an episode, and the way from positions to targets."""

import warp as wp


@wp.kernel
def hold_joints(
    lane_world: wp.array[int],
    world_mask: wp.array[wp.bool],
    coordinates: wp.array[int],
    joint_q: wp.array[float],
    positions: wp.array[float],
    velocities: wp.array[float],
):
    """Let the commanded positions of masked worlds be the present ones."""
    i = wp.tid()
    if world_mask[lane_world[i]]:
        positions[i] = joint_q[coordinates[i]]
        velocities[i] = 0.0


@wp.func
def tool_pose(body: int, frame: wp.transform, body_q: wp.array[wp.transform]):
    """Return the pose of a tool in the world."""
    return body_q[body] * frame


@wp.kernel
def hold_tools(
    tool_world: wp.array[int],
    world_mask: wp.array[wp.bool],
    bodies: wp.array[int],
    frames: wp.array[wp.transform],
    body_q: wp.array[wp.transform],
    goals: wp.array[wp.transform],
):
    """Let the goals of masked worlds be the present poses of the tools."""
    i = wp.tid()
    if world_mask[tool_world[i]]:
        goals[i] = tool_pose(bodies[i], frames[i], body_q)


@wp.kernel
def write_tool_poses(
    bodies: wp.array[int],
    frames: wp.array[wp.transform],
    body_q: wp.array[wp.transform],
    poses: wp.array[wp.transform],
):
    """Write the present pose of each tool."""
    i = wp.tid()
    poses[i] = tool_pose(bodies[i], frames[i], body_q)


@wp.kernel
def spread_positions(coordinates: wp.array[int], positions: wp.array[float], joint_q: wp.array[float]):
    """Write commanded positions into an array of all coordinates."""
    i = wp.tid()
    joint_q[coordinates[i]] = positions[i]


@wp.kernel
def write_group_targets(
    columns: wp.array[int],
    positions: wp.array2d[float],
    velocities: wp.array2d[float],
    writes_velocities: wp.bool,
    position_targets: wp.array2d[float],
    velocity_targets: wp.array2d[float],
):
    """Write commanded positions and velocities into the targets of the group."""
    row, lane = wp.tid()
    position_targets[row, columns[lane]] = positions[row, lane]
    if writes_velocities:
        velocity_targets[row, columns[lane]] = velocities[row, lane]


@wp.kernel
def gather_robot(
    coordinates: wp.array2d[int],
    is_commanded: wp.array2d[int],
    joint_q: wp.array[float],
    positions: wp.array2d[float],
    robot_q: wp.array2d[float],
):
    """Write the coordinates of one robot in each world: those that are commanded, and measured ones."""
    row, i = wp.tid()
    lane = is_commanded[row, i]
    if lane >= 0:
        robot_q[row, i] = positions[row, lane]
    else:
        robot_q[row, i] = joint_q[coordinates[row, i]]


@wp.kernel
def scatter_robot(is_commanded: wp.array2d[int], robot_q: wp.array2d[float], positions: wp.array2d[float]):
    """Take the commanded positions from the coordinates of one robot in each world."""
    row, i = wp.tid()
    lane = is_commanded[row, i]
    if lane >= 0:
        positions[row, lane] = robot_q[row, i]


@wp.kernel
def place_goals_in_base(
    bases: wp.array[int],
    body_q: wp.array[wp.transform],
    goals: wp.array2d[wp.transform],
    tool: int,
    places: wp.array[wp.vec3],
    turns: wp.array[wp.vec4],
):
    """Write the goals of one tool in the frame of the robot's base."""
    row = wp.tid()
    goal = goals[row, tool]
    if bases[row] >= 0:
        goal = wp.transform_inverse(body_q[bases[row]]) * goal
    places[row] = wp.transform_get_translation(goal)
    turn = wp.transform_get_rotation(goal)
    turns[row] = wp.vec4(turn[0], turn[1], turn[2], turn[3])
