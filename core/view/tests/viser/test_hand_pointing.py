"""Names under a ray into the scene of a page: bodies, also kinematic ones, surfaces and clouds of points."""

import math

import numpy as np
import pippin
import pytest
from pippin.matter import RenderMatter
from pippin_view.viser.hand import distance_along

RADIUS = 0.1
ALONG = np.array([0.0, 1.0, 0.0])


def seen(faces, radius=RADIUS):
    faces = np.array(faces, dtype=int).reshape(-1, 3)
    return RenderMatter(
        label="matter", world=0, particles=np.arange(3), faces=faces, color=(1.0, 0.0, 0.0), radius=radius
    )


@pytest.fixture(scope="module")
def simulation():
    """A driven ball at x = 0, a free ball at x = 1, and a cloth in front of the free one, at x = 1.0 to 1.4."""
    ball = {"type": "body", "shapes": [{"type": "sphere", "radius": RADIUS}], "mass": 1.0}
    cloth = {"type": "cloth-grid", "cells": [2, 2], "cell": [0.2, 0.2], "density": 0.3, "tri_ke": 100.0}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002},
        "scene": {
            "worlds": 2,
            "objects": [
                {**ball, "label": "driven", "position": [0.0, 0.0, 1.0], "motion": "kinematic"},
                {**ball, "label": "free", "position": [1.0, 0.0, 1.0]},
                {**cloth, "label": "cloth", "position": [1.0, -0.5, 1.0], "rotation": [0.7071068, 0.0, 0.0, 0.7071068]},
            ],
        },
        "solver": {"type": "semi-implicit", "disable_particle_contacts": True},
        "viewers": {"page": {"type": "viser"}},
    }
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        yield simulation


@pytest.fixture
def panel(simulation):
    return simulation.viewers["page"]._panel


def under(simulation, panel, x, z, world=0):
    """Return the name that a browser shows whose pointer is on a ray along y in a world."""
    origin = panel.page.offsets_of([world])[0] + [x, -3.0, z]
    future = panel.page.guard.on_pointer(origin, ALONG)
    panel.user_input.process()
    return future.result(0.0)


@pytest.mark.parametrize("world", [0, 1])
def test_a_kinematic_body_has_a_name(simulation, panel, world):
    assert under(simulation, panel, 0.0, 1.0, world) == f"driven of world {world}"


def test_what_is_nearer_is_named(simulation, panel):
    names = [under(simulation, panel, 1.05, z) for z in (0.97, 1.03)]

    assert names == ["free of world 0", "cloth of world 0"]


def test_nothing_is_named_beside_everything(simulation, panel):
    assert under(simulation, panel, 0.0, 1.0 + 1.01 * RADIUS) == ""


def test_a_hidden_world_is_not_named(simulation, panel):
    """The one that is drawn alone stands where the first one stood."""
    panel.page.look_at_worlds(simulation, [1])
    names = [under(simulation, panel, x, 1.03) for x in (0.0, 1.05)]
    panel.page.look_at_worlds(simulation, [0, 1])

    assert names == ["driven of world 1", "cloth of world 1"]


def test_nothing_is_done_for_a_browser_that_waits_no_more(panel):
    future = panel.page.guard.on_pointer([0.0, -3.0, 1.0], ALONG)
    future.cancel()
    panel.user_input.process()

    assert future.cancelled()


@pytest.mark.parametrize(
    ("point", "distance"), [((0.2, 0.2), 2.0), ((0.9, 0.2), math.inf), ((-0.1, 0.2), math.inf), ((0.2, -0.1), math.inf)]
)
@pytest.mark.parametrize("corners", [[0, 1, 2], [0, 2, 1]])
def test_a_ray_meets_a_triangle_from_both_sides(point, distance, corners):
    points = np.array([[0.0, 2.0, 0.0], [1.0, 2.0, 0.0], [0.0, 2.0, 1.0]])

    assert distance_along(np.array([point[0], 0.0, point[1]]), ALONG, seen(corners), points) == distance


def test_a_ray_meets_nothing_behind_it():
    points = np.array([[0.0, -2.0, 0.0], [1.0, -2.0, 0.0], [0.0, -2.0, 1.0]])
    start = np.array([0.2, 0.0, 0.2])

    assert distance_along(start, ALONG, seen([0, 1, 2]), points) == math.inf
    assert distance_along(start, ALONG, seen([]), points) == math.inf


def test_a_ray_meets_a_cloud_at_its_spheres():
    """Beside the middle by d, a sphere is met √(r² − d²) before it."""
    points = np.array([[0.0, 3.0, 0.0], [0.0, 2.0, 0.0], [5.0, 1.0, 0.0]])
    start = np.array([0.06, 0.0, 0.0])

    assert distance_along(start, ALONG, seen([]), points) == pytest.approx(2.0 - 0.08)
    assert distance_along(2.0 * start, ALONG, seen([]), points) == math.inf
