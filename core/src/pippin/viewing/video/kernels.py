"""Composition of images: smooth edges, ground with a pattern, haze and sky, and several worlds in one image."""

import warp as wp


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
    """Take the rays of some pixels, shape [1, pixels, samples, 2]."""
    pixel, sample, end = wp.tid()
    row, column = edges[pixel] / rays.shape[1], edges[pixel] % rays.shape[1]
    chosen[0, pixel, sample, end] = rays[row, column, sample, end]


@wp.kernel
def blend(
    smooth: wp.array3d[wp.uint32],
    edges: wp.array[int],
    view: int,
    # output
    colors: wp.array3d[wp.uint32],
):
    """Put the colors of some pixels, shape [1, 1, pixels], into a view."""
    pixel = wp.tid()
    colors[view, edges[pixel] / colors.shape[2], edges[pixel] % colors.shape[2]] = smooth[0, 0, pixel]
