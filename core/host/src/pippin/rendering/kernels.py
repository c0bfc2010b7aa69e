"""Composition of images: smooth edges, ground with a pattern, haze and sky, and several worlds in one image."""

import warp as wp

GRAIN = wp.constant(wp.uint32(0xFFFFFFFE))
"""What Newton's camera writes in place of the index of a shape, if a loose particle is in sight."""


LINE = wp.constant(wp.uint32(0xFFFFFFFD))
"""What stands in place of the index of a shape, if a line is in sight."""


@wp.func
def level(packed: wp.uint32, index: int):
    """Return red, green or blue of a color, from 0 to 255."""
    return int((packed >> wp.uint32(8 * index)) & wp.uint32(0xFF))


@wp.func
def triangle_wave(x: float):
    """Integral of a square wave of period 2, up to its slope."""
    return 2.0 * wp.abs(x * 0.5 - wp.floor(x * 0.5) - 0.5)


@wp.func
def checker(x: float, y: float, width: float):
    """Pattern of squares of side 1, from -1 to 1, averaged over a width so that it fades before it flickers."""
    span = wp.max(width, 1.0e-3)
    across = (triangle_wave(x + 0.5 * span) - triangle_wave(x - 0.5 * span)) / span
    along = (triangle_wave(y + 0.5 * span) - triangle_wave(y - 0.5 * span)) / span
    return wp.clamp(across, -1.0, 1.0) * wp.clamp(along, -1.0, 1.0)


@wp.func
def holds(flags: wp.array[wp.bool], index: int):
    """Return a flag; false for an index out of range, such as that of a particle."""
    if index < 0 or index >= flags.shape[0]:
        return False
    return flags[index]


@wp.kernel
def compose(
    colors: wp.array3d[wp.uint32],
    depths: wp.array3d[float],
    shapes: wp.array3d[wp.uint32],
    rays: wp.array4d[wp.vec3],
    cameras: wp.array[wp.transform],
    shape_transform: wp.array[wp.transform],
    is_ground: wp.array[wp.bool],
    cell: float,
    haze: float,
    horizon: wp.vec3,
    zenith: wp.vec3,
    corners: wp.array2d[int],
    # output
    image: wp.array3d[wp.uint8],
):
    """Write a pixel of a view into the image.

    Args:
        colors: Colours of the renderer, red in the lowest byte, shape [views, height, width].
        depths: Distances along the rays [m]; below zero if nothing is in sight.
        shapes: Index of the shape in sight.
        rays: Origins and directions in the frame of the camera, the middle of the pixel first.
        cameras: Pose of the camera of each view.
        shape_transform: Pose of each shape on its body.
        is_ground: Whether a shape is a plane that is fixed to the world.
        cell: Side of a square of the ground [m].
        haze: Distance at which the ground fades [m].
        horizon: Colour of the sky at the horizon, from 0 to 255.
        zenith: Colour of the sky above.
        corners: Row and column of the upper left pixel of each view in the image.
        image: Red, green and blue, shape [height, width, 3].
    """
    view, row, column = wp.tid()
    packed = colors[view, row, column]
    color = wp.vec3(float(level(packed, 0)), float(level(packed, 1)), float(level(packed, 2)))
    ray = wp.normalize(wp.transform_vector(cameras[view], rays[row, column, 0, 1]))
    height = wp.clamp(ray[2] * 1.6, 0.0, 1.0)
    sky = horizon + (zenith - horizon) * height * (2.0 - height)
    depth = depths[view, row, column]
    if depth < 0.0:
        color = sky
    else:
        shape = int(shapes[view, row, column])
        fade = 1.0 - wp.exp(-wp.pow(depth / haze, 2.0))
        if holds(is_ground, shape):
            eye = wp.transform_get_translation(cameras[view])
            frame = wp.transform_inverse(shape_transform[shape])
            point = wp.transform_point(frame, eye + ray * depth)
            steep = wp.max(wp.abs(wp.transform_vector(frame, ray)[2]), 0.02)
            angle = 2.0 * wp.abs(rays[0, 0, 0, 1][1]) / float(colors.shape[1])
            width = depth * angle / (steep * cell)
            color = color * (1.0 + 0.035 * checker(point[0] / cell, point[1] / cell, width))
        color = color + (sky - color) * fade
    for channel in range(3):
        value = wp.clamp(color[channel] + 0.5, 0.0, 255.0)
        image[corners[view, 0] + row, corners[view, 1] + column, channel] = wp.uint8(value)


