"""Selections `{ of = ... }`: which particles and bodies they mean, in all worlds, and their errors."""

import numpy as np
import pippin
import pytest
from pippin.config.geometry import SelectionConfig

CLOTH = {"type": "cloth-grid", "cells": [2, 1], "cell": [0.1, 0.1], "density": 0.5, "particle_radius": 0.02}
CRATE = {"type": "body", "label": "crate", "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}]}
ROD = {"type": "rod", "label": "cable", "end": [1.0, 0.0, 0.0], "segments": 4, "radius": 0.01, "bend_stiffness": 1.0}


@pytest.fixture(scope="module")
def simulation():
    """Three worlds; the second has one flag less. Particles: flag_0 has 0 to 5, flag_1 6 to 11, banner 6 more."""
    flags = {**CLOTH, "label": "flag", "poses": [[0, 0, 1], [0, 0, 2]]}
    banner = {**CLOTH, "label": "banner", "worlds": "::2", "rotation": [0.0, 0.0, 1.0, 0.0]}
    crates = {**CRATE, "repeat": {"count": [2, 1, 1], "spacing": [1.0, 0.0, 0.0]}}
    tables = {
        "simulation": {"device": "cpu"},
        "scene": {"worlds": 3, "objects": [flags, banner, crates, {**ROD, "position": [0.0, 5.0, 0.0]}]},
        "solver": {"type": "vbd"},
    }
    with pippin.Simulation(pippin.structure(tables)) as built:
        yield built


def select(simulation, what, **keys):
    found = simulation.services.scene_objects.select(what, SelectionConfig(**keys), "motions.lift")
    return found.tolist()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"of": "flag_1"}, [*range(6, 12), *range(24, 30), *range(36, 42)]),
        ({"of": "flag_.*", "edge": "left"}, [0, 3, 6, 9, 18, 21, 24, 27, 30, 33, 36, 39]),
        ({"of": "banner", "corner": "bottom-right"}, [14, 44]),
        ({"of": "banner", "nearest": (0.1, 0.1, 0.3)}, [16, 46]),
        ({"of": "(flag_0|banner)", "index": (1,)}, [1, 13, 19, 31, 43]),
    ],
)
def test_particles_are_chosen_in_the_frame_of_each_object_in_every_world(simulation, keys, expected):
    assert select(simulation, "particle", **keys) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"of": "crate_1"}, ["crate_1"]),
        ({"of": "cable", "part": "last"}, ["cable_edge_body_3"]),
        ({"of": "cable", "part": (0, -2)}, ["cable_edge_body_0", "cable_edge_body_2"]),
        ({"of": "cable", "nearest": (0.4, 0.0, 0.0)}, ["cable_edge_body_1"]),
        ({"of": "(cable|crate_0)", "index": (0,)}, ["crate_0", "cable_edge_body_0"]),
    ],
)
def test_bodies_are_those_of_objects_or_have_the_label(simulation, keys, expected):
    found = np.array(simulation.model.body_label)[select(simulation, "body", **keys)]

    assert found.tolist() == expected * 3


@pytest.mark.parametrize(
    ("what", "keys", "reason"),
    [
        ("particle", {"of": "flog_1"}, r"^motions\.lift\.of: no object with particles matches 'flog_1'; did you mean"),
        ("particle", {"of": "crate_0"}, r"no object with particles matches 'crate_0'"),
        ("body", {"of": "flag_0"}, r"no object or body matches 'flag_0'"),
        ("particle", {"of": "banner", "box": ((1, 1, 1), (2, 2, 2))}, r"in 'banner'\.box: nothing is there; .* \[0"),
        ("body", {"of": "cable", "part": (4,)}, r"lift in 'cable'\.part: 4, but the object has 4; count from 0 to 3"),
    ],
)
def test_an_empty_selection_is_refused_with_what_is_there(simulation, what, keys, reason):
    with pytest.raises(pippin.ConfigError, match=reason):
        select(simulation, what, **keys)
