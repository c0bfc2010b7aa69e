"""Rays against the surfaces of shapes.

A convex shape cuts an interval of distances out of a ray, `vec2(near, far)`, empty if near > far. An intersection of
shapes clips intervals; the intervals of a capsule's parts are joined, because a capsule is convex.
"""

import warp as wp
from newton import GeoType, ShapeFlags

__all__ = ["ALIGN_BODY", "ALIGN_WORLD", "ALIGN_YAW", "aim", "cast", "place"]

ALIGN_BODY = wp.constant(0)
ALIGN_YAW = wp.constant(1)
ALIGN_WORLD = wp.constant(2)

FAR = wp.constant(1.0e10)
"""A distance beyond any other [m]."""

ROUNDING = wp.constant(1.0e-5)
"""By how much boxes are larger than the shapes in them, relative to their distance from the origin: rays round."""

SEEN = wp.constant(int(ShapeFlags.VISIBLE | ShapeFlags.COLLIDE_SHAPES | ShapeFlags.COLLIDE_PARTICLES))
"""A shape with none of these flags is there for another variant of its body."""

UNSCALED = wp.constant(wp.vec3(1.0, 1.0, 1.0))


@wp.func
def clip(a: wp.vec2, b: wp.vec2):
    """Return the intersection of two intervals."""
    return wp.vec2(wp.max(a[0], b[0]), wp.min(a[1], b[1]))


@wp.func
def join(a: wp.vec2, b: wp.vec2):
    """Return the union of two overlapping intervals; either may be empty."""
    if a[0] > a[1]:
        return b
    if b[0] > b[1]:
        return a
    return wp.vec2(wp.min(a[0], b[0]), wp.max(a[1], b[1]))


@wp.func
def slab(origin: float, direction: float, half: float):
    """Return the interval of t in which |origin + t direction| <= half."""
    if direction == 0.0:
        return wp.where(wp.abs(origin) <= half, wp.vec2(-FAR, FAR), wp.vec2(FAR, -FAR))
    first = (-half - origin) / direction
    second = (half - origin) / direction
    return wp.vec2(wp.min(first, second), wp.max(first, second))


@wp.func
def below(a: float, b: float, c: float, falls: bool):
    """Return the interval in which a t² + 2 b t + c <= 0. For a < 0 there are two: the later one if `falls`."""
    if a == 0.0:
        if b == 0.0:
            return wp.where(c <= 0.0, wp.vec2(-FAR, FAR), wp.vec2(FAR, -FAR))
        end = -0.5 * c / b
        return wp.where(b > 0.0, wp.vec2(-FAR, end), wp.vec2(end, FAR))
    square = b * b - a * c
    if square < 0.0:
        return wp.where(a > 0.0, wp.vec2(FAR, -FAR), wp.vec2(-FAR, FAR))
    root = wp.sqrt(square)
    first = wp.min((-b - root) / a, (-b + root) / a)
    second = wp.max((-b - root) / a, (-b + root) / a)
    if a > 0.0:
        return wp.vec2(first, second)
    return wp.where(falls, wp.vec2(second, FAR), wp.vec2(-FAR, first))


@wp.func
def box(o: wp.vec3, d: wp.vec3, half: wp.vec3):
    """Return the interval of a ray inside a box."""
    return clip(clip(slab(o[0], d[0], half[0]), slab(o[1], d[1], half[1])), slab(o[2], d[2], half[2]))


@wp.func
def ellipsoid(o: wp.vec3, d: wp.vec3, axes: wp.vec3):
    """Return the interval of a ray inside an ellipsoid of these semi-axes."""
    p = wp.cw_div(o, axes)
    v = wp.cw_div(d, axes)
    return below(wp.dot(v, v), wp.dot(p, v), wp.dot(p, p) - 1.0, False)


