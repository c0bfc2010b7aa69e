"""What passes through what: a note names it, and what a note does not name is held."""

import re

import pippin
import pytest

HEIGHT = 0.5
CLOTH = {
    "type": "cloth-grid",
    "label": "sheet",
    "position": [-0.2, -0.2, HEIGHT],
    "cells": [4, 4],
    "cell": [0.1, 0.1],
    "density": 2.0,
    "particle_radius": 0.01,
    "tri_ke": 2e3,
    "tri_ka": 2e3,
    "tri_kd": 1e-2,
    "pin": [{"edge": edge} for edge in ("left", "right", "bottom", "top")],
}
FALLING = {
    "soft-grid": {"cells": [1, 1, 1], "cell": [0.1, 0.1, 0.1], "k_mu": 2e4, "k_lambda": 2e4},
    "granular": {"size": [0.1, 0.1, 0.1], "spacing": 0.05},
}


def dropped(solver, kind, **scene):
    """Return the notes on a block that falls on a sheet, and whether it passed through after 0.3 s."""
    block = {"type": kind, "label": "block", "density": 50.0, "particle_radius": 0.01, **FALLING[kind]}
    block |= {"position": [-0.05, -0.05, HEIGHT + 0.03]}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.005, "substeps": 5 if solver["type"] == "vbd" else 20},
        "scene": {"objects": [CLOTH, block], **scene},
        "solver": solver,
    }
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        simulation.step(60)
        heights = simulation.state.particle_q.numpy()[25:, 2]
        return [
            note for note in simulation.notes.get("scene", ()) if "face_contacts" in note
        ], heights.max() < HEIGHT - 0.2


@pytest.mark.slow
@pytest.mark.parametrize("kind", FALLING)
@pytest.mark.parametrize(
    ("solver", "option"),
    [
        ({"type": "vbd"}, "set solver.particle_enable_self_contact = true"),
        (
            {
                "type": "vbd",
                "particle_enable_self_contact": True,
                "particle_self_contact_margin": 0.01,
                "particle_self_contact_gap": 0.005,
            },
            None,
        ),
        ({"type": "semi-implicit"}, None),
        (
            {"type": "semi-implicit", "enable_tri_contact": False, "disable_particle_contacts": True},
            "enable_tri_contact",
        ),
    ],
    ids=("vbd", "vbd with self-contact", "semi-implicit", "semi-implicit without"),
)
def test_a_block_passes_through_a_cloth_where_a_note_says_so(solver, option, kind):
    notes, has_passed = dropped(solver, kind)

    assert has_passed == bool(notes)
    if option is not None:
        assert len(notes) == 1
        assert re.search("the solver ignores face_contacts, used by (block, sheet|sheet, block); set", notes[0])
        assert option in notes[0]


@pytest.mark.slow
def test_woven_cloth_holds_another_one_without_a_note():
    sheet = {**CLOTH, "cells": [8, 8], "cell": [0.05, 0.05], "tri_kd": 0.0}
    small = {**sheet, "label": "small", "position": [-0.1, -0.1, HEIGHT + 0.03], "cells": [4, 4], "pin": []}
    tables = {"simulation": {"device": "cpu", "dt": 0.005, "substeps": 20}, "scene": {"objects": [sheet, small]}}
    with pippin.Simulation(pippin.structure({**tables, "solver": {"type": "style3d"}})) as simulation:
        simulation.step(60)
        heights = simulation.state.particle_q.numpy()[81:, 2]
        assert not simulation.notes.get("scene")

    assert heights.min() > HEIGHT - 0.05


@pytest.mark.parametrize(("solver", "is_noted"), [("vbd", True), ("xpbd", False), ("implicit-mpm", False)])
def test_grains_that_pass_through_each_other_are_noted(solver, is_noted):
    sand = {"type": "granular", "label": "sand", "size": [0.1, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}
    tables = {"simulation": {"device": "cpu"}, "scene": {"objects": [sand]}, "solver": {"type": solver}}
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        notes = [note for note in simulation.notes.get("scene", ()) if "particle_contacts" in note]

    assert bool(notes) == is_noted
    assert not is_noted or "used by sand; choose a solver that has them" in notes[0]


def test_a_cloth_alone_has_no_note():
    tables = {"simulation": {"device": "cpu"}, "scene": {"objects": [CLOTH]}, "solver": {"type": "vbd"}}
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        assert not simulation.notes.get("scene")


def test_objects_of_different_worlds_have_no_note():
    block = {"type": "soft-grid", "label": "block", "density": 50.0, **FALLING["soft-grid"], "worlds": "1:2"}
    tables = {"simulation": {"device": "cpu"}, "scene": {"worlds": 2, "objects": [{**CLOTH, "worlds": "0:1"}, block]}}
    with pippin.Simulation(pippin.structure({**tables, "solver": {"type": "vbd"}})) as simulation:
        assert not [note for note in simulation.notes.get("scene", ()) if "face_contacts" in note]
