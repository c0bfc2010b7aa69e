"""Matter in USD: the points that OpenUSD reads are the positions of the simulation, in each world and at each frame."""

import numpy as np
import pippin
import pytest
from pippin.matter import Matter
from pxr import Usd, UsdGeom
from scipy.spatial.transform import Rotation

RATE, DT, FRAMES = 50.0, 0.01, 4
SEGMENTS, RADIUS = 4, 0.03
CLOTH = {"type": "cloth-grid", "label": "flag", "cells": [4, 2], "cell": [0.1, 0.2], "density": 0.5}
BLOCK = {"type": "soft-grid", "label": "block", "cells": [2, 2, 2], "cell": [0.1, 0.1, 0.1], "density": 1e3}
BLOCK |= {"k_mu": 1e4, "k_lambda": 1e4, "position": [0.6, 0.0, 1.0]}
SAND = {"type": "granular", "label": "sand", "size": [0.2, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}
CABLE = {"type": "rod", "label": "cable", "end": [1.0, 0.0, 0.0], "segments": SEGMENTS, "radius": RADIUS}
PARTICLES = [{**each, "particle_radius": 0.02} for each in (CLOTH, BLOCK, {**SAND, "velocity": [0.0, 1.0, 0.0]})]
OBJECTS = [*PARTICLES, {**CABLE, "position": [0.0, 0.7, 0.5], "bend_stiffness": 0.1}]
WORLDS = 2


@pytest.fixture(scope="module", params=[1_000_000, 30])
def motion(request, tmp_path_factory):
    """Return the stage of a run, whole or in clips, the arrays of the state at its frames, objects and offsets."""
    folder, frames = tmp_path_factory.mktemp("usd"), []
    tables = {
        "simulation": {"device": "cpu", "dt": DT, "substeps": 4},
        "scene": {"objects": OBJECTS, "worlds": WORLDS, "spacing": [3.0, 0.0, 0.0]},
        "solver": {"type": "vbd"},
        "viewers": {"motion": {"type": "usd", "rate": RATE}},
    }
    with pippin.Simulation(pippin.structure(tables), folder=folder) as simulation:
        simulation.viewers["motion"]._motion.clip_size = request.param
        for _ in range(FRAMES):
            state = simulation.state
            frames.append((state.particle_q.numpy().copy(), state.body_q.numpy().copy()))
            simulation.step(round(1.0 / (RATE * DT)))
        matter = {kind: Matter.of(simulation.model, kind) for kind in ("surface", "volume", "grains", "curve")}
        offsets = simulation.world_offsets.copy()
        assert bool(simulation.notes.get("viewers:motion")) == (request.param == 30), "clips are told"
    return Usd.Stage.Open(str(folder / "motion.usdc")), frames, matter, offsets


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "label", "schema"),
    [("surface", "flag", "Mesh"), ("volume", "block", "Mesh"), ("grains", "sand", "Points")],
)
def test_points_are_the_particles_of_an_object(motion, kind, label, schema):
    stage, frames, matter, offsets = motion
    for world in range(WORLDS):
        prim = stage.GetPrimAtPath(f"/scene/world_{world}/{label}")
        assert prim.GetTypeName() == schema
        rows = matter[kind].elements(np.flatnonzero(matter[kind].worlds == world))[0]
        for code, (particles, _) in enumerate(frames):
            expected = particles[rows]
            if kind == "volume":  # the one particle in the middle is not on the surface
                expected = np.delete(expected, 13, axis=0)
            points = np.array(prim.GetAttribute("points").Get(code))
            np.testing.assert_allclose(points, expected + offsets[world], atol=1e-6)
    moved = np.ptp([particles[rows] for particles, _ in frames], axis=0).max()
    assert moved > 0.01, "the object moves, or the test shows nothing"


@pytest.mark.slow
def test_a_cable_is_a_curve_through_the_ends_of_its_segments(motion):
    stage, frames, matter, offsets = motion
    for world in range(WORLDS):
        path = f"/scene/world_{world}/cable"
        curve = UsdGeom.BasisCurves(stage.GetPrimAtPath(path))
        assert list(curve.GetWidthsAttr().Get()) == [pytest.approx(2.0 * RADIUS)]
        assert list(curve.GetCurveVertexCountsAttr().Get()) == [SEGMENTS + 1]
        [start] = matter["curve"].starts[matter["curve"].worlds == world]
        for code, (_, bodies) in enumerate(frames):
            points = np.array(curve.GetPointsAttr().Get(code)) - offsets[world]
            own = bodies[start : start + SEGMENTS]
            along = Rotation.from_quat(own[:, 3:]).apply([0.0, 0.0, 1.0])
            np.testing.assert_allclose(np.diff(points, axis=0) @ along[0], 0.25, atol=0.02)
            middles = Rotation.from_quat(own[:, 3:]).inv().apply(points[:-1] - own[:, :3])
            np.testing.assert_allclose(middles[:, :2], 0.0, atol=1e-5)
            if code == 0:
                line = np.linspace((0.0, 0.7, 0.5), (1.0, 0.7, 0.5), SEGMENTS + 1)
                np.testing.assert_allclose(points, line, atol=1e-5)
        siblings = [prim.GetName() for prim in stage.GetPrimAtPath(f"/scene/world_{world}").GetChildren()]
        assert sorted(siblings) == ["block", "cable", "flag", "sand"], "the capsules are not there again"


@pytest.mark.slow
def test_surfaces_are_seen_from_both_sides_and_colours_are_linear(motion):
    stage = motion[0]
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/scene/world_0/flag"))

    assert mesh.GetDoubleSidedAttr().Get()
    assert len(mesh.GetFaceVertexIndicesAttr().Get()) == 3 * 2 * 4 * 2
    red = 0xE6 / 255.0
    assert mesh.GetDisplayColorAttr().Get()[0][0] == pytest.approx(((red + 0.055) / 1.055) ** 2.4, abs=1e-3)
