"""Draw the picture of the README: `python docs/draw_robots.py`. One robot of each example, after two seconds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pippin import Simulation

if TYPE_CHECKING:
    import warp as wp

DOCS = Path(__file__).parent
SIZE = 360  # of each view [pixels]
FOV = 0.8  # of a view, from edge to edge [rad]
VIEWS = {  # position of the camera, and the point that it looks at [m]
    "ant": ((2.4, -0.9, 1.5), (0.0, 0.0, 0.3)),
    "quadruped": ((1.1, -1.3, 0.9), (0.0, 0.0, 0.3)),
    "humanoid": ((1.7, -2.3, 1.5), (0.7, 0.0, 0.1)),
    "half_cheetah": ((0.4, -2.2, 0.9), (0.0, 0.0, 0.35)),
}


def draw(example: str) -> np.ndarray:
    """Return a view of the example's first world, shape [height, width, 3], from 0 to 255."""
    overrides = {"scene.worlds": 1, "simulation.device": "cpu"}
    with Simulation.from_file(DOCS / "examples" / f"{example}.toml", overrides) as simulation:
        simulation.step(round(2.0 / simulation.control_dt))
        simulation.check()
        return render(simulation, *VIEWS[example])


def render(
    simulation: Simulation, eye: tuple[float, ...], target: tuple[float, ...], ground: str = "ground_plane"
) -> np.ndarray:
    """Return the image of a camera at `eye` that looks at `target` [m]; `ground` is the label of a shape."""
    import warp as wp
    from newton.sensors import SensorCamera

    shape = simulation.model.shape_label.index(ground)
    simulation.model.shape_color[shape : shape + 1].fill_(wp.vec3(0.75, 0.78, 0.8))
    camera = SensorCamera(
        simulation.model,
        default_clear_data=SensorCamera.ClearData(clear_color=0xFFB6B0AA),
        default_render_config=SensorCamera.RenderConfig(
            enable_shadows=True, anti_aliasing=SensorCamera.AntiAliasing.SSAA
        ),
    )
    camera.create_default_light(enable_shadows=True)
    rays = SensorCamera.compute_camera_rays_pinhole(
        SIZE, SIZE, camera_fov=FOV, device=simulation.device, sample_count=4
    )
    place = wp.array([look(np.array(eye), np.array(target))], dtype=wp.transformf, device=simulation.device)
    image = camera.allocate_image_color(1, SIZE, SIZE)
    simulation.model.bvh_refit_shapes(simulation.state)
    camera.update(simulation.state, place, rays, color_image=image)
    return image.numpy()[0].view(np.uint8).reshape(SIZE, SIZE, 4)[..., :3]


def look(eye: np.ndarray, target: np.ndarray) -> wp.transform:
    """Return the frame of a camera: it looks along its own −z, with +y up."""
    import warp as wp

    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross((0.0, 0.0, 1.0), back)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(back, right), back], axis=1)
    return wp.transform(wp.vec3(*eye), wp.quat_from_matrix(wp.mat33(*axes.ravel())))


def main() -> None:
    """Draw every view side by side."""
    from matplotlib import image

    views = np.concatenate([draw(example) for example in VIEWS], axis=1)
    image.imsave(DOCS / "images" / "robots.png", views)


if __name__ == "__main__":
    main()