@wp.func
def differs(first: wp.uint32, second: wp.uint32, threshold: int):
    """Tell whether two colors differ by more than a threshold in red, green or blue."""
    red = wp.abs(level(first, 0) - level(second, 0))
    green = wp.abs(level(first, 1) - level(second, 1))
    blue = wp.abs(level(first, 2) - level(second, 2))
    return wp.max(red, wp.max(green, blue)) > threshold


@wp.kernel
def find_edges(
    colors: wp.array3d[wp.uint32],
    shapes: wp.array3d[wp.uint32],
    threshold: int,
    # outputs
    edges: wp.array2d[int],
    counts: wp.array[int],
):
    """List the pixels of each view that differ from a neighbour in shape, or in color by a threshold from 0 to 255.

    `edges`, shape [views, height * width], has the index of each such pixel, row by row, and `counts` their number.
    """
    view, row, column = wp.tid()
    height, width = colors.shape[1], colors.shape[2]
    color, shape = colors[view, row, column], shapes[view, row, column]
    is_edge = False
    for side in range(4):
        i = wp.clamp(row + (side - 1) * int(side % 2 == 0), 0, height - 1)
        j = wp.clamp(column + (side - 2) * int(side % 2 == 1), 0, width - 1)
        if shapes[view, i, j] != shape or differs(colors[view, i, j], color, threshold):
            is_edge = True
    if is_edge:
        edges[view, wp.atomic_add(counts, view, 1)] = row * width + column


@wp.kernel
def gather(
    rays: wp.array4d[wp.vec3],
    edges: wp.array[int],
    # output
    chosen: wp.array4d[wp.vec3],
):
    """Take the rays of some pixels, shape [pixels, samples, 1, 2]."""
    pixel, sample, end = wp.tid()
    row, column = edges[pixel] / rays.shape[1], edges[pixel] % rays.shape[1]
    chosen[pixel, sample, 0, end] = rays[row, column, sample, end]


@wp.func
def linear_color(color: wp.vec3):
    """Linear colour of an sRGB colour, from 0 to 1."""
    found = wp.vec3()
    for channel in range(3):
        value = color[channel]
        found[channel] = wp.where(value <= 0.04045, value / 12.92, wp.pow((value + 0.055) / 1.055, 2.4))
    return found


@wp.func
def linear(packed: wp.uint32):
    """Linear colour of a packed sRGB colour, from 0 to 1."""
    color = wp.vec3(float(level(packed, 0)), float(level(packed, 1)), float(level(packed, 2)))
    return linear_color(color / 255.0)


@wp.func
def packed_color(color: wp.vec3):
    """Packed sRGB colour of a linear one."""
    packed = wp.uint32(0xFF) << wp.uint32(24)
    for channel in range(3):
        value = wp.clamp(color[channel], 0.0, 1.0)
        value = wp.where(value <= 0.0031308, value * 12.92, 1.055 * wp.pow(value, 1.0 / 2.4) - 0.055)
        packed = packed | (wp.uint32(value * 255.0 + 0.5) << wp.uint32(8 * channel))
    return packed


@wp.kernel
def blend(
    smooth: wp.array3d[wp.uint32],
    edges: wp.array[int],
    view: int,
    # output
    colors: wp.array3d[wp.uint32],
):
    """Put the mean colors of the rays of some pixels, shape [1, pixels, samples], into a view."""
    pixel = wp.tid()
    color, count = wp.vec3(), smooth.shape[2]
    for sample in range(count):
        color += linear(smooth[0, pixel, sample]) / float(count)
    colors[view, edges[pixel] / colors.shape[2], edges[pixel] % colors.shape[2]] = packed_color(color)


