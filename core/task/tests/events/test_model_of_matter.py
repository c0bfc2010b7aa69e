"""The event `material`: numbers of cloth, soft bodies and loose particles by world, against scenes that state them."""

from functools import partial

import numpy as np
import pippin
import pytest

CLOTH = {"type": "cloth-grid", "label": "flag", "cells": [4, 2], "cell": [0.5, 0.5], "density": 0.5}
CLOTH |= {"tri_ke": 50.0, "tri_ka": 50.0, "tri_kd": 1.0, "edge_ke": 2.0, "edge_kd": 0.1, "pin": [{"edge": "left"}]}
CLOTH |= {"position": [0.0, 0.0, 1.0], "particle_radius": 0.02, "velocity": [0.0, 0.0, -1.0]}
BLOCK = {"type": "soft-grid", "label": "block", "cells": [2, 1, 1], "cell": [0.1, 0.1, 0.1], "density": 500.0}
BLOCK |= {"k_mu": 1e4, "k_lambda": 1e4, "k_damp": 20.0, "position": [0.0, 0.0, 1.0], "pin": [{"edge": "left"}]}
BLOCK |= {"particle_radius": 0.02, "velocity": [1.0, 0.0, 0.5]}
NET = {"type": "particles", "label": "net", "points": [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], "springs": [[0, 1]]}
NET |= {"particle_mass": 0.2, "spring_ke": 50.0, "spring_kd": 2.0, "position": [0.0, 0.0, 1.0], "particle_radius": 0.02}
NET |= {"pin": [{"index": [0]}], "velocity": [0.5, 0.0, 0.0]}
AIR = {"tri_drag": 2.0, "tri_lift": 1.0}
FACTOR = 1.5

OF_CLOTH = ("tri_ke", "tri_ka", "tri_kd", "edge_ke", "edge_kd")
OF_BLOCK = ("k_mu", "k_lambda", "k_damp")
OF_NET = ("spring_ke", "spring_kd", "particle_mass")
HONOURED = {
    "vbd": (*OF_CLOTH, *OF_BLOCK, *OF_NET),
    "semi-implicit": (*OF_CLOTH, *OF_BLOCK, *OF_NET, *AIR),
    "featherstone": (*OF_CLOTH, *OF_BLOCK, *OF_NET, *AIR),
    "xpbd": ("edge_ke", "edge_kd", *OF_BLOCK, *OF_NET),
}


def build(*objects, solver="vbd", worlds=1, events=(), **scene):
    accepted = ["triangles"] if solver == "xpbd" else []
    options = {"disable_particle_contacts": True} if solver in ("xpbd", "semi-implicit") else {}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.005, "substeps": 5, "accept_unsupported": accepted},
        "scene": {"objects": list(objects), "worlds": worlds, **scene},
        "solver": {"type": solver, **options},
        "task": {"episode_length": 1.0, "events": dict(events)},
    }
    return pippin.Simulation(pippin.structure(tables))


def event(number, **ranges):
    return {number: {"type": "material", "number": number, **ranges}}


def moved(build_one):
    with build_one() as simulation:
        simulation.step(6)
        return simulation.state.particle_q.numpy()


@pytest.mark.slow
@pytest.mark.parametrize("solver", HONOURED)
def test_each_number_acts_as_in_a_scene_that_states_it(solver):
    """A solver that kept the built number, or took another one, would move the object in another way."""
    for table, numbers in ((CLOTH, (*OF_CLOTH, *AIR)), (BLOCK, OF_BLOCK), (NET, OF_NET)):
        plain = {**table, **(AIR if set(AIR) <= set(HONOURED[solver]) and table is CLOTH else {})}
        tried = [each for each in numbers if each in HONOURED[solver]]
        as_built = moved(partial(build, plain, solver=solver)) if tried else None
        for number in tried:
            stated = moved(partial(build, {**plain, number: FACTOR * plain[number]}, solver=solver))
            drawn = moved(partial(build, plain, solver=solver, events=event(number, scale=[FACTOR, FACTOR])))

            np.testing.assert_allclose(drawn, stated, atol=5e-7, err_msg=number)
            assert np.abs(stated - as_built).max() > 5e-6, number


@pytest.mark.slow
def test_objects_draw_by_world_and_a_world_draws_the_same_in_a_run_of_any_size():
    events = event("k_mu", scale=[0.5, 2.0], when="reset")
    found = {}
    for worlds in (2, 3):
        with build(BLOCK, {**BLOCK, "label": "other"}, worlds=worlds, events=events) as simulation:
            simulation.step(1)
            simulation.reset(worlds=[1])
            simulation.step(1)
            found[worlds] = simulation.model.tet_materials.numpy()[:, 0].reshape(worlds, 2, -1)

    assert np.ptp(found[3], axis=2).max() == 0.0  # all elements of an object alike
    assert len(np.unique(found[3])) == 6
    np.testing.assert_array_equal(found[2], found[3][:2])


def test_pinned_particles_stay_pinned_and_a_shared_draw_is_one_for_all_objects():
    events = event("particle_mass", scale=[0.5, 2.0], shared=True)
    with build(BLOCK, NET, worlds=2, events=events) as simulation:
        mass, inverse = (simulation.model.particle_mass.numpy(), simulation.model.particle_inv_mass.numpy())
    with build(BLOCK, NET, worlds=2) as simulation:
        built = simulation.model.particle_mass.numpy()

    free = built > 0.0
    np.testing.assert_array_equal(mass[~free], 0.0)
    np.testing.assert_array_equal(inverse[~free], 0.0)
    np.testing.assert_allclose(mass[free] * inverse[free], 1.0, rtol=1e-6)
    first, second = (mass[free] / built[free]).reshape(2, -1)
    assert np.ptp(first) < 1e-6
    assert np.ptp(second) < 1e-6
    assert abs(first[0] - second[0]) > 1e-3


@pytest.mark.parametrize(
    ("solver", "objects", "number", "message"),
    [
        ("vbd", [CLOTH], "k_mu", r"'flag' has no k_mu to change"),
        ("vbd", [CLOTH], "tri_drag", r"'flag' has no tri_drag to change; state one"),
        ("vbd", [{**CLOTH, "label": "flog"}], "tri_ke", None),
        (
            "style3d",
            [{**CLOTH, "tri_kd": 0.0, "edge_kd": 0.0}],
            "tri_ke",
            r"'style3d' reads tri_materials .*only",
        ),
        ("vbd", [CLOTH], "tri_ke", r"scale: the tri_ke can become -50"),
    ],
)
def test_a_number_that_cannot_be_changed_is_refused(solver, objects, number, message):
    ranges = {"scale": [-1.0, 1.0]} if message and message.startswith("scale") else {}
    chosen = {"objects": ["flag"]} if message is None else {}
    message = message or r"no object with particles matches 'flag'"
    with pytest.raises(pippin.ConfigError, match=rf"events\.{number}.*{message}"):
        build(*objects, solver=solver, events=event(number, **ranges, **chosen))


def test_sand_of_mpm_keeps_its_masses():
    sand = {"type": "granular", "label": "sand", "size": [0.2, 0.2, 0.2], "spacing": 0.05, "density": 2000.0}
    with pytest.raises(pippin.ConfigError, match=r"'implicit-mpm' reads particle_mass .* only while it is built"):
        build(sand, solver="implicit-mpm", events=event("particle_mass", scale=[0.5, 2.0]))
