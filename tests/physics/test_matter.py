"""Matter that hangs, bends and collapses, from a file, against formulas; each beside a second one with another number.

What hangs or bends swings about the place at which it would come to rest, so the mean over whole periods is that place.
"""

from __future__ import annotations

import numpy as np
import pippin
import pytest

pytestmark = pytest.mark.slow

GRAVITY = 9.81
UPRIGHT = [0.7071067811865476, 0.0, 0.0, 0.7071067811865476]


def mean_heights(objects, solver, dt, period, quantity):
    """Return the mean heights over three periods, after two, of each particle or body [m]."""
    tables = {"simulation": {"device": "cpu", "dt": dt}, "solver": solver, "scene": {"objects": objects}}
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        start = getattr(simulation.state, quantity).numpy()[:, 2].copy()
        simulation.step(round(2 * period / dt))
        heights = []
        for _ in range(round(3 * period / dt / 5)):
            simulation.step(5)
            heights.append(getattr(simulation.state, quantity).numpy()[:, 2].copy())
    return np.mean(heights, axis=0) - start


ROWS, CELL, PARTICLE = 8, 0.05, 0.002


def strip(label, x, **stiffness):
    return {
        "type": "cloth-grid",
        "label": label,
        "position": [x, 0.0, 1.0],
        "rotation": UPRIGHT,
        "cells": [1, ROWS],
        "cell": [CELL, CELL],
        "particle_mass": PARTICLE,
        "particle_radius": 0.001,
        "pin": [{"edge": "top"}],
        **stiffness,
    }


LAME = {"tri_ke": 100.0, "tri_kd": 0.0}


@pytest.mark.parametrize(
    ("solver", "stiffness"),
    [
        ({"type": "vbd", "iterations": 20}, {**LAME, "tri_ka": 0.0}),
        ({"type": "semi-implicit"}, {**LAME, "tri_ka": 100.0}),
        ({"type": "featherstone"}, {**LAME, "tri_ka": 100.0}),
    ],
    ids=("vbd", "semi-implicit", "featherstone"),
)
def test_a_hanging_cloth_is_stretched_by_its_weight(solver, stiffness):
    """A row carries the weight of all below, with a force of 2 μ b for a strain of 1.

    A strip that is free across has 4 μ (λ + μ) / (λ + 2 μ) for the law of `vbd`, and 4 μ λ / (λ + μ) for that of
    `semi-implicit` and `featherstone`, whose λ contains μ.
    """
    newtons = 2 * 100.0 * CELL
    stiff = {key: 4.0 * value for key, value in stiffness.items()}
    row = 2 * PARTICLE * GRAVITY
    length = CELL * row * sum(range(1, ROWS + 1)) / newtons
    period = 4 * ROWS * CELL / np.sqrt(newtons / (2 * PARTICLE / CELL))

    moved = mean_heights(
        [strip("soft", 0.0, **stiffness), strip("stiff", 0.5, **stiff)], solver, 0.001, period, "particle_q"
    )

    soft, stiffer = (-moved[first : first + 2].mean() for first in (0, 2 * (ROWS + 1)))
    assert soft == pytest.approx(length, rel=0.06)
    assert stiffer == pytest.approx(length / 4, rel=0.06)


SEGMENTS, LENGTH, RADIUS, YOUNG = 5, 0.5, 0.01, 6.7e7


def rod(label, y, young):
    return {
        "type": "rod",
        "label": label,
        "position": [0.0, y, 1.0],
        "end": [LENGTH, 0.0, 0.0],
        "segments": SEGMENTS,
        "radius": RADIUS,
        "youngs_modulus": young,
        "poissons_ratio": 0.3,
        "pin": [{"part": "first"}],
    }


def test_a_level_rod_is_bent_by_its_weight():
    """A joint turns by M / k, k = E I / l, with the moment M of what is beyond it: w L⁴ / 8 E I for short segments."""
    length = LENGTH / SEGMENTS
    weight = 1000.0 * np.pi * RADIUS**2 * (length + 4.0 / 3.0 * RADIUS) * GRAVITY  # segments are capsules
    stiffness = YOUNG * np.pi * RADIUS**4 / 4 / length
    centres = (np.arange(SEGMENTS) + 0.5) * length
    joints = np.arange(1, SEGMENTS) * length
    turns = [weight * np.clip(centres - joint, 0.0, None).sum() / stiffness for joint in joints]
    depth = float(np.dot(turns, np.clip(centres[-1] - joints, 0.0, None)))
    period = 1.787 * np.sqrt(weight / GRAVITY / length * (LENGTH - length) ** 4 / (stiffness * length))

    objects = [rod("soft", 0.0, YOUNG), rod("stiff", 1.0, 4.0 * YOUNG)]
    moved = mean_heights(objects, {"type": "vbd", "iterations": 40}, 0.0005, period, "body_q")

    assert -moved[SEGMENTS - 1] == pytest.approx(depth, rel=0.08)
    assert -moved[2 * SEGMENTS - 1] == pytest.approx(depth / 4, rel=0.08)


BEAM, EDGE = (10, 2, 2), 0.05


def beam(label, y, modulus):
    return {
        "type": "soft-grid",
        "label": label,
        "position": [0.0, y, 1.0],
        "cells": list(BEAM),
        "cell": [EDGE] * 3,
        "density": 1000.0,
        "particle_radius": 0.001,
        "k_mu": 0.4 * modulus,
        "k_lambda": 0.4 * modulus,
        "pin": [{"edge": "left"}],
    }


