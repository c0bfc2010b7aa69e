"""Development of pictures: ground with a pattern, haze and sky, and the tiles of several worlds in one picture."""

import warp as wp

__all__ = ["develop"]


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
    """Return a flag; false for what is no index, such as that of a particle."""
    if index < 0 or index >= flags.shape[0]:
        return False
    return flags[index]


@wp.kernel
def develop(
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
    picture: wp.array3d[wp.uint8],
):
    """Write a pixel of a view into the picture.

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
        corners: Row and column of the upper left pixel of each view in the picture.
        picture: Red, green and blue, shape [height, width, 3].
    """
    view, row, column = wp.tid()
    packed = colors[view, row, column]
    color = wp.vec3(
        float(packed & wp.uint32(0xFF)),
        float((packed >> wp.uint32(8)) & wp.uint32(0xFF)),
        float((packed >> wp.uint32(16)) & wp.uint32(0xFF)),
    )
    way = wp.normalize(wp.transform_vector(cameras[view], rays[row, column, 0, 1]))
    height = wp.clamp(way[2] * 1.6, 0.0, 1.0)
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
            point = wp.transform_point(frame, eye + way * depth)
            steep = wp.max(wp.abs(wp.transform_vector(frame, way)[2]), 0.02)
            angle = 2.0 * wp.abs(rays[0, 0, 0, 1][1]) / float(colors.shape[1])
            width = depth * angle / (steep * cell)
            color = color * (1.0 + 0.035 * checker(point[0] / cell, point[1] / cell, width))
        color = color + (sky - color) * fade
    for channel in range(3):
        level = wp.clamp(color[channel] + 0.5, 0.0, 255.0)
        picture[corners[view, 0] + row, corners[view, 1] + column, channel] = wp.uint8(level)
