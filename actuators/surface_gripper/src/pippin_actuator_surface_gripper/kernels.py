"""Warp kernels of pads: where they seal, and the wrench of the seal."""

import newton
import warp as wp
from newton import GeoType
from newton.geometry import sdf_box, sdf_capsule, sdf_cone, sdf_cylinder, sdf_mesh, sdf_sphere

__all__ = ["BROKEN", "OPEN", "RIM_POINTS", "Pads", "seal", "strain"]

OPEN = wp.constant(-1)
"""The pad holds nothing."""

BROKEN = wp.constant(-2)
"""The seal has broken; it seals again only after the suction was switched off."""

RIM_POINTS = wp.constant(12)
"""Points of the rim whose distance from the surface counts."""

_Z = wp.constant(int(newton.Axis.Z))


@wp.struct
class Pads:
    """The pads of all worlds, and the shapes on which those of a world can seal."""

    sites: wp.array[int]
    """Frame of each pad, by index among the shapes, shape [pads of all worlds]."""

    pads_per_world: int
    shapes: wp.array2d[int]
    """Candidates of each world, -1 for none, shape [worlds, candidates]."""

    suction: wp.array[float]
    """Above one half where a pad shall hold, shape [pads]."""

    held: wp.array[int]
    """Candidate on which each pad has sealed, `OPEN` or `BROKEN`."""

    anchors: wp.array[wp.transform]
    """Frame of the pad in that of the held body, as it was when the pad sealed."""

    loads: wp.array[wp.vec4]
    """Pull and shear [N], peel and twist [N·m]."""


@wp.func
def distance_to(kind: int, p: wp.vec3, scale: wp.vec3, mesh: wp.uint64, reach: float):
    """Return the signed distance of a point from a shape, in the frame of the shape [m]."""
    if kind == GeoType.BOX:
        return sdf_box(p, scale[0], scale[1], scale[2])
    if kind == GeoType.SPHERE:
        return sdf_sphere(p, scale[0])
    if kind == GeoType.CAPSULE:
        return sdf_capsule(p, scale[0], scale[1], _Z)
    if kind == GeoType.CYLINDER:
        return sdf_cylinder(p, scale[0], scale[1], _Z)
    if kind == GeoType.CONE:
        return sdf_cone(p, scale[0], scale[1], _Z)
    least = wp.min(scale)
    return least * sdf_mesh(mesh, wp.cw_div(p, scale), 4.0 * reach / least)


@wp.kernel
def seal(
    pads: Pads,
    radius: float,
    reach: float,
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    shape_type: wp.array[int],
    shape_scale: wp.array[wp.vec3],
    shape_source_ptr: wp.array[wp.uint64],
):
    """Let each pad with suction hold the first body that its whole rim touches, and one without let go."""
    i = wp.tid()
    if pads.suction[i] <= 0.5:
        pads.held[i] = OPEN
        pads.loads[i] = wp.vec4(0.0)
        return
    if pads.held[i] != OPEN:
        return
    world, site = i // pads.pads_per_world, pads.sites[i]
    pad = body_q[shape_body[site]] * shape_transform[site]
    for k in range(pads.shapes.shape[1]):
        shape = pads.shapes[world, k]
        if shape >= 0 and pads.held[i] == OPEN:
            body = shape_body[shape]
            into = wp.transform_inverse(body_q[body] * shape_transform[shape]) * pad
            touching = wp.int32(0)
            for point in range(RIM_POINTS):
                angle = 2.0 * wp.pi * float(point) / float(RIM_POINTS)
                on_rim = wp.vec3(radius * wp.cos(angle), radius * wp.sin(angle), 0.0)
                p = wp.transform_point(into, on_rim)
                far = distance_to(shape_type[shape], p, shape_scale[shape], shape_source_ptr[shape], reach)
                if wp.abs(far) <= reach:
                    touching += 1
            if touching == RIM_POINTS:
                pads.held[i] = k
                pads.anchors[i] = wp.transform_inverse(body_q[body]) * pad


@wp.kernel
def strain(
    pads: Pads,
    omega: float,
    damping_ratio: float,
    limits: wp.vec4,
    dt: float,
    body_q: wp.array[wp.transform],
    body_qd: wp.array[wp.spatial_vector],
    body_com: wp.array[wp.vec3],
    body_inv_mass: wp.array[float],
    body_inv_inertia: wp.array[wp.mat33],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    body_f: wp.array[wp.spatial_vector],
):
    """Add the wrench of each seal to both bodies, or break it where a load is above its limit.

    The damping is that of an implicit step, d / (1 + d dt / m): it cannot reverse a velocity.
    """
    i = wp.tid()
    if pads.held[i] < 0:
        return
    a, b = shape_body[pads.sites[i]], shape_body[pads.shapes[i // pads.pads_per_world, pads.held[i]]]
    pad, now = body_q[a] * shape_transform[pads.sites[i]], body_q[b] * pads.anchors[i]
    apart = wp.transform_inverse(pad) * now
    shift, turn = wp.transform_get_translation(apart), wp.transform_get_rotation(apart)
    angles = 2.0 * wp.vec3(turn[0], turn[1], turn[2])
    if turn[3] < 0.0:
        angles = -angles
    axes, at = wp.transform_get_rotation(pad), wp.transform_get_translation(now)
    arm_a = at - wp.transform_point(body_q[a], body_com[a])
    arm_b = at - wp.transform_point(body_q[b], body_com[b])
    spin_a, spin_b = wp.spatial_bottom(body_qd[a]), wp.spatial_bottom(body_qd[b])
    speed_a = wp.spatial_top(body_qd[a]) + wp.cross(spin_a, arm_a)
    speed_b = wp.spatial_top(body_qd[b]) + wp.cross(spin_b, arm_b)
    speed, spin = wp.quat_rotate_inv(axes, speed_b - speed_a), wp.quat_rotate_inv(axes, spin_b - spin_a)
    to_body, inverse = wp.transform_get_rotation(body_q[b]), body_inv_inertia[b]
    force, torque = wp.vec3(0.0), wp.vec3(0.0)
    damping = 2.0 * damping_ratio * omega / (1.0 + 2.0 * damping_ratio * omega * dt)
    for axis in range(3):
        unit = wp.vec3(0.0)
        unit[axis] = 1.0
        along = wp.quat_rotate(axes, unit)
        lever = wp.quat_rotate_inv(to_body, wp.cross(arm_b, along))
        mass = 1.0 / (body_inv_mass[b] + wp.dot(lever, inverse * lever))
        about = wp.quat_rotate_inv(to_body, along)
        inertia = 1.0 / wp.dot(about, inverse * about)
        force[axis] = -mass * (omega * omega * shift[axis] + damping * speed[axis])
        torque[axis] = -inertia * (omega * omega * angles[axis] + damping * spin[axis])
    loads = wp.vec4(
        wp.max(-force[2], 0.0),
        wp.length(wp.vec2(force[0], force[1])),
        wp.length(wp.vec2(torque[0], torque[1])),
        wp.abs(torque[2]),
    )
    pads.loads[i] = loads
    for kind in range(4):
        if loads[kind] > limits[kind]:
            pads.held[i] = BROKEN
    if pads.held[i] == BROKEN:
        return
    force, torque = wp.quat_rotate(axes, force), wp.quat_rotate(axes, torque)
    wp.atomic_add(body_f, b, wp.spatial_vector(force, wp.cross(arm_b, force) + torque))
    wp.atomic_sub(body_f, a, wp.spatial_vector(force, wp.cross(arm_a, force) + torque))
