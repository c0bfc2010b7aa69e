"""Matter in videos and on a page: colours of objects, both sides of a cloth, places of worlds."""

from types import SimpleNamespace

import av
import numpy as np
import pippin
import pytest
from pippin.matter import Matter, render_matter

RED, GREEN, BLUE, GOLD = (0.8, 0.1, 0.1), (0.1, 0.6, 0.1), (0.1, 0.2, 0.8), (0.8, 0.6, 0.1)
CLOTH = {"type": "cloth-grid", "label": "flag", "cells": [4, 2], "cell": [0.1, 0.2], "density": 0.5, "color": RED}
BLOCK = {"type": "soft-grid", "label": "block", "cells": [2, 2, 2], "cell": [0.1, 0.1, 0.1], "density": 1e3}
BLOCK |= {"k_mu": 1e4, "k_lambda": 1e4, "color": BLUE, "position": [0.6, 0.0, 0.0]}
SAND = {"type": "granular", "label": "sand", "size": [0.2, 0.2, 0.2], "spacing": 0.04, "density": 2000.0}
SAND |= {"color": GREEN, "position": [-0.4, 0.0, 0.0]}
CABLE = {"type": "rod", "label": "cable", "end": [1.0, 0.0, 0.0], "segments": 5, "radius": 0.05, "color": GOLD}
CABLE |= {"position": [-0.3, 0.7, 0.0]}
OBJECTS = [{**each, "particle_radius": 0.02} for each in (CLOTH, BLOCK, SAND)] + [CABLE]


def build(viewers, folder=None, worlds=1, objects=OBJECTS):
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002},
        "scene": {"objects": objects, "gravity": [0.0, 0.0, 0.0], "worlds": worlds, "spacing": [3.0, 0.0, 0.0]},
        "solver": {"type": "vbd"},
        "viewers": viewers,
    }
    return pippin.Simulation(pippin.structure(tables), folder=folder)


def share_of(image, color):
    """Return the part of the pixels whose colour has the direction of another."""
    linear, wanted = (image / 255.0) ** 2.2, np.array(color) ** 2.2
    alike = linear @ wanted / (np.linalg.norm(linear, axis=-1) * np.linalg.norm(wanted) + 1e-9)
    return float((alike > 0.97).mean())


@pytest.mark.slow
def test_a_video_shows_each_object_in_its_colour_and_a_cloth_from_both_sides(tmp_path):
    size, target = (320, 240), (0.2, 0.3, 0.0)
    eyes = {"above": (0.2, 0.3, 2.5), "below": (0.2, 0.31, -2.5)}
    viewers = {
        name: {"type": "video", "size": size, "path": f"{name}.mp4", "eye": eye, "target": target, "quality": "high"}
        for name, eye in eyes.items()
    }
    with build(viewers, tmp_path) as simulation:
        simulation.step(1)

    for name in eyes:
        with av.open(str(tmp_path / f"{name}.mp4")) as container:
            image = next(container.decode(video=0)).to_ndarray(format="rgb24").astype(float)
        for color in (RED, GREEN, BLUE, GOLD):
            assert share_of(image, color) > 0.002, (name, color)


def test_objects_without_a_colour_take_turns_and_copies_in_worlds_are_alike():
    plain = [{key: value for key, value in each.items() if key != "color"} for each in OBJECTS]
    with build({}, worlds=2, objects=plain) as simulation:
        seen = render_matter(simulation.model, [0, 1])
        [cable, _] = Matter.of(simulation.model, "curve").starts
        shape = simulation.model.shape_body.numpy().tolist().index(cable)
        color_of_cable = tuple(simulation.model.shape_color.numpy()[shape].tolist())

    assert [(each.label, each.world) for each in seen] == [
        (label, world) for world in (0, 1) for label in ("flag", "block", "sand", "cable")
    ]
    colors = [each.color for each in seen]
    assert colors[:4] == colors[4:]
    assert colors[3] == color_of_cable
    assert len(set(colors)) == 4


def test_a_page_draws_surfaces_and_grains_of_the_chosen_worlds_where_they_are_now():
    with build({"page": {"type": "viser"}}, worlds=2) as simulation:
        page = simulation.viewers["page"]._panel.page
        state, up = simulation.state.particle_q.numpy().copy(), np.array([0.0, 0.0, 0.5])
        page.show(simulation, 0.0)
        simulation.state.particle_q.assign(state + up)
        page.show(simulation, 0.0)
        drawn = [each for each in render_matter(simulation.model, [0, 1]) if len(each.particles)]
        handles = page.matter._handles
        for index, seen in enumerate(drawn):
            expected = state[seen.particles] + page.offsets_of([seen.world])[0] + up
            handle = handles[index]
            points = handle.vertices if len(seen.faces) else handle.points.astype(float)
            np.testing.assert_allclose(points + handle.position, expected, atol=5e-4)
        page.look_at_worlds(simulation, [1])
        page.show(simulation, 0.0)
        visible = [handles[index].visible for index in range(6)]
    assert visible == [False, False, False, True, True, True]


def test_a_click_on_a_cloth_names_it_and_a_cable_has_one_name():
    with build({"page": {"type": "viser"}}) as simulation:
        panel = simulation.viewers["page"]._panel
        middle = panel.page.matter.middle(panel.page.matter.of_world(0)[0])
        panel.page.on_click(
            SimpleNamespace(ray_origin=middle + np.array([0.0, 0.0, 3.0]), ray_direction=(0.0, 0.0, -1.0))
        )
        panel.user_input.process()
        panel.controls.names.shows_bodies = True
        texts = [text for text, _ in panel.controls.names._places(0).values()]

    assert panel.hand.text.startswith("**flag** of world 0")
    assert f"{0.5 * 0.4 * 0.4:.3g} kg" in panel.hand.text
    assert sorted(texts) == ["block", "cable", "flag", "sand"]


@pytest.mark.parametrize("kind", ["surface", "volume", "grains"])
def test_what_is_drawn_covers_an_object(kind):
    with build({}) as simulation:
        matter = Matter.of(simulation.model, kind)
        [seen] = [each for each in render_matter(simulation.model, [0]) if each.label == matter.labels[0]]
        points = simulation.state.particle_q.numpy()
        own = points[matter.starts[0] :][: matter.counts[0]]

    np.testing.assert_allclose(np.ptp(points[seen.particles], axis=0), np.ptp(own, axis=0), atol=1e-6)
    assert bool(len(seen.faces)) == (kind != "grains")
