"""Cameras see matter: the distance of cloth, soft bodies, grains and cables is that of their geometry, on each side."""

import numpy as np
import pippin
import pytest

HEIGHT, RADIUS = 0.5, 0.04
CLOTH = {"type": "cloth-grid", "label": "cloth", "cells": [2, 2], "cell": [0.3, 0.3], "density": 0.5}
CLOTH |= {"position": [-0.3, -0.3, HEIGHT], "particle_radius": 0.02}
BLOCK = {"type": "soft-grid", "label": "block", "cells": [2, 2, 2], "cell": [0.2, 0.2, 0.1], "density": 1e3}
BLOCK |= {"k_mu": 1e4, "k_lambda": 1e4, "position": [-0.2, -0.2, HEIGHT - 0.2], "particle_radius": 0.02}
SAND = {"type": "granular", "label": "sand", "size": [0.2, 0.2, 0.2], "spacing": 0.1, "density": 1e3}
SAND |= {"position": [-0.1, -0.1, HEIGHT - 0.2], "particle_radius": RADIUS}
CABLE = {"type": "rod", "label": "cable", "end": [0.0, 0.8, 0.0], "segments": 4, "radius": RADIUS}
CABLE |= {"position": [0.0, -0.3, HEIGHT]}
SURFACE = {"cloth": HEIGHT, "block": HEIGHT, "sand": HEIGHT + RADIUS, "cable": HEIGHT + RADIUS}
"""Height of the highest point on the z axis."""
BOTTOM = {"cloth": HEIGHT, "block": HEIGHT - 0.2, "sand": HEIGHT - 0.2 - RADIUS, "cable": HEIGHT - RADIUS}


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("each", [CLOTH, BLOCK, SAND, CABLE], ids=lambda each: each["label"])
def test_the_distance_of_matter_is_that_of_its_geometry(each):
    camera = {"type": "camera", "width": 1, "height": 1, "vertical_fov": 0.01, "outputs": ["distance"]}
    down = {**camera, "position": [0.0, 0.0, 2.0]}
    up = {**camera, "position": [0.0, 0.0, -2.0], "rotation": [1.0, 0.0, 0.0, 0.0]}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01},
        "scene": {"objects": [each], "worlds": 2, "gravity": [0.0, 0.0, 0.0]},
        "solver": {"type": "vbd"},
        "sensors": {"down": down, "up": up},
    }
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        simulation.step(1)
        seen = {name: simulation.sensors[name].outputs["distance"].data.numpy().ravel() for name in ("down", "up")}

    np.testing.assert_allclose(seen["down"], 2.0 - SURFACE[each["label"]], atol=1e-4)
    np.testing.assert_allclose(seen["up"], 2.0 + BOTTOM[each["label"]], atol=1e-4)
