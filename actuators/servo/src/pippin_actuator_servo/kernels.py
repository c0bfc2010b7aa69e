"""Warp kernels of servos: the motor under its firmware, the budget of the friction, and what of it acts."""

import warp as wp

__all__ = ["Coefficients", "Memory", "Motors", "drive_motors", "forget", "limit_friction", "solve_friction"]


@wp.struct
class Motors:
    """The parameters of all motors, arrays of shape [lanes]; lanes of one world follow each other."""

    kt: wp.array[float]
    resistance: wp.array[float]
    voltage: wp.array[float]
    gain: wp.array[float]
    kp: wp.array[float]
    damping_factor: wp.array[float]
    max_duty: wp.array[float]
    current_limit: wp.array[float]
    target_speed: wp.array[float]
    supply_resistance: wp.array[float]
    minimum: wp.array[float]
    per_world: int
    sets_current: bool


@wp.struct
class Memory:
    """Targets and currents of the last physics step, arrays of shape [lanes]."""

    targets: wp.array[float]
    """Where the firmware's own target is [rad]."""

    is_set: wp.array[bool]
    """Whether it is anywhere; if not, it starts at the position of the joint."""

    currents: wp.array[float]
    """Current from the supply [A], negative into it."""


@wp.kernel
def forget(mask: wp.array[bool], memory: Memory):
    """Clear the memory of the masked lanes."""
    i = wp.tid()
    if mask[i]:
        memory.targets[i] = 0.0
        memory.is_set[i] = False
        memory.currents[i] = 0.0


@wp.func
def supplied(i: int, motors: Motors, memory: Memory):
    """Voltage of the supply of a lane [V], by the current of its world in the last step."""
    first = (i // motors.per_world) * motors.per_world
    current = wp.float32(0.0)
    for lane in range(first, first + motors.per_world):
        current += memory.currents[lane]
    voltage = motors.voltage[i] - motors.supply_resistance[i] * wp.max(current, 0.0)
    return wp.max(voltage, wp.min(motors.minimum[i], motors.voltage[i]))


@wp.kernel
def drive_motors(
    motors: Motors,
    memory: Memory,
    positions: wp.array[float],
    velocities: wp.array[float],
    targets: wp.array[float],
    coordinates: wp.array[wp.uint32],
    dofs: wp.array[wp.uint32],
    lanes: wp.array[wp.uint32],
    dt: float,
    efforts: wp.array[float],
    following: Memory,
):
    """efforts[i] = torque of a motor at its joint [N·m]."""
    i = wp.tid()
    q, speed, kt, resistance = positions[coordinates[i]], velocities[dofs[i]], motors.kt[i], motors.resistance[i]
    room = motors.target_speed[i] * dt
    start = wp.where(memory.is_set[i], memory.targets[i], q)
    target = start + wp.clamp(targets[lanes[i]] - start, -room, room)
    voltage, highest = supplied(i, motors, memory), motors.current_limit[i]
    command, largest, back = motors.gain[i] * motors.kp[i] * (target - q), motors.max_duty[i], kt * speed
    duty, current = wp.float32(0.0), wp.float32(0.0)
    if motors.sets_current:
        command -= motors.damping_factor[i] * wp.sqrt(motors.kp[i]) * speed
        reach = largest * voltage
        current = wp.clamp(command, (-reach - back) / resistance, (reach - back) / resistance)
        current = wp.clamp(current, -highest, highest)
        duty = (resistance * current + back) / voltage
    else:
        low, high = (back - resistance * highest) / voltage, (back + resistance * highest) / voltage
        duty = wp.clamp(wp.clamp(command, low, high), -largest, largest)
        current = (voltage * duty - back) / resistance
    efforts[i] = kt * current
    following.targets[i] = target
    following.is_set[i] = True
    following.currents[i] = duty * current


@wp.struct
class Coefficients:
    """The coefficients of the friction of all joints, arrays of shape [lanes]."""

    kc: wp.array[float]
    kv: wp.array[float]
    kcs: wp.array[float]
    vs: wp.array[float]
    alpha: wp.array[float]
    km: wp.array[float]
    ke: wp.array[float]
    kms: wp.array[float]
    kes: wp.array[float]
    kmq: wp.array[float]
    keq: wp.array[float]


@wp.func
def budget(i: int, friction: Coefficients, speed: float, motor: float, other: float):
    """Largest magnitude of the friction [N·m]; other formulas are the sixth with coefficients of zero."""
    fading = wp.exp(-wp.pow(wp.abs(speed) / friction.vs[i], friction.alpha[i]))
    constant = friction.kc[i] + friction.kv[i] * wp.abs(speed)
    constant += wp.abs(friction.km[i] * motor - friction.ke[i] * other)
    faded = friction.kcs[i] + wp.abs(friction.kms[i] * motor - friction.kes[i] * other)
    if motor * other < 0.0:
        if wp.abs(motor) > wp.abs(other):
            faded += friction.keq[i] * other * other
        elif wp.abs(motor) < wp.abs(other):
            faded += friction.kmq[i] * motor * motor
    return constant + fading * faded


@wp.kernel
def limit_friction(
    friction: Coefficients,
    dofs: wp.array[int],
    velocities: wp.array[float],
    motors: wp.array[float],
    joint_f: wp.array[float],
    gravity: wp.array[float],
    coriolis: wp.array[float],
    limits: wp.array[float],
):
    """limits[i] = budget of the friction of a lane [N·m]."""
    i = wp.tid()
    dof = dofs[i]
    other = joint_f[dof] - motors[i] - gravity[dof] - coriolis[dof]
    limits[i] = budget(i, friction, velocities[dof], motors[i], other)


@wp.kernel
def solve_friction(
    sweeps: int,
    starts: wp.array[int],
    ends: wp.array[int],
    lane_of_dof: wp.array[int],
    responses: wp.array3d[float],
    velocities: wp.array[float],
    gravity: wp.array[float],
    coriolis: wp.array[float],
    limits: wp.array[float],
    dt: float,
    free: wp.array[float],
    efforts: wp.array[float],
    joint_f: wp.array[float],
):
    """Find the efforts within the limits that stop the joints of an articulation, or come as near as they may.

    Projected Gauss-Seidel: `free` has the velocity at the end of the step [rad/s], shape [DOFs], with the efforts so
    far; `efforts` begins with those of the last step.
    """
    articulation = wp.tid()
    first, last = starts[articulation], ends[articulation]
    for row in range(first, last):
        velocity = velocities[row]
        for column in range(first, last):
            effort = joint_f[column] - gravity[column] - coriolis[column]
            if lane_of_dof[column] >= 0:
                lane = lane_of_dof[column]
                efforts[lane] = wp.clamp(efforts[lane], -limits[lane], limits[lane])
                effort += efforts[lane]
            velocity += dt * responses[articulation, row - first, column - first] * effort
        free[row] = velocity
    for _ in range(sweeps):
        for row in range(first, last):
            lane = lane_of_dof[row]
            if lane >= 0:
                own = dt * responses[articulation, row - first, row - first]
                effort = wp.clamp(efforts[lane] - free[row] / own, -limits[lane], limits[lane])
                change = effort - efforts[lane]
                efforts[lane] = effort
                for other in range(first, last):
                    free[other] += dt * responses[articulation, other - first, row - first] * change
    for row in range(first, last):
        if lane_of_dof[row] >= 0:
            joint_f[row] += efforts[lane_of_dof[row]]
