"""Resets and checkpoints of particles: a world alone goes back, and every run gives the same bits."""

import numpy as np
import pippin
import pytest

CLOTH = {"type": "cloth-grid", "label": "flag", "cells": [4, 2], "cell": [0.1, 0.1], "density": 0.5}
CLOTH |= {"particle_radius": 0.02, "pin": [{"edge": "left"}], "position": [0.0, 0.0, 1.0]}
CLOTH |= {"tri_ke": 100.0, "tri_ka": 100.0, "edge_ke": 1e-3, "tri_kd": 0.01}
SPRINGS = {**CLOTH, "spring_ke": 20.0}
SAND = {"type": "granular", "label": "sand", "size": [0.1, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}
SAND |= {"position": [0.0, 0.0, 0.2]}
SCENES = {
    "vbd": ({"particle_enable_self_contact": True}, CLOTH),
    "xpbd": ({"disable_particle_contacts": True}, SPRINGS),
    "semi-implicit": ({"disable_particle_contacts": True}, CLOTH),
    "style3d": ({}, {**CLOTH, "tri_kd": 0.0}),
    "implicit-mpm": ({"separate_worlds": True, "grid_type": "dense"}, SAND),
}


def build(name, worlds=3, matter=None, **options):
    solver, own = SCENES[name]
    matter = matter or own
    if worlds == 1 and name == "implicit-mpm":
        solver = {"grid_type": "dense"}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.004, "substeps": 2, **options},
        "scene": {"worlds": worlds, "objects": [matter], "ground": True},
        "solver": {"type": name, **solver},
    }
    if name == "xpbd":
        tables["simulation"]["accept_unsupported"] = ["triangles", "bending"]
    return pippin.Simulation(pippin.structure(tables))


def particles(simulation):
    """Return the positions and velocities of all particles, shape [worlds, particles, 6]."""
    arrays = [simulation.state.particle_q.numpy(), simulation.state.particle_qd.numpy()]
    return np.concatenate(arrays, axis=1).reshape(simulation.world_count, -1, 6)


def worlds_of(solver):
    return [1] if solver == "style3d" else [1, 3]


CASES = [(solver, worlds) for solver in SCENES for worlds in worlds_of(solver)]


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("capture", ["auto", "off"])
@pytest.mark.parametrize(("solver", "worlds"), CASES)
def test_a_reset_repeats_every_bit_and_leaves_other_worlds(solver, worlds, capture):
    with build(solver, worlds, capture=capture) as simulation:
        start = particles(simulation)
        simulation.step(15)
        first = particles(simulation)
        simulation.reset([worlds - 1])
        after = particles(simulation)
        simulation.step(5)
        simulation.reset()
        simulation.step(15)
        second = particles(simulation)

    assert 1e-3 < np.abs(first - start).max() < 2.0, "it fell"
    np.testing.assert_array_equal(after[-1], start[-1])
    np.testing.assert_array_equal(after[:-1], first[:-1])
    np.testing.assert_array_equal(second, first)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(("solver", "worlds"), [case for case in CASES if case[0] != "implicit-mpm"])
def test_a_world_that_was_reset_moves_as_at_first(solver, worlds):
    with build(solver, worlds) as simulation:
        simulation.step(8)
        first = particles(simulation)[-1]
        simulation.step(4)
        simulation.reset([worlds - 1])
        simulation.step(8)
        again = particles(simulation)[-1]

    np.testing.assert_array_equal(again, first)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(("solver", "worlds"), [case for case in CASES if case[0] != "implicit-mpm"])
def test_a_checkpoint_in_the_middle_resumes_with_the_same_bits(solver, worlds, tmp_path):
    with build(solver, worlds) as simulation:
        simulation.step(10)
        simulation.save(tmp_path / "middle.pippin")
        simulation.step(10)
        expected = particles(simulation)
    with pippin.Simulation.load(tmp_path / "middle.pippin") as resumed:
        resumed.step(10)
        found = particles(resumed)

    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("capture", ["require", "off"])
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("positions", np.nan, r"step 3 .*: particle 4 of 'sand' of world 1 is not finite"),
        (
            "velocities",
            200.0,
            r"step 3 .*: particle 4 of 'sand' of world 1 moves at .* m/s, more than simulation\.max_sp",
        ),
    ],
)
def test_a_diverged_particle_is_told_by_its_object_and_world(name, value, message, capture):
    with build("semi-implicit", 3, SAND, capture=capture, max_speed=100.0) as simulation:
        simulation.step(2)
        simulation.raise_errors()
        array = simulation.state.particle_q if name == "positions" else simulation.state.particle_qd
        values = array.numpy()
        values[27 + 4] = value
        array.assign(values)
        simulation.step()
        with pytest.raises(pippin.SimulationError, match=message):
            simulation.raise_errors()
        simulation.reset([1])
        simulation.step()
        simulation.raise_errors()


@pytest.mark.slow  # its solver is imported for seconds
def test_sand_on_a_grid_is_not_saved_and_the_error_says_why(tmp_path):
    with build("implicit-mpm", 1) as simulation:
        simulation.step()
        with pytest.raises(pippin.SimulationError, match=r"save: .* lays its grid out anew in each substep"):
            simulation.save(tmp_path / "sand.pippin")