@wp.kernel
def tint_grains(
    depths: wp.array3d[float],
    shapes: wp.array3d[wp.uint32],
    rays: wp.array4d[wp.vec3],
    cameras: wp.array[wp.transform],
    worlds: wp.array[int],
    tree: wp.uint64,
    positions: wp.array[wp.vec3],
    radii: wp.array[float],
    particle_world: wp.array[int],
    tints: wp.array[wp.vec3],
    # output
    colors: wp.array3d[wp.uint32],
):
    """Give loose particles their own colors: Newton draws them white.

    Args:
        depths: Distances along the rays [m], shape [views, height, width].
        shapes: What is in sight.
        rays: Origins and directions in the frame of the camera, the first of each pixel.
        cameras: Pose of the camera of each view.
        worlds: World of each view.
        tree: Bounding volume hierarchy of the particles.
        positions: Positions of the particles [m].
        radii: Their radii [m].
        particle_world: Their worlds; -1 for all.
        tints: Their colors, from 0 to 1.
        colors: Colors of the pixels.
    """
    view, row, column = wp.tid()
    if shapes[view, row, column] != GRAIN:
        return
    start, away = rays[row, column, 0, 0], wp.normalize(rays[row, column, 0, 1])
    point = wp.transform_point(cameras[view], start + away * depths[view, row, column])
    query = wp.bvh_query_aabb(tree, point, point)
    particle, nearest, tint = wp.int32(0), wp.float32(1.0e30), wp.vec3(1.0)
    while wp.bvh_query_next(query, particle):
        distance = wp.abs(wp.length(point - positions[particle]) - radii[particle])
        if distance < nearest and (particle_world[particle] < 0 or particle_world[particle] == worlds[view]):
            nearest = distance
            tint = linear_color(tints[particle])
    colors[view, row, column] = packed_color(wp.cw_mul(linear(colors[view, row, column]), tint))


@wp.kernel
def draw_lines(
    rays: wp.array4d[wp.vec3],
    cameras: wp.array[wp.transform],
    worlds: wp.array[int],
    segments: wp.array2d[wp.vec3],
    segment_world: wp.array[int],
    radius: float,
    tint: wp.vec3,
    light: wp.vec3,
    # outputs
    colors: wp.array3d[wp.uint32],
    depths: wp.array3d[float],
    shapes: wp.array3d[wp.uint32],
):
    """Draw lines as thin round rods, where nothing is before them.

    Args:
        rays: Origins and directions in the frame of the camera, the first of each pixel.
        cameras: Pose of the camera of each view.
        worlds: World of each view.
        segments: Ends of each straight part [m], shape [segments, 2].
        segment_world: World of each of them; -1 for all.
        radius: Radius of the rods [m].
        tint: Their color, from 0 to 1.
        light: Direction of the light, of length 1.
        colors: Colors of the pixels, shape [views, height, width].
        depths: Distances along the rays [m]; below zero if nothing is in sight.
        shapes: What is in sight.
    """
    view, row, column = wp.tid()
    start = wp.transform_point(cameras[view], rays[row, column, 0, 0])
    away = wp.normalize(wp.transform_vector(cameras[view], rays[row, column, 0, 1]))
    for index in range(segments.shape[0]):
        if segment_world[index] < 0 or segment_world[index] == worlds[view]:
            first = segments[index, 0]
            along = segments[index, 1] - first
            square = wp.dot(along, along)
            if square > 0.0:
                flat = along - wp.dot(along, away) * away
                offset = first - start
                part = -wp.dot(offset, flat) / wp.max(wp.dot(flat, flat), 1.0e-12 * square)
                place = first + wp.clamp(part, 0.0, 1.0) * along
                near = wp.dot(place - start, away)
                gap = place - start - near * away
                room = radius * radius - wp.dot(gap, gap)
                if room > 0.0:
                    depth = near - wp.sqrt(room)
                    seen = depths[view, row, column]
                    if depth > 0.0 and (seen < 0.0 or depth < seen):
                        normal = (start + depth * away - place) / radius
                        shade = 0.45 + 0.55 * wp.max(-wp.dot(normal, light), 0.0)
                        depths[view, row, column] = depth
                        shapes[view, row, column] = LINE
                        colors[view, row, column] = packed_color(linear_color(tint) * shade)
