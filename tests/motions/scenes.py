"""Scenes of motions: a kinematic plate, a box on it, a cloth."""

from typing import Any

import pippin

PLATE = {
    "type": "body",
    "label": "plate",
    "motion": "kinematic",
    "position": [0.0, 0.0, 1.0],
    "shapes": [{"type": "box", "size": [4.0, 4.0, 0.2]}],
}
BOX = {
    "type": "body",
    "label": "box",
    "position": [0.5, 0.0, 1.2],
    "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}],
}
CLOTH = {
    "type": "cloth-grid",
    "label": "flag",
    "position": [0.0, 0.0, 2.0],
    "cells": [4, 4],
    "cell": [0.1, 0.1],
    "particle_mass": 0.01,
    "particle_radius": 0.02,
    "tri_ke": 100.0,
    "tri_ka": 100.0,
    "pin": [{"edge": "left"}],
}


def simulate(motion, *objects: Any, solver: Any = "xpbd", scene: Any = None, **tables: Any) -> pippin.Simulation:
    """Return a simulation of a plate, or of other objects, with one motion `moved`, or with several."""
    motions = motion if "type" not in motion else {"moved": motion}
    step = {"dt": 0.01, "substeps": 4, "device": "cpu", **tables.pop("simulation", {})}
    return pippin.Simulation(
        pippin.structure(
            {
                "simulation": step,
                "scene": {"objects": list(objects or [PLATE]), **(scene or {})},
                "solver": solver if isinstance(solver, dict) else {"type": solver},
                "motions": motions,
                **tables,
            }
        )
    )
