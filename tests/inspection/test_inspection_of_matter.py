"""Claims about the list of what a scene has beside robots: matter, tendons, attachments and motions."""

import math
from pathlib import Path

import numpy as np
import pippin
import pytest
from pippin.inspection.contents import inspect_scene
from pippin.inspection.image import draw_scene

from .test_image import pixels

CLOTH = {"type": "cloth-grid", "label": "flag", "position": [0.0, 0.0, 1.0], "cells": [4, 2], "cell": [0.1, 0.2]}
CLOTH |= {"density": 0.5, "particle_radius": 0.02, "pin": [{"edge": "left"}], "color": [0.9, 0.1, 0.1]}
BLOCK = {"type": "soft-grid", "label": "block", "cells": [1, 2, 1], "cell": [0.1, 0.1, 0.1], "density": 1e3}
BLOCK |= {"k_mu": 1e4, "k_lambda": 1e4, "particle_radius": 0.02, "poses": [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]}
SAND = {"type": "granular", "label": "sand", "size": [0.2, 0.2, 0.1], "spacing": 0.1, "density": 2000.0}
CABLE = {"type": "rod", "label": "cable", "end": [0.0, 1.0, 0.0], "segments": 5, "radius": 0.05}
BALL = {"type": "body", "label": "ball", "position": [0.0, 0.0, 0.5], "mass": 2.0}
BALL |= {"shapes": [{"type": "sphere", "radius": 0.1}]}
ROPE = {"label": "rope", "compliance": 1e-5}
ROPE["guides"] = [
    {"position": [0.0, 0.0, 2.0]},
    {"type": "pinhole", "position": [0.1, 0.0, 2.0]},
    {"body": "ball", "compliance": 1e-4},
]
HELD = {"particles": {"of": "flag", "edge": "right"}, "body": "ball", "stiffness": 100.0}
LIFT = {"type": "sine", "particles": {"of": "flag", "edge": "left"}, "along": [0.0, 0.0, 1.0], "amplitude": 0.1}
LIFT |= {"frequency": 1.0}


def contents(objects, motions=(), **scene):
    """Return what a scene lists itself."""
    tables = {"scene": {"objects": objects, **scene}, "solver": {"type": "vbd"}, "motions": dict(motions)}
    [found] = inspect_scene(pippin.structure(tables), Path("scene.toml"))
    return found


def test_each_object_of_matter_has_its_counts_its_mass_and_its_bounds():
    found = contents([BALL, CLOTH, BLOCK, SAND, CABLE])

    rows = {row.name: row for row in found.matter}
    assert [(row.name, row.kind, row.count) for row in found.matter] == [
        ("flag", "surface", 15),
        ("block_0", "volume", 12),
        ("block_1", "volume", 12),
        ("sand", "grains", 18),
        ("cable", "cable", 5),
    ]
    flag, block = rows["flag"], rows["block_1"]
    assert (flag.faces, flag.pinned, flag.radius) == (16, 3, 0.02)
    assert (flag.lowest, flag.highest) == ((0.0, 0.0, 1.0), (0.4, 0.4, 1.0))
    assert (block.tetrahedra, block.mass) == (10, pytest.approx(2.0))
    assert rows["sand"].mass == pytest.approx(18 * 2000.0 * 0.1**3)
    np.testing.assert_allclose(rows["cable"].highest, (0.05, 1.05, 0.05), atol=1e-5)
    assert found.total_mass == pytest.approx(2.0 + sum(row.mass for row in found.matter))


def test_segments_of_cables_are_not_listed_as_bodies():
    found = contents([BALL, CABLE])

    assert [row.name for row in found.bodies] == ["ball"]
    assert [row.type for row in found.joints] == ["free"]
    assert len(found.shapes) == 1
    assert found.dof_count == 6
    volume = math.pi * 0.05**2 * 0.2 + 4.0 / 3.0 * math.pi * 0.05**3  # of a capsule
    assert found.matter[0].mass == pytest.approx(5 * 1000.0 * volume, rel=1e-4)


def test_tendons_attachments_and_motions_are_listed():
    found = contents([BALL, CLOTH], [("lift", LIFT)], tendons=[ROPE], attachments=[HELD])

    [rope], [held], [lift] = found.tendons, found.attachments, found.motions
    assert (rope.name, rope.guides) == ("rope", ("anchor world", "pinhole world", "anchor ball"))
    assert rope.compliance == pytest.approx(1e-4)
    assert (held.name, held.body, held.count, held.stiffness) == ("flag", "ball", 3, 100.0)
    assert (lift.name, lift.type, lift.moves) == ("lift", "sine", "particles flag")


def test_attributes_of_the_solver_are_known():
    tables = {"scene": {"objects": [SAND | {"mpm": {"friction": 0.6}}]}, "solver": {"type": "implicit-mpm"}}

    [found] = inspect_scene(pippin.structure(tables), Path("scene.toml"))

    assert found.matter[0].name == "sand"


@pytest.mark.slow
def test_the_image_shows_cloth_in_its_colour_and_its_name(tmp_path):
    images = []
    for label in ("flag", "sheet"):
        config = pippin.structure({"scene": {"objects": [CLOTH | {"label": label}]}, "solver": {"type": "vbd"}})
        draw_scene(config, tmp_path / "cloth.png")
        images.append(pixels(tmp_path / "cloth.png").astype(int))

    red, green, blue = np.moveaxis(images[0], 2, 0)
    assert 0.02 < ((red > 2 * green) & (red > 2 * blue)).mean() < 0.6
    rows, _ = np.nonzero(np.abs(images[0] - images[1]).max(axis=2) > 50)
    assert 2 < np.ptp(rows) < 24, "they differ where the names are"
