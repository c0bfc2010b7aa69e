"""Kernels of events that exert forces and torques."""

import warp as wp

from .draws import EventDraws, draw_six, state_in


@wp.kernel
def draw_wrenches(
    draws: EventDraws,
    low: wp.spatial_vector,
    high: wp.spatial_vector,
    duration: wp.vec2,
    wrenches: wp.array2d[wp.spatial_vector],
    durations: wp.array2d[float],
    elapsed: wp.array2d[float],
):
    """Draw force, torque and length of the blow of each body, which begins now."""
    world, i = wp.tid()
    if not draws.world_mask[world]:
        return
    of_body = wp.rand_init(wp.int32(state_in(draws, world)), i)
    wrenches[world, i] = draw_six(wp.rand_init(wp.int32(of_body), 0), low, high, 0.0)
    durations[world, i] = wp.randf(wp.rand_init(wp.int32(of_body), 1), duration[0], duration[1])
    elapsed[world, i] = 0.0


@wp.kernel
def clear_wrenches(world_mask: wp.array[wp.bool], wrenches: wp.array2d[wp.spatial_vector]):
    """Let nothing act in the masked worlds."""
    world, i = wp.tid()
    if world_mask[world]:
        wrenches[world, i] = wp.spatial_vector()


@wp.kernel
def add_wrenches(
    bodies: wp.array2d[int],
    points: wp.array[wp.vec3],
    body_com: wp.array[wp.vec3],
    body_q: wp.array[wp.transform],
    wrenches: wp.array2d[wp.spatial_vector],
    durations: wp.array2d[float],
    is_half_sine: int,
    dt: float,
    elapsed: wp.array2d[float],
    body_f: wp.array[wp.spatial_vector],
):
    """Add the mean wrench of each body over the next dt, with the force at its point, and count the time.

    By means, the impulse of a blow is that of its form, wherever it begins and ends within steps: over a half sine
    from t to t + h, the integral of sin(π t / T) is 2 T / π sin(π (t + h / 2) / T) sin(π h / (2 T)).
    """
    world, i = wp.tid()
    body = bodies[world, i]
    held = wp.clamp(durations[world, i] - elapsed[world, i], 0.0, dt)
    share = held / dt
    if is_half_sine > 0 and held > 0.0:
        rate = wp.pi / durations[world, i]
        middle = elapsed[world, i] + 0.5 * held
        share = 2.0 * wp.sin(rate * middle) * wp.sin(0.5 * rate * held) / (rate * dt)
    elapsed[world, i] = elapsed[world, i] + dt
    force = share * wp.spatial_top(wrenches[world, i])
    arm = wp.quat_rotate(wp.transform_get_rotation(body_q[body]), points[body] - body_com[body])
    torque = share * wp.spatial_bottom(wrenches[world, i]) + wp.cross(arm, force)
    body_f[body] += wp.spatial_vector(force, torque)
