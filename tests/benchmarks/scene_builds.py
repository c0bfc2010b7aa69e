"""Time of a build of many objects, beside the same calls of Newton: `python tests/benchmarks/scene_builds.py`.

Both sides end with a solver, two states and contacts, ready for a step. Processor time of builds in turn in one
process, after a first one of each: imports and kernels are warm.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import newton
import pippin
import warp as wp

TURNS = 7

BOXES: Mapping[str, Any] = {
    "simulation": {"device": "cpu"},
    "solver": {"type": "xpbd"},
    "scene": {
        "ground": True,
        "objects": [
            {
                "type": "body",
                "label": "box",
                "position": [0.0, 0.0, 0.5],
                "repeat": {"count": [10, 10, 10], "spacing": [0.3, 0.3, 0.3]},
                "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}],
            }
        ],
    },
}
"""A thousand boxes above the ground."""

CLOTHS: Mapping[str, Any] = {
    "simulation": {"device": "cpu"},
    "solver": {"type": "vbd"},
    "scene": {
        "worlds": 100,
        "ground": True,
        "objects": [
            {
                "type": "cloth-grid",
                "label": "flag",
                "position": [0.0, 0.0, 1.0],
                "cells": [8, 8],
                "cell": [0.05, 0.05],
                "particle_mass": 0.01,
                "particle_radius": 0.02,
                "tri_ke": 1e3,
                "tri_ka": 1e3,
                "tri_kd": 1.0,
                "edge_ke": 0.01,
                "pin": [{"edge": "left"}],
            }
        ],
    },
}
"""A hundred worlds, each with a cloth of 81 particles."""


def boxes_by_hand() -> tuple[Any, ...]:
    """Return what steps a thousand boxes."""
    builder = newton.ModelBuilder()
    for index in range(1000):
        x, rest = index % 10, index // 10
        place = wp.transform(wp.vec3(0.3 * x, 0.3 * (rest % 10), 0.5 + 0.3 * (rest // 10)), wp.quat_identity())
        body = builder.add_body(xform=place, label=f"box_{index}")
        builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1, label=f"box_{index}/box")
    builder.add_ground_plane()
    model = builder.finalize(device="cpu")
    return (newton.solvers.SolverXPBD(model), *ready(model))


def cloths_by_hand() -> tuple[Any, ...]:
    """Return what steps a hundred worlds with a cloth each."""
    world = newton.ModelBuilder()
    world.add_cloth_grid(
        pos=wp.vec3(0.0, 0.0, 1.0),
        rot=wp.quat_identity(),
        vel=wp.vec3(),
        dim_x=8,
        dim_y=8,
        cell_x=0.05,
        cell_y=0.05,
        mass=0.01,
        fix_left=True,
        tri_ke=1e3,
        tri_ka=1e3,
        tri_kd=1.0,
        edge_ke=0.01,
        particle_radius=0.02,
    )
    builder = newton.ModelBuilder()
    builder.replicate(world, 100)
    builder.add_ground_plane()
    builder.color(include_bending=True)
    model = builder.finalize(device="cpu")
    return (newton.solvers.SolverVBD(model), *ready(model))


def ready(model: newton.Model) -> tuple[object, ...]:
    """Return what a loop needs beside a solver: two states, a control, and a pipeline with its contacts."""
    pipeline = newton.CollisionPipeline(model)
    return model.state(), model.state(), model.control(), pipeline, pipeline.contacts()


def seconds(build: Callable[[], object]) -> float:
    """Return how long a build takes [s], and close what it returns."""
    start = time.process_time()
    built = build()
    elapsed = time.process_time() - start
    if isinstance(built, pippin.Simulation):
        built.close()
    return elapsed


def refuse_unequal(simulation: pippin.Simulation, by_hand: tuple[Any, ...]) -> None:
    """Refuse scenes of different sizes, and close ours."""
    with simulation:
        for what in ("body_count", "shape_count", "particle_count", "tri_count", "edge_count"):
            ours, theirs = getattr(simulation.model, what), getattr(by_hand[0].model, what)
            assert ours == theirs, f"{what}: {ours}, by hand {theirs}"


def compare(name: str) -> str:
    """Return the row of a scene: the ratio, and the times of both builds."""
    tables, by_hand = CASES[name]
    sides = (lambda: pippin.Simulation(pippin.structure(tables)), by_hand)
    refuse_unequal(*(side() for side in sides))
    pairs = [tuple(seconds(side) for side in sides) for _ in range(TURNS)]
    ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(one / other for one, other in pairs)
    return f"| {name} | {ratio:.2f} | {ours:.2f} s | {theirs:.2f} s |"


CASES: Mapping[str, tuple[Mapping[str, Any], Callable[[], tuple[Any, ...]]]] = {
    "boxes": (BOXES, boxes_by_hand),
    "cloths": (CLOTHS, cloths_by_hand),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("| scene | ÷ by hand | build | by hand |\n|---|---|---|---|")
    for name in sys.argv[1:] or CASES:
        print(compare(name), flush=True)
