"""The coupled solver: momentum between solvers, constraints between solvers, and what it refuses."""

import numpy as np
import pippin
import pytest
from pippin.catalog.entries import Catalog

SAND = {"type": "implicit-mpm", "voxel_size": 0.1, "air_drag": 0.0}
CUBE = {"type": "body", "label": "cube", "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}]}
BED = {"type": "granular", "label": "bed", "spacing": 0.05, "density": 1000.0}
IN_SAND = {
    "type": "coupled",
    "entries": {
        "rigid": {"bodies": ["cube"], "solver": {"type": "xpbd"}},
        "sand": {"particles": ["bed"], "solver": SAND},
    },
    "proxies": [{"source": "rigid", "destination": "sand", "bodies": ["cube"]}],
}
LINK = {"type": "body", "shapes": [{"type": "box", "size": [0.1, 0.1, 1.0]}], "mass": 1.0}
HINGE = {"type": "revolute", "axis": [0.0, 1.0, 0.0], "child_position": [0.0, 0.0, 0.5]}
LINKS = [
    {**LINK, "label": "upper", "position": [0.0, 0.0, -0.5], "joint": HINGE | {"position": 0.5}},
    {**LINK, "label": "lower", "position": [0.0, 0.0, -1.5]},
]
BETWEEN = HINGE | {"child": "lower", "parent": "upper", "label": "elbow"}


def build(objects, solver, dt=0.01, worlds=1, capture="auto", accept=(), joints=(), **scene):
    step = {"device": "cpu", "dt": dt, "capture": capture, "accept_unsupported": list(accept)}
    content = {"objects": objects, "worlds": worlds, "joints": list(joints), **scene}
    return pippin.Simulation(pippin.structure({"simulation": step, "scene": content, "solver": solver}))


def halves(first="mujoco", second="mujoco", **admm):
    """Return a coupling of two links, each with a solver of its own."""
    entries = {
        "a": {"bodies": ["upper"], "solver": {"type": first}},
        "b": {"bodies": ["lower"], "solver": {"type": second}},
    }
    return {"type": "coupled", "entries": entries, "admm": {"iterations": 20, "baumgarte": 0.02, **admm}}


@pytest.mark.required
def test_what_a_body_loses_in_momentum_the_sand_gets():
    """Without gravity, a cube of 8 kg at 1 m/s runs into as much sand at rest."""
    cube = {**CUBE, "position": [-0.22, 0.0, 0.0], "velocity": [1.0, 0.0, 0.0]}
    bed = {**BED, "position": [-0.1, -0.1, -0.1], "size": [0.2, 0.2, 0.2]}
    with build([cube, bed], IN_SAND, gravity=[0.0, 0.0, 0.0]) as simulation:
        simulation.step(40)
        speed, speeds = simulation.state.body_qd.numpy()[0, :3], simulation.state.particle_qd.numpy()
        masses = simulation.model.particle_mass.numpy()

    of_sand = masses @ speeds
    assert of_sand[0] > 1.0, "the cube pushes the sand"
    np.testing.assert_allclose(8.0 * speed + of_sand, [8.0, 0.0, 0.0], atol=1e-4)


@pytest.mark.required
def test_sand_carries_a_light_body():
    """A fall lasts 0.2 s to the ground; carried, the cube bobs by the impulse of a step, 0.1 m/s, and stays above."""
    cube = {**CUBE, "position": [0.0, 0.0, 0.22], "shapes": [{**CUBE["shapes"][0], "density": 300.0}]}
    bed = {**BED, "position": [-0.2, -0.2, 0.0], "size": [0.4, 0.4, 0.1]}
    with build([cube, bed], IN_SAND, ground=True) as simulation:
        simulation.step(20)
        early = simulation.state.body_q.numpy()[0, 2]
        simulation.step(20)
        late, speed = simulation.state.body_q.numpy()[0, 2], simulation.state.body_qd.numpy()[0, 2]

    assert late > 0.19, "its lower side is 0.1 m below"
    assert abs(late - early) < 0.005
    assert abs(speed) < 0.15


@pytest.mark.parametrize("solvers", [("mujoco", "mujoco"), ("mujoco", "xpbd")], ids="-".join)
@pytest.mark.parametrize("capture", ["require", "off"])
def test_a_double_pendulum_in_two_solvers_swings_as_in_one(solvers, capture):
    """The constraint gives way by its force over its stiffness: 2e-3 m at 20 N; `xpbd` loses some energy."""
    with build(LINKS, {"type": "mujoco"}, dt=0.002, joints=[BETWEEN], capture=capture) as whole:
        whole.step(250)
        expected = whole.state.body_q.numpy()[:, :3].copy()
    with build(LINKS, halves(*solvers), dt=0.002, joints=[BETWEEN], capture=capture, worlds=2) as parted:
        start = parted.state.body_q.numpy()[:2, :3].copy()
        parted.step(250)
        found = parted.state.body_q.numpy()[:, :3].copy()

    moved = np.linalg.norm(expected - start, axis=1)
    assert moved.min() > 0.1
    np.testing.assert_allclose(found[:2], expected, atol=2e-3)
    np.testing.assert_array_equal(found[2:], found[:2])


def test_without_a_constraint_the_lower_link_falls():
    """The negative control of the test above: a weak joint between the solvers lets the link go."""
    with build(LINKS, halves(joint_stiffness=0.0, joint_angular_stiffness=0.0), dt=0.002, joints=[BETWEEN]) as parted:
        parted.step(250)
        assert parted.state.body_q.numpy()[1, 2] < -2.0


def test_a_reset_goes_back_to_the_same_bits():
    with build(LINKS, halves(), dt=0.002, joints=[BETWEEN], worlds=2) as simulation:
        simulation.step(50)
        first = simulation.state.body_q.numpy().copy()
        simulation.reset()
        simulation.step(50)

        np.testing.assert_array_equal(simulation.state.body_q.numpy(), first)


def parts(**entries):
    return {"type": "coupled", "entries": entries, "admm": {}}


A = {"bodies": ["upper"], "solver": {"type": "mujoco"}}
B = {"bodies": ["lower"], "solver": {"type": "mujoco"}}


def by_proxy(destination):
    proxies = [{"source": "a", "destination": destination, "bodies": ["upper"]}]
    return {"type": "coupled", "entries": {"a": A, "b": B}, "proxies": proxies}


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (parts(a=A), r"solver: entries: expected two or more, got \['a'\]"),
        (parts(a=A, b=A), r"entries: 'upper' belong to two entries; .*\n?.*'lower' belong to no entry"),
        (parts(a=A, b={**B, "bodies": ["low"]}), r"solver\.entries\.b\.bodies: no body matches 'low'.*lower"),
        (parts(a=A, b={**B, "solver": {"type": "mujoco", "cones": 1}}), r"solver\.entries\.b\.solver\.cones: unknown"),
        (parts(a=A, b={**B, "solver": {"type": "kamino"}}), r"b\.solver\.type: 'kamino' takes part in steps by"),
        (parts(a=A, b={**B, "solver": {"type": "mujoco-native"}}), r"b\.solver\.type: 'mujoco-native' takes part"),
        ({"type": "coupled", "entries": {"a": A, "b": B}}, r"solver: proxies: missing, so that nothing couples"),
        (
            {
                "type": "coupled",
                "entries": {"a": A, "b": B},
                "proxies": [{"source": "a", "destination": "c", "bodies": ["upper"]}],
            },
            r"proxies\[0\]: 'c' is no entry; entries: a, b",
        ),
        (
            {
                "type": "coupled",
                "entries": {"a": A, "b": B},
                "proxies": [{"source": "a", "destination": "b", "bodies": ["upper"]}],
            },
            r"entries: joint 'elbow' joins bodies of two entries, which proxies cannot hold",
        ),
        (
            {**parts(a=A, b=B), "admm": {"contacts": [["a", "a"]]}},
            r"admm\.contacts\[0\]: 'a' twice",
        ),
        (
            parts(a=A, b={**B, "solver": {"type": "steel", "contact_warmstart": True}}),
            r"solver\.entries\.b\.solver\.contact_warmstart: True, but collision",
        ),
    ],
)
def test_what_cannot_be_coupled_is_refused_with_its_place(solver, message):
    with pytest.raises(pippin.ConfigError, match=r"(?s)" + message):
        build(LINKS, solver, joints=[BETWEEN])


def test_a_feature_is_asked_of_the_solver_that_owns_the_element():
    """`implicit-mpm` has no springs, and `vbd` has: only who owns the cloth is asked."""
    cloth = {"type": "cloth-grid", "label": "flag", "cells": [2, 2], "cell": [0.1, 0.1], "density": 1.0}
    sand = {**BED, "position": [0.0, 0.0, 1.0], "size": [0.1, 0.1, 0.1]}
    entries = {
        "sand": {"particles": ["flag"], "solver": SAND},
        "cloth": {"particles": ["bed"], "solver": {"type": "vbd"}},
    }
    solver = {"type": "coupled", "entries": entries, "admm": {}}

    with pytest.raises(pippin.ConfigError, match=r"entries\.sand\.solver: 'implicit-mpm' does not support triangles"):
        build([{**cloth, "tri_ke": 100.0}, sand], solver)


def test_commands_that_try_each_solver_leave_out_one_that_needs_settings():
    catalog = Catalog.installed()

    assert "coupled" in catalog.names("solver")
    assert "coupled" not in catalog.names_without_settings("solver")
    assert "mujoco" in catalog.names_without_settings("solver")