@wp.func
def cylinder(o: wp.vec3, d: wp.vec3, radius: float, half: float):
    """Return the interval of a ray inside a cylinder about z."""
    a = d[0] * d[0] + d[1] * d[1]
    b = o[0] * d[0] + o[1] * d[1]
    c = o[0] * o[0] + o[1] * o[1] - radius * radius
    return clip(below(a, b, c, False), slab(o[2], d[2], half))


@wp.func
def cone(o: wp.vec3, d: wp.vec3, radius: float, half: float):
    """Return the interval of a ray inside a cone about z with its tip at z = half: x² + y² <= (slope (half - z))²."""
    slope = 0.5 * radius / half
    reach = slope * (half - o[2])
    fall = -slope * d[2]
    a = d[0] * d[0] + d[1] * d[1] - fall * fall
    b = o[0] * d[0] + o[1] * d[1] - reach * fall
    c = o[0] * o[0] + o[1] * o[1] - reach * reach
    return clip(below(a, b, c, d[2] < 0.0), slab(o[2], d[2], half))


@wp.func
def capsule(o: wp.vec3, d: wp.vec3, radius: float, half: float):
    """Return the interval of a ray inside a capsule along z."""
    axes = wp.vec3(radius)
    end = wp.vec3(0.0, 0.0, half)
    caps = join(ellipsoid(o - end, d, axes), ellipsoid(o + end, d, axes))
    return join(cylinder(o, d, radius, half), caps)


@wp.func
def inside(kind: int, o: wp.vec3, d: wp.vec3, scale: wp.vec3):
    """Return the interval of a ray inside a shape with a volume, in the shape's frame."""
    if kind == GeoType.BOX:
        return box(o, d, scale)
    if kind == GeoType.SPHERE:
        return ellipsoid(o, d, wp.vec3(scale[0]))
    if kind == GeoType.ELLIPSOID:
        return ellipsoid(o, d, scale)
    if kind == GeoType.CYLINDER:
        return cylinder(o, d, scale[0], scale[1])
    if kind == GeoType.CONE:
        return cone(o, d, scale[0], scale[1])
    return capsule(o, d, scale[0], scale[1])


@wp.func
def distance_to_plane(o: wp.vec3, d: wp.vec3, scale: wp.vec3):
    """Return the distance to the plane z = 0 of a width and a length, unlimited if they are zero; -1 for none."""
    if d[2] == 0.0:
        return -1.0
    distance = -o[2] / d[2]
    x = o[0] + distance * d[0]
    y = o[1] + distance * d[1]
    is_beside = (scale[0] > 0.0 and 2.0 * wp.abs(x) > scale[0]) or (scale[1] > 0.0 and 2.0 * wp.abs(y) > scale[1])
    return wp.where(is_beside, -1.0, distance)


@wp.func
def distance_to_volume(kind: int, o: wp.vec3, d: wp.vec3, scale: wp.vec3):
    """Return the distance to the surface of a shape with a volume, from outside or from inside; -1 for none."""
    # Start at the point nearest to the centre: with squares of large distances, rounding would lose a small shape.
    middle = -wp.dot(o, d)
    interval = inside(kind, o + middle * d, d, scale)
    if interval[0] > interval[1]:
        return -1.0
    near = middle + interval[0]
    return wp.where(near >= 0.0, near, middle + interval[1])


@wp.func
def is_mesh(kind: int):
    """Return whether a shape is made of triangles."""
    return kind == GeoType.MESH or kind == GeoType.CONVEX_MESH or kind == GeoType.HFIELD


@wp.func
def distance_to(kind: int, o: wp.vec3, d: wp.vec3, scale: wp.vec3):
    """Return the distance to the surface of a shape that is not a mesh; -1 for none."""
    if kind == GeoType.PLANE:
        return distance_to_plane(o, d, scale)
    return distance_to_volume(kind, o, d, scale)


