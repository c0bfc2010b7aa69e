"""Replacements for the scenes in Isaac Sim's tests of its tensor views, and the devices that the tests run on.

What their environments `/envs/env0` and so on hold is one world here, as it is there: labels tell copies apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
import pytest

DT = 1.0 / 60.0


@attrs.frozen
class Devices:
    """Devices of the simulation, and of the arrays that are passed to views."""

    simulation: str
    arrays: str

    def array(self, values: Any, dtype: Any = np.float32) -> Any:
        """Return values as a Warp array."""
        import warp as wp

        return wp.array(np.asarray(values, dtype=dtype), device=self.arrays)

    def indices(self, count: int) -> Any:
        """Return the first rows as unsigned integers, like Isaac's."""
        return self.array(np.arange(count), np.uint32)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(("cpu", "cpu"), id="CC"),
        pytest.param(("cuda:0", "cpu"), id="GC", marks=pytest.mark.cuda),
        pytest.param(("cuda:0", "cuda:0"), id="GG", marks=pytest.mark.cuda),
    ],
)
def devices(request: pytest.FixtureRequest) -> Devices:
    """Each pair of devices of this machine."""
    import warp as wp

    found = Devices(*request.param)
    if found.simulation != "cpu" and not wp.is_cuda_available():
        pytest.skip("no CUDA device")
    return found


@pytest.fixture(scope="module")
def simulate(devices: Devices) -> Iterator[Callable[..., Any]]:
    """Return a function that builds a simulation from a prototype or assets, closed at the end of the module."""
    import pippin

    built: list[pippin.Simulation] = []

    def build(prototype: Any = None, *, observables: tuple[str, ...] = (), **scene: Any) -> Any:
        tables = {
            "simulation": {
                "device": devices.simulation,
                "dt": DT,
                "observables": list(observables),
                "accept_unsupported": ["armature", "velocity_limits"],
            },
            "scene": {"settable_joints": True, **scene},
            "solver": {"type": "mujoco", "njmax": 400, "nconmax": 100},
        }
        built.append(pippin.Simulation(pippin.structure(tables), prototype=prototype))
        return built[-1]

    yield build
    for simulation in built:
        simulation.close()


@pytest.fixture(scope="module")
def ants(simulate: Callable[..., Any]) -> Any:
    """Return four ants from Newton's file, each in a world of its own; every label occurs in each world."""
    return simulate(worlds=4, assets=[{"path": "pkg:newton/examples/assets/ant.usda"}])


def new_builder() -> Any:
    """Return a builder with MuJoCo's attributes."""
    import newton

    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    return builder


@pytest.fixture(scope="module")
def ball_grid() -> Callable[..., Any]:
    """Return a function that builds balls of 1 kg and 0.15 m beside each other, at a given height."""
    import newton
    import warp as wp

    def build(count: int = 4, height: float = 2.0) -> Any:
        builder = new_builder()
        solid = newton.ModelBuilder.ShapeConfig(density=1.0 / (4.0 / 3.0 * np.pi * 0.15**3))
        for env in range(count):
            place = wp.transform(wp.vec3(2.0 * env, 0.0, height), wp.quat_identity())
            body = builder.add_body(label=f"/envs/env{env}/ball", xform=place)
            builder.add_shape_sphere(body, radius=0.15, cfg=solid)
        return builder

    return build


@pytest.fixture(scope="module")
def box_grid() -> Callable[..., Any]:
    """Return a function that builds stacks of boxes of 1 kg and 0.6 m with balls on top, on a separate ground."""
    import newton
    import warp as wp

    def build(count: int, boxes: tuple[str, ...], ball: str | None = None) -> Any:
        builder = new_builder()
        builder.add_ground_plane(label="/groundPlane")
        shapes = newton.ModelBuilder.ShapeConfig
        for env in range(count):
            for level, name in enumerate(boxes):
                place = wp.transform(wp.vec3(3.0 * env, 0.0, 0.3 + 0.6 * level), wp.quat_identity())
                body = builder.add_body(label=f"/envs/env{env}/{name}", xform=place)
                builder.add_shape_box(body, hx=0.3, hy=0.3, hz=0.3, cfg=shapes(density=1.0 / 0.6**3))
            if ball is not None:
                place = wp.transform(wp.vec3(3.0 * env, 0.0, 0.6 * len(boxes) + 0.2), wp.quat_identity())
                body = builder.add_body(label=f"/envs/env{env}/{ball}", xform=place)
                solid = shapes(density=1.0 / (4.0 / 3.0 * np.pi * 0.15**3))
                builder.add_shape_sphere(body, radius=0.15, cfg=solid)
        return builder

    return build
