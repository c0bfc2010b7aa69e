"""The coupled solver: momentum between solvers, constraints between solvers, and what it refuses."""

import numpy as np
import pippin
import pytest
from pippin.catalog.entries import Catalog
from pippin_conformance import relations
from pippin_conformance.plugin_under_test import PluginUnderTest

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


def build(objects, solver, dt=0.01, worlds=1, capture="auto", accept=(), joints=(), substeps=1, **scene):
    step = {"device": "cpu", "dt": dt, "substeps": substeps, "capture": capture, "accept_unsupported": list(accept)}
    content = {"objects": objects, "worlds": worlds, "joints": list(joints), **scene}
    return pippin.Simulation(pippin.structure({"simulation": step, "scene": content, "solver": solver}))


def halves(first="mujoco", second="mujoco", **admm):
    """Return a coupling of two links, each with a solver of its own."""
    entries = {
        "a": {"bodies": ["upper"], "solver": {"type": first}},
        "b": {"bodies": ["lower"], "solver": {"type": second}},
    }
    return {"type": "coupled", "entries": entries, "admm": {"iterations": 20, "baumgarte": 0.02, **admm}}


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "solvers", [("mujoco", "mujoco"), pytest.param(("mujoco", "xpbd"), marks=pytest.mark.slow)], ids="-".join
)
@pytest.mark.parametrize("capture", ["require", pytest.param("off", marks=pytest.mark.slow)])
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


@pytest.mark.slow
def test_without_a_constraint_the_lower_link_falls():
    """The negative control of the test above: a weak joint between the solvers lets the link go."""
    with build(LINKS, halves(joint_stiffness=0.0, joint_angular_stiffness=0.0), dt=0.002, joints=[BETWEEN]) as parted:
        parted.step(250)
        assert parted.state.body_q.numpy()[1, 2] < -2.0


@pytest.mark.slow
def test_a_reset_goes_back_to_the_same_bits():
    with build(LINKS, halves(), dt=0.002, joints=[BETWEEN], worlds=2) as simulation:
        simulation.step(50)
        first = simulation.state.body_q.numpy().copy()
        simulation.reset()
        simulation.step(50)

        np.testing.assert_array_equal(simulation.state.body_q.numpy(), first)


@pytest.mark.slow
@pytest.mark.parametrize("brings_back", [True, False])
def test_what_a_body_loses_in_momentum_the_sand_gets(brings_back):
    """A cube of 8 kg at 1 m/s runs into as much sand. The control, relaxation 0, brings no impulse back to the cube."""
    cube = {**CUBE, "position": [-0.22, 0.0, 0.0], "velocity": [1.0, 0.0, 0.0]}
    bed = {**BED, "position": [-0.1, -0.1, -0.1], "size": [0.2, 0.2, 0.2]}
    solver = {**IN_SAND, "proxies": [{**IN_SAND["proxies"][0], "relaxation": 1.0 if brings_back else 0.0}]}
    with build([cube, bed], solver, gravity=[0.0, 0.0, 0.0]) as simulation:
        simulation.step(20)
        speed, speeds = simulation.state.body_qd.numpy()[0, :3], simulation.state.particle_qd.numpy()
        of_sand = simulation.model.particle_mass.numpy() @ speeds

    error = np.abs(8.0 * speed + of_sand - [8.0, 0.0, 0.0]).max()
    assert of_sand[0] > 0.5, "the cube pushes the sand"
    assert error < 1e-4 if brings_back else error > 0.5


def energy(simulation):
    """Return the energy of the links [J]: of motion, of rotation about y, and in gravity."""
    state, model = simulation.state, simulation.model
    places, speeds = state.body_q.numpy(), state.body_qd.numpy()
    masses, inertia = model.body_mass.numpy(), model.body_inertia.numpy()[:, 1, 1]
    motion = 0.5 * masses @ (speeds[:, :3] ** 2).sum(axis=1) + 0.5 * inertia @ speeds[:, 4] ** 2
    return motion + 9.81 * masses @ places[:, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("admm", "is_kept"), [({}, True), pytest.param({"baumgarte": 0.1, "iterations": 10}, False, marks=pytest.mark.slow)]
)
def test_a_double_pendulum_in_two_solvers_keeps_its_energy(admm, is_kept):
    """In 0.25 s, the upper link turns back, and 2 J move. The control does not converge, and gains energy."""
    with build(LINKS, halves(**admm), dt=0.002, joints=[BETWEEN]) as simulation:
        start, errors = energy(simulation), []
        for _ in range(5):
            simulation.step(25)
            errors.append(abs(energy(simulation) - start))

    assert (max(errors) < 0.05) == is_kept, errors