@wp.func
def normal_at(kind: int, p: wp.vec3, scale: wp.vec3):
    """Return the outward normal of a surface at a point of it, in the shape's frame."""
    up = wp.vec3(0.0, 0.0, 1.0)
    if kind == GeoType.PLANE:
        return up
    if kind == GeoType.SPHERE:
        return wp.normalize(p)
    if kind == GeoType.ELLIPSOID:
        return wp.normalize(wp.cw_div(wp.cw_div(p, scale), scale))
    if kind == GeoType.BOX:
        depth = wp.vec3(wp.abs(p[0]) - scale[0], wp.abs(p[1]) - scale[1], wp.abs(p[2]) - scale[2])
        axis = int(wp.argmax(depth))
        normal = wp.vec3(0.0)
        normal[axis] = wp.sign(p[axis])
        return normal
    if kind == GeoType.CAPSULE:
        return wp.normalize(p - wp.clamp(p[2], -scale[1], scale[1]) * up)
    radial = wp.vec3(p[0], p[1], 0.0)
    radius = scale[0]
    slope = 0.0
    if kind == GeoType.CONE:
        slope = 0.5 * scale[0] / scale[1]
        radius = slope * (scale[1] - p[2])
    # The cap, if it is nearer than the side; a cone has a cap only at its base.
    cap = scale[1] - wp.abs(p[2])
    if cap < radius - wp.length(radial) and (kind == GeoType.CYLINDER or p[2] < 0.0):
        return wp.sign(p[2]) * up
    return wp.normalize(wp.normalize(radial) + slope * up)


@wp.kernel
def aim(
    sites: wp.array[int],
    align: int,
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    frames: wp.array[wp.transform],
):
    """Frame of the rays of each site: at the site, rotated with the site, with its heading only, or not at all."""
    i = wp.tid()
    pose = body_q[shape_body[sites[i]]] * shape_transform[sites[i]]
    turn = wp.quat_identity()
    if align == ALIGN_BODY:
        turn = wp.transform_get_rotation(pose)
    if align == ALIGN_YAW:
        heading = wp.quat_rotate(wp.transform_get_rotation(pose), wp.vec3(1.0, 0.0, 0.0))
        turn = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), wp.atan2(heading[1], heading[0]))
    frames[i] = wp.transform(wp.transform_get_translation(pose), turn)


@wp.kernel
def place(
    shapes: wp.array[int],
    body_q: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_transform: wp.array[wp.transform],
    shape_lower: wp.array[wp.vec3],
    shape_upper: wp.array[wp.vec3],
    into_shapes: wp.array[wp.transform],
    lowers: wp.array[wp.vec3],
    uppers: wp.array[wp.vec3],
):
    """Transform from the world into the frame of each shape; and for the first ones the box around it in the world."""
    i = wp.tid()
    shape = shapes[i]
    pose = shape_transform[shape]
    if shape_body[shape] >= 0:
        pose = body_q[shape_body[shape]] * pose
    into_shapes[i] = wp.transform_inverse(pose)
    if i >= len(lowers):
        return

    half = 0.5 * (shape_upper[shape] - shape_lower[shape])
    centre = wp.transform_point(pose, shape_lower[shape] + half)
    turn = wp.quat_to_matrix(wp.transform_get_rotation(pose))
    reach = wp.vec3(0.0)
    for axis in range(3):
        for other in range(3):
            reach[axis] += wp.abs(turn[axis, other]) * half[other]
    reach += ROUNDING * (wp.abs(centre) + reach + wp.vec3(0.1))
    lowers[i] = centre - reach
    uppers[i] = centre + reach


@wp.struct
class Ray:
    """A ray, and the nearest surface that it has met."""

    origin: wp.vec3
    direction: wp.vec3
    distance: float
    target: int
    """Index of the target that has it; -1 for none."""
    normal: wp.vec3
    """Outward normal in the frame of the target, if it is a mesh."""


