"""The camera beside Newton's own, called by hand: `uv run python tests/benchmarks/camera.py [--device cuda:0]`.

Each side refits the model's tree of shapes, places one camera in each world and takes its pictures, recorded into one
graph over the same model. Both must give the same images, bit for bit. A figure is the median of the ratios of
neighbouring runs.

The second table is of whole control steps, recorded, of a simulation with a camera that takes a picture in one step of
ten, beside one without a camera: in the steps between, which must cost the same, and in all ten. The first step after
a picture is left out of the former: the picture has pushed the simulation out of the processor's caches.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from in_turn import TURNS, in_turn, recorded, seconds

PERIOD = 10
EYE = {
    "type": "camera",
    "position": [2.5, 0.0, 1.5],
    "look_at": [0.0, 0.0, 0.5],
    "vertical_fov": 0.8,
    "no_hit": "zero",
    "max_distance": 1000.0,
}
SIZES = {1: (320, 240), 64: (64, 48), 1024: (32, 24)}
"""Width and height of the images, by the number of worlds."""
OUTPUTS = {"depth": ["depth"], "depth and colour": ["depth", "color"]}


def robots() -> newton.ModelBuilder:
    """Return twelve boxes and spheres that fall side by side."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for index in range(12):
        place = wp.vec3(0.3 * (index % 4) - 0.45, 0.3 * (index // 4) - 0.3, 0.4 + 0.1 * index)
        body = builder.add_body(xform=wp.transform(place, wp.quat_identity()))
        if index % 2:
            builder.add_shape_sphere(body, radius=0.1)
        else:
            builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1)
    return builder


def simulate(worlds: int, device: str, sensors: dict[str, Any]) -> pippin.Simulation:
    """Return robots, with or without cameras."""
    tables = {
        "simulation": {"device": device, "dt": 0.002, "capture": "require"},
        "scene": {"worlds": worlds, "ground": True, "gravity": [0.0, 0.0, 0.0]},
        "solver": {"type": "xpbd"},
        "sensors": sensors,
    }
    return pippin.Simulation(pippin.structure(tables), prototype=robots())


def camera(worlds: int, outputs: Sequence[str]) -> dict[str, Any]:
    """Return the table of a camera."""
    width, height = SIZES[worlds]
    return {**EYE, "width": width, "height": height, "outputs": outputs}


class Pictures:
    """Pippin's operation that takes the pictures."""

    def __init__(self, worlds: int, device: str, outputs: Sequence[str]) -> None:
        self.simulation = simulate(worlds, device, {"eye": camera(worlds, outputs)})
        name = "update_sensors(sensors:eye)"
        (self.operation,) = (each for each in self.simulation.program.operations if each.name == name)

    def run(self) -> None:
        """Take a picture in each world."""
        self.operation.run()

    @property
    def images(self) -> list[np.ndarray]:
        """What was taken."""
        return [output.numpy() for output in self.simulation.sensors["eye"].outputs.values()]


class ByHand:
    """Newton's camera with the same rays, as its documentation has it."""

    def __init__(self, beside: Pictures, worlds: int, outputs: Sequence[str]) -> None:
        self.model, self.state = beside.simulation.model, beside.simulation.state
        width, height = SIZES[worlds]
        Camera = newton.sensors.SensorCamera  # noqa: N806 - a class
        self.camera = Camera(self.model, load_textures=False)
        self.camera.create_default_light(enable_shadows=False)
        device = self.model.device
        self.rays = Camera.compute_camera_rays_pinhole(width, height, camera_fov=EYE["vertical_fov"], device=device)
        sites = [index for index, label in enumerate(self.model.shape_label) if label == "world/site"]
        poses = self.model.shape_transform.numpy()[sites]
        self.poses = wp.array(poses, dtype=wp.transform, device=device)
        self.images_by_name = {"forward_depth_image": self.camera.allocate_image_depth_forward(worlds, width, height)}
        if "color" in outputs:
            self.images_by_name["color_image"] = self.camera.allocate_image_color(worlds, width, height)

    def run(self) -> None:
        """Take a picture in each world."""
        self.model.bvh_refit_shapes(self.state)
        self.camera.update(self.state, self.poses, self.rays, **self.images_by_name)

    @property
    def images(self) -> list[np.ndarray]:
        """What was taken."""
        return [image.numpy() for image in self.images_by_name.values()]


def ratios_of_stages(worlds: int, device: str, outputs: Sequence[str]) -> Iterator[float]:
    """Yield our time over theirs, run by run, and see that both give the same images."""
    ours = Pictures(worlds, device, outputs)
    theirs = ByHand(ours, worlds, outputs)
    replays = recorded(ours.run, device), recorded(theirs.run, device)
    yield from (one / other for one, other in in_turn(*replays, device))
    for one, other in zip(ours.images, theirs.images, strict=True):
        assert one.tobytes() == other.tobytes(), "both take the same pictures"


def ratios_of_steps(worlds: int, device: str, *, all_ten: bool) -> Iterator[float]:
    """Yield the time of a simulation's steps with a camera over that without, run by run."""
    eye = camera(worlds, ["depth"]) | {"period": 0.002 * PERIOD}
    simulations = [simulate(worlds, device, sensors) for sensors in ({"eye": eye}, {})]
    for each in simulations:
        each.step(2 * PERIOD)

    def steps(simulation: pippin.Simulation) -> Any:
        def run(count: int) -> None:
            for _ in range(count):
                simulation.step(PERIOD)

        return run

    if all_ten:
        sides = [steps(each) for each in simulations]
        yield from (one / other for one, other in in_turn(*sides, device))
        return
    wp_device = wp.get_device(device)
    for turn in range(TURNS):
        times = [0.0, 0.0]
        for side in (0, 1) if turn % 2 else (1, 0):
            for _ in range(20):
                simulations[side].step()
                times[side] += seconds(simulations[side].step, PERIOD - 2, wp_device)
                simulations[side].step()  # where the picture is taken
        yield times[0] / times[1]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device
    print("| images | worlds | pixels | camera ÷ by hand |\n|---|---|---|---|")
    for name, outputs in OUTPUTS.items():
        for worlds, size in SIZES.items():
            figure = statistics.median(ratios_of_stages(worlds, device, outputs))
            print(f"| {name} | {worlds} | {size[0]} × {size[1]} | {figure:.3f} |", flush=True)
    print("\n| worlds | pixels | the steps between ÷ without a camera | all ten ÷ without |\n|---|---|---|---|")
    for worlds, size in SIZES.items():
        between, whole = (
            statistics.median(ratios_of_steps(worlds, device, all_ten=all_ten)) for all_ten in (False, True)
        )
        print(f"| {worlds} | {size[0]} × {size[1]} | {between:.3f} | {whole:.2f} |", flush=True)


if __name__ == "__main__":
    main()