@pytest.mark.slow
def test_a_mass_on_a_spring_of_another_solver_swings_with_the_period_of_the_formula():
    """A slider of 1 kg on 300 N/m carries 1 kg of another entry: x = a cos ωt, ω² = k/2m. The control is ω² = k/m."""
    slider = {"type": "prismatic", "axis": [1.0, 0.0, 0.0], "position": 0.02, "stiffness": 300.0}
    upper, lower = {**LINKS[0], "joint": slider}, LINKS[1]
    between = {"type": "fixed", "child": "lower", "parent": "upper", "child_position": [0.0, 0.0, 0.5]}
    found = []
    with build([upper, lower], halves(), dt=0.002, joints=[between], gravity=[0.0, 0.0, 0.0]) as simulation:
        for _ in range(8):
            simulation.step(10)
            found.append(simulation.state.body_q.numpy()[:, 0].mean())

    times = 0.02 * np.arange(1, 9)
    right, wrong = (0.02 * np.cos(np.sqrt(300.0 / mass) * times) for mass in (2.0, 1.0))
    np.testing.assert_allclose(found, right, atol=1e-3)
    assert np.abs(found - wrong).max() > 5e-3


BALL = {"type": "body", "shapes": [{"type": "sphere", "radius": 0.1}]}


@pytest.mark.slow
@pytest.mark.parametrize("second", ["semi-implicit", "xpbd"])
@pytest.mark.parametrize("is_coupled", [True, False])
def test_a_ball_hits_one_of_another_entry_and_both_go_on_with_the_momentum(second, is_coupled):
    """1 kg at 1 m/s hits 2 kg at rest, without restitution: v = m₁ / (m₁ + m₂). The control: no pair of contacts."""
    balls = [
        {**BALL, "label": "upper", "mass": 1.0, "velocity": [1.0, 0.0, 0.0]},
        {**BALL, "label": "lower", "mass": 2.0, "position": [0.25, 0.0, 0.0]},
    ]
    solver = halves("semi-implicit", second, rho=10.0, baumgarte=0.0, contacts=[["a", "b"]] if is_coupled else [])
    with build(balls, solver, dt=0.002, gravity=[0.0, 0.0, 0.0]) as simulation:
        simulation.step(150)
        speeds = simulation.state.body_qd.numpy()[:, 0]

    assert speeds @ [1.0, 2.0] == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(speeds, [1 / 3, 1 / 3] if is_coupled else [1.0, 0.0], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("solvers", [("semi-implicit", "xpbd"), ("mujoco", "mujoco")], ids="-".join)
@pytest.mark.parametrize("stiffness", [1e4, 0.0])
def test_two_free_links_of_two_entries_turn_as_one_rod(solvers, stiffness):
    """The centre goes on at 0.5 m/s, and the links circle it at 1 rad/s. In the control, without a stiffness, each one
    goes straight.
    """
    links = [
        {**LINK, "label": "upper", "position": [0.0, 0.0, -0.5], "angular_velocity": [0.0, 1.0, 0.0]},
        {**LINKS[1], "velocity": [-1.0, 0.0, 0.0], "angular_velocity": [0.0, 1.0, 0.0]},
    ]
    between = {"type": "ball", "child": "lower", "parent": "upper", "parent_position": [0.0, 0.0, -0.5]}
    between |= {"child_position": [0.0, 0.0, 0.5]}
    with build(
        links, halves(*solvers, joint_stiffness=stiffness), dt=0.002, joints=[between], gravity=[0.0, 0.0, 0.0]
    ) as simulation:
        simulation.step(250)
        places, speeds = simulation.state.body_q.numpy()[:, :3], simulation.state.body_qd.numpy()[:, :3]

    side = 0.5 * np.array([[np.sin(0.5), 0.0, np.cos(0.5)]])
    circle = np.concatenate([side, -side]) + np.array([-0.25, 0.0, -1.0])
    straight = np.array([[0.0, 0.0, -0.5], [-0.5, 0.0, -1.5]])
    np.testing.assert_allclose(speeds.sum(axis=0), [-1.0, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(places, circle if stiffness else straight, atol=2e-3)
    assert np.abs(circle - straight).max() > 0.05


@pytest.mark.slow
def test_a_load_that_stands_among_joints_moves_there_in_each_substep():
    """`vbd` moves bodies, and `mujoco` reads joints: four substeps are as four steps, between which joints follow."""
    upper, lower = LINKS[0], {**LINKS[1], "joint": {"type": "free"}}
    proximal = {"joint_proximal_bodies": True, "joint_proximal_destination_entries": ["a"]}
    solver = halves("mujoco", "vbd", rho=50.0, gamma=0.1, **proximal)
    found = []
    for substeps in (4, 1):
        with build([upper, lower], solver, dt=0.002 * substeps, joints=[BETWEEN], substeps=substeps) as simulation:
            simulation.step(40 // substeps)
            found.append(simulation.state.joint_q.numpy())

    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    assert np.abs(found[0][0] - 0.5) > 0.01


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
        (parts(a=A, b={**B, "solver": {"type": "style3d"}}), r"b\.solver\.type: 'style3d' takes part in steps by"),
        (
            parts(a=A, b={**B, "solver": {"type": "kamino", "use_fk_solver": True}}),
            r"solver\.entries\.b\.solver\.use_fk_solver: true, but in a coupling",
        ),
        (
            {**parts(a=A, b=B), "admm": {"joint_proximal_bodies": True}},
            r"admm\.joint_proximal_bodies: true, but 'elbow' is the only joint of 'lower'",
        ),
        (
            {"type": "coupled", "entries": {"a": A, "b": B, "c": B}, "proxies": by_proxy("b")["proxies"]},
            r"solver: entries: 3, but proxies couple two",
        ),
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["prismatic", "ball"])
def test_only_joints_that_admm_holds_may_join_two_entries(kind):
    between = {"type": kind, "child": "lower", "parent": "upper", "child_position": [0.0, 0.0, 0.5], "label": "elbow"}
    if kind == "prismatic":
        with pytest.raises(pippin.ConfigError, match="'elbow' joins bodies of two entries and is a prismatic joint"):
            build(LINKS, halves(), joints=[between])
    else:
        with build(LINKS, halves(), dt=0.002, joints=[between]) as simulation:
            simulation.step(50)
            assert simulation.state.body_q.numpy()[1, 2] > -1.6


def test_particles_that_a_body_of_another_entry_holds_need_constraints():
    cloth = {"type": "cloth-grid", "label": "flag", "cells": [2, 2], "cell": [0.1, 0.1], "density": 1.0}
    entries = {
        "rigid": {"bodies": ["cube"], "solver": {"type": "mujoco"}},
        "cloth": {"particles": ["flag"], "solver": {"type": "vbd"}},
    }
    proxies = [{"source": "rigid", "destination": "cloth", "bodies": ["cube"]}]
    held = [{"particles": {"of": "flag", "corner": "top-left"}, "body": "cube"}]

    for coupling, reason in (({"proxies": proxies}, "which proxies cannot"), ({"admm": {}}, "without a stiffness")):
        with pytest.raises(pippin.ConfigError, match=f"'cube' of 'rigid' holds particles of 'cloth', {reason}"):
            build([CUBE, cloth], {"type": "coupled", "entries": entries, **coupling}, attachments=held)


def test_tendons_are_refused_with_the_solvers_that_have_them():
    rope = {
        "label": "rope",
        "compliance": 1e-6,
        "guides": [{"body": "upper"}, {"type": "pinhole", "body": "lower"}, {"body": "lower"}],
    }

    with pytest.raises(pippin.ConfigError, match=r"'coupled' does not support tendons .*solvers that do: .*'xpbd'"):
        build(LINKS, halves(), tendons=[rope])


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


def test_a_pattern_that_matches_nothing_is_named_by_its_key():
    settings = halves()
    settings["entries"]["a"]["bodies"] = ["nothing"]

    with pytest.raises(pippin.ConfigError, match=r"^solver\.entries\.a\.bodies: no body matches 'nothing'"):
        build(LINKS, settings)


def test_commands_that_try_each_solver_leave_out_one_that_needs_settings():
    catalog = Catalog.installed()

    assert "coupled" in catalog.names("solver")
    assert "coupled" not in catalog.names_without_settings("solver")
    assert "mujoco" in catalog.names_without_settings("solver")


SHEET = {"type": "cloth-grid", "label": "sheet", "position": [-0.25, -0.25, 0.3], "cells": [5, 5], "cell": [0.1, 0.1]}
SHEET |= {
    "density": 0.5,
    "particle_radius": 0.02,
    "tri_ke": 1e3,
    "tri_ka": 1e3,
    "tri_kd": 1.0,
    "pin": [{"edge": "left"}, {"edge": "right"}],
}
ON_CLOTH = {
    "type": "coupled",
    "entries": {
        "rigid": {"bodies": ["cube"], "solver": {"type": "mujoco", "use_mujoco_contacts": False}},
        "soft": {"particles": ["sheet"], "solver": {"type": "vbd"}},
    },
    "proxies": [{"source": "rigid", "destination": "soft", "bodies": ["cube"]}],
}


@pytest.mark.slow
def test_worlds_with_cloth_stay_apart_and_are_reset_alone():
    """The cube of the second world starts anew; that of the first one moves on, as if it were alone."""
    cube = {**CUBE, "position": [0.0, 0.0, 0.45], "shapes": [{**CUBE["shapes"][0], "density": 50.0}]}
    with build([cube, SHEET], ON_CLOTH, dt=0.005) as alone:
        alone.step(20)
        half = alone.state.body_q.numpy()[0].copy()
        alone.step(20)
        whole, cloth = alone.state.body_q.numpy()[0].copy(), alone.state.particle_q.numpy()[:, 2].copy()
    with build([cube, SHEET], ON_CLOTH, dt=0.005, worlds=2) as simulation:
        simulation.step(20)
        simulation.reset([1])
        simulation.step(20)
        found, sheets = simulation.state.body_q.numpy(), simulation.state.particle_q.numpy()[:, 2].reshape(2, -1)

    assert 0.3 < whole[2] < 0.44, "the cube falls on the cloth"
    assert cloth.min() < 0.295, "which sags"
    np.testing.assert_allclose(found[0], whole, atol=1e-5)
    np.testing.assert_allclose(found[1], half, atol=1e-5)
    np.testing.assert_allclose(sheets[0], cloth, atol=1e-5)


def test_worlds_that_a_solver_does_not_keep_apart_are_refused():
    bed = {**BED, "size": [0.1, 0.1, 0.1]}

    with pytest.raises(pippin.ConfigError, match="'coupled' does not support particle_worlds"):
        build([CUBE, bed], IN_SAND, worlds=2)


def test_springs_of_another_entry_do_not_act_twice():
    """A cloth sags as far alone as if it also stands in an entry with springs; doubled, they would hold it higher."""
    sheet = {**SHEET, "spring_ke": 200.0, "tri_ke": 0.0, "tri_ka": 0.0}
    grain = {**BED, "label": "grain", "position": [3.0, 0.0, 3.0], "size": [0.0, 0.0, 0.0], "density": 100.0}
    elastic = {"type": "semi-implicit", "disable_particle_contacts": True, "enable_tri_contact": False}
    entries = {
        "soft": {"particles": ["sheet"], "solver": elastic},
        "grains": {"particles": ["grain"], "solver": elastic},
    }
    proxies = [{"source": "soft", "destination": "grains", "particles": ["sheet"]}]
    sags = []
    for solver in (elastic, {"type": "coupled", "entries": entries, "proxies": proxies}):
        with build([sheet, grain], solver, dt=0.001) as simulation:
            simulation.step(100)
            sags.append(0.3 - simulation.state.particle_q.numpy()[:36, 2].min())

    assert sags[0] > 0.01
    assert sags[1] == pytest.approx(sags[0], rel=0.01)


def test_a_checkpoint_is_refused_with_its_reason(tmp_path):
    with (
        build(LINKS, halves(), dt=0.002, joints=[BETWEEN]) as simulation,
        pytest.raises(pippin.PippinError, match="the coupling keeps the impulses of the last substep"),
    ):
        simulation.save(tmp_path / "state.npz")


@pytest.mark.slow
def test_bodies_of_two_solvers_move_alike_wherever_they_stand():
    """The kit's relations, whose bodies have labels by their shapes: those of a stack belong to both solvers."""
    entries = {
        "a": {"bodies": [".*/(sphere|cone|convex_hull|capsule)"], "solver": {"type": "xpbd"}},
        "b": {"bodies": [r".*/(cylinder|ellipsoid|box|\d+)"], "solver": {"type": "semi-implicit"}},
    }
    subject = PluginUnderTest(kind="solver", name="coupled", config={"entries": entries, "admm": {}}, dt=0.0005)

    faults = relations.errors_of_relations(subject, ["shapes", "bodies that meet"])

    assert set(faults.values()) == {""}