@wp.func
def meet(
    ray: Ray,
    target: int,
    into: wp.transform,
    kind: int,
    scale: wp.vec3,
    mesh: wp.uint64,
):
    """Return a ray that has also met a target, if that is nearer; of two at the same distance, the one listed first."""
    o = wp.transform_point(into, ray.origin)
    d = wp.transform_vector(into, ray.direction)
    if is_mesh(kind):
        is_original = scale == UNSCALED
        if not is_original:
            o = wp.cw_div(o, scale)
            d = wp.cw_div(d, scale)
        query = wp.mesh_query_ray(mesh, o, d, ray.distance)
        if query.result:
            ray.distance = query.t
            ray.target = target
            ray.normal = query.normal
            if not is_original:
                ray.normal = wp.normalize(wp.cw_div(query.normal, scale))
    else:
        distance = distance_to(kind, o, d, scale)
        is_nearer = distance < ray.distance or (distance == ray.distance and ray.target >= 0 and target < ray.target)
        if distance >= 0.0 and is_nearer:
            ray.distance = distance
            ray.target = target
    return ray


@wp.kernel
def cast(
    measured_worlds: wp.array[wp.bool],
    world_of_row: wp.array[int],
    sites: wp.array[int],
    sites_per_world: int,
    frames: wp.array[wp.transform],
    starts: wp.array[wp.vec3],
    directions: wp.array[wp.vec3],
    max_distance: float,
    distance_of_no_hit: float,
    boxes: wp.uint64,
    groups: wp.array2d[int],
    members: wp.array[int],
    member_starts: wp.array[int],
    shapes: wp.array[int],
    into_shapes: wp.array[wp.transform],
    shape_body: wp.array[int],
    shape_type: wp.array[int],
    shape_scale: wp.array[wp.vec3],
    shape_source_ptr: wp.array[wp.uint64],
    shape_flags: wp.array[int],
    distances: wp.array2d[float],
    positions: wp.array2d[wp.vec3],
    normals: wp.array2d[wp.vec3],
    hit_shapes: wp.array2d[int],
):
    """The nearest surface that each ray of each site meets, among the targets of the site's world, if it is measured.

    `groups` has the groups of the tree of boxes in which each world's targets are, -1 for none; `members` has those in
    no box, world by world.
    """
    site, index = wp.tid()
    world = site // sites_per_world
    if not measured_worlds[world_of_row[world]]:
        return
    ray = Ray()
    ray.origin = wp.transform_point(frames[site], starts[index])
    ray.direction = wp.transform_vector(frames[site], directions[index])
    ray.distance = max_distance
    ray.target = -1
    body = shape_body[sites[site]]
    for k in range(member_starts[world], member_starts[world + 1]):
        target = members[k]
        shape = shapes[target]
        if shape_body[shape] != body and (shape_flags[shape] & SEEN) != 0:
            kind = shape_type[shape]
            ray = meet(ray, target, into_shapes[target], kind, shape_scale[shape], shape_source_ptr[shape])
    for which in range(groups.shape[1]):
        group = groups[world, which]
        if group >= 0:
            query = wp.bvh_query_ray(boxes, ray.origin, ray.direction, wp.bvh_get_group_root(boxes, group))
            target = wp.int32(0)
            while wp.bvh_query_next(query, target, ray.distance):
                shape = shapes[target]
                if shape_body[shape] != body and (shape_flags[shape] & SEEN) != 0:
                    kind = shape_type[shape]
                    ray = meet(ray, target, into_shapes[target], kind, shape_scale[shape], shape_source_ptr[shape])

    if ray.target < 0:
        distances[site, index] = distance_of_no_hit
        positions[site, index] = wp.vec3(wp.inf)
        normals[site, index] = wp.vec3(0.0)
        hit_shapes[site, index] = -1
    else:
        point = ray.origin + ray.distance * ray.direction
        into = into_shapes[ray.target]
        shape = shapes[ray.target]
        kind = shape_type[shape]
        facing = ray.normal
        if not is_mesh(kind):
            facing = normal_at(kind, wp.transform_point(into, point), shape_scale[shape])
        distances[site, index] = ray.distance
        positions[site, index] = point
        normals[site, index] = wp.quat_rotate_inv(wp.transform_get_rotation(into), facing)
        hit_shapes[site, index] = shape