@pytest.mark.parametrize(
    ("solver", "dt"),
    [({"type": "semi-implicit"}, 2e-4), ({"type": "featherstone"}, 2e-4)],
    ids=("semi-implicit", "featherstone"),
)
def test_a_level_soft_beam_is_bent_by_its_weight(solver, dt):
    """w L⁴ / 8 E I; tetrahedra of constant strain, two across the beam, are too stiff by up to a half."""
    modulus, (length, width, height) = 5e6, np.array(BEAM) * EDGE
    rigidity, weight = modulus * width * height**3 / 12, 1000.0 * width * height * GRAVITY
    depth = weight * length**4 / 8 / rigidity
    period = 1.787 * np.sqrt(weight / GRAVITY * length**4 / rigidity)

    moved = mean_heights(
        [beam("soft", 0.0, modulus), beam("stiff", 1.0, 4 * modulus)], solver, dt, period, "particle_q"
    )

    soft, stiff = (-half.min() for half in np.split(moved, 2))
    assert 0.5 * depth < soft < 1.1 * depth
    assert 0.5 * depth < 4 * stiff < 1.1 * depth


@pytest.mark.parametrize(
    ("solver", "dt"), [("xpbd", 5e-4), ("semi-implicit", 5e-4), ("featherstone", 5e-4), ("vbd", 5e-5)]
)
def test_a_body_takes_the_momentum_that_a_soft_block_loses(solver, dt):
    """A block of 0.125 kg flies with 2 m/s against a free ball of 0.5 kg, another one against a ball that is held.

    At 0.5 ms and 10 iterations, `vbd` gives the ball 68 % more than the block loses.
    """
    ball = {"type": "body", "mass": 0.5, "shapes": [{"type": "sphere", "radius": 0.1, "mu": 0.0}]}
    block = {"type": "soft-grid", "cells": [1, 1, 1], "cell": [0.05] * 3, "density": 1000.0, "particle_radius": 0.01}
    block |= {"k_mu": 1e4, "k_lambda": 1e4, "velocity": [2.0, 0.0, 0.0]}
    objects = [{**ball, "label": "free"}, {**ball, "label": "held", "position": [0.0, 1.0, 0.0], "motion": "kinematic"}]
    objects[1].pop("mass")
    objects += [{**block, "label": f"at_{y}", "position": [-0.17, y - 0.025, -0.025]} for y in (0.0, 1.0)]
    tables = {
        "simulation": {"device": "cpu", "dt": dt, "accept_unsupported": ["kinematic_bodies"]},
        "scene": {"objects": objects, "gravity": [0.0, 0.0, 0.0]},
        "solver": {"type": solver},
    }
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        mass = simulation.model.particle_mass.numpy()
        start = mass[:8] @ simulation.state.particle_qd.numpy()[:8, 0]
        simulation.step(round(0.15 / dt))
        bodies, particles = simulation.state.body_qd.numpy()[:, 0], simulation.state.particle_qd.numpy()[:, 0]

    gained, lost = 0.5 * bodies[0], start - mass[:8] @ particles[:8]
    assert gained > 0.1
    assert gained == pytest.approx(lost, rel=0.02)
    assert bodies[1] == 0.0
    assert start - mass[8:] @ particles[8:] > 0.1


def test_a_column_of_sand_runs_out_as_published():
    """A column of height H = L beside a wall runs out by 1.2 a L, a = H / L, after Lube et al. (2005), for a < 2.3.

    Their sands and grains, and the law of Lajeunesse et al. (2005), lie within a half of that; water runs on.
    """
    edge, width, channels = 0.3, 0.1, {"sand": 0.0, "water": 1.0}
    wall = {"type": "body", "motion": "static"}
    objects = [
        {**wall, "label": "floor", "shapes": [{"type": "plane", "mu": 0.6}]},
        {
            **wall,
            "label": "end",
            "position": [-0.1, 0.5, 0.5],
            "shapes": [{"type": "box", "size": [0.2, 4.0, 1.2], "mu": 0.0}],
        },
    ]
    for label, y in channels.items():
        objects += [
            {
                **wall,
                "label": f"{label}_{side}",
                "position": [2.0, y + at, 0.5],
                "shapes": [{"type": "box", "size": [4.4, 0.2, 1.2], "mu": 0.0}],
            }
            for side, at in (("right", -0.1), ("left", width + 0.1))
        ]
        objects.append(
            {
                "type": "granular",
                "label": label,
                "position": [0.01, y + 0.01, 0.01],
                "size": [edge - 0.02, width - 0.02, edge - 0.02],
                "spacing": 0.02,
                "density": 1500.0,
                "jitter": 0.5,
                "mpm": {"friction": 0.6 if label == "sand" else 0.0},
            }
        )
    solver = {"type": "implicit-mpm", "voxel_size": 0.05, "project_outside_colliders": True}
    tables = {"simulation": {"device": "cpu", "dt": 1 / 120}, "solver": solver, "scene": {"objects": objects}}

    with pippin.Simulation(pippin.structure(tables)) as simulation:
        simulation.step(84)
        places = simulation.state.particle_q.numpy()

    sand, water = (np.quantile(places[np.abs(places[:, 1] - y) < 0.5, 0], 0.99) for y in channels.values())
    assert 0.6 < (sand - edge) / edge < 1.8
    assert (water - edge) / edge > 2.5
