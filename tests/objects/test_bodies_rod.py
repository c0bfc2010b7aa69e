"""Rods of `[[scene.objects]]`: pins, nets, rings, shapes at rest, stiffnesses and errors."""

import newton
import numpy as np
import pippin
import pytest

CABLE = {"type": "rod", "label": "cable", "end": [1.0, 0.0, 0.0], "segments": 10, "radius": 0.01}
CABLE |= {"bend_stiffness": 1.0, "bend_damping": 0.1}
ANGLES = np.linspace(0.0, np.pi, 11)
ARC = np.stack([np.sin(ANGLES), 1.0 - np.cos(ANGLES), np.zeros(11)], axis=1).tolist()
CORNERS = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


def build(table, *, solver="vbd", device="cpu", **scene):
    tables = {
        "simulation": {"device": device, "dt": 0.01, "substeps": 5},
        "scene": {"objects": [table], "gravity": [0.0, 0.0, 0.0], **scene},
        "solver": {"type": solver},
    }
    return pippin.Simulation(pippin.structure(tables))


def span(simulation):
    """Return the distance of the first and the last segment [m]."""
    places = simulation.state.body_q.numpy()[:, :3]
    return float(np.linalg.norm(places[-1] - places[0]))


@pytest.mark.slow
def test_pinned_ends_hold_a_cable_that_sags_between_them(device):
    table = {**CABLE, "position": [0.0, 0.0, 1.0], "pin": [{"part": "first"}, {"part": "last"}]}
    with build(table, device=device, gravity=[0.0, 0.0, -9.81], worlds=2) as simulation:
        start = simulation.state.body_q.numpy().copy()
        simulation.step(40)
        end = simulation.state.body_q.numpy()

    for first in (0, 10):
        np.testing.assert_allclose(end[[first, first + 9]], start[[first, first + 9]], atol=1e-6)
        assert end[first + 4, 2] < 0.99


@pytest.mark.slow
def test_a_straight_cable_bends_to_its_points_at_rest():
    bent = {"rest_points": (np.array(ARC) / np.pi).tolist(), "bend_damping": 1.0}
    with build({**CABLE, **bent, "pin": [{"part": "first"}]}) as simulation:
        assert span(simulation) == pytest.approx(0.9, abs=0.01)
        simulation.step(400)
        assert span(simulation) == pytest.approx(2.0 / np.pi * np.cos(np.pi / 20) ** 2, rel=0.02)  # of the centres


@pytest.mark.slow
def test_a_bent_cable_straightens_to_the_lengths_that_it_has():
    keys = {key: value for key, value in CABLE.items() if key not in ("end", "segments")}
    with build({**keys, "points": ARC, "rest_straight": True, "pin": [{"part": "first"}]}) as simulation:
        assert span(simulation) == pytest.approx(1.95, abs=0.03)
        simulation.step(400)
        length = 10 * 2.0 * np.sin(np.pi / 20)
        assert span(simulation) == pytest.approx(0.9 * length, rel=0.03)


def test_edges_join_three_branches_at_a_junction():
    points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    keys = {key: value for key, value in CABLE.items() if key not in ("end", "segments")}
    with build({**keys, "points": points, "edges": [[0, 1], [0, 2], [0, 3]]}) as simulation:
        model = simulation.model
        kinds = model.joint_type.numpy().tolist()
        ends = model.joint_parent.numpy(), model.joint_child.numpy()

    assert (model.body_count, kinds.count(newton.JointType.ROD)) == (3, 2)
    assert set(np.concatenate(ends).tolist()) == {-1, 0, 1, 2}


def test_a_closed_rod_is_joined_to_its_beginning():
    keys = {key: value for key, value in CABLE.items() if key not in ("end", "segments")}
    with build({**keys, "points": CORNERS, "closed": True}) as simulation:
        kinds = simulation.model.joint_type.numpy().tolist()

    assert (simulation.model.body_count, kinds.count(newton.JointType.ROD)) == (4, 4)


def test_stiffnesses_follow_from_the_material():
    table = {key: value for key, value in CABLE.items() if not key.startswith("bend")}
    with build({**table, "youngs_modulus": 1e6, "poissons_ratio": 0.25}) as simulation:
        model = simulation.model
        joint = model.joint_type.numpy().tolist().index(newton.JointType.ROD)
        first = model.joint_qd_start.numpy()[joint]
        stiffnesses = model.joint_target_ke.numpy()[first : first + 6]

    area, inertia, length = np.pi * 0.01**2, np.pi * 0.01**4 / 4, 0.1
    bend, twist = 1e6 * inertia / length, 1e6 / 2.5 * 2 * inertia / length
    assert {float(f"{each:.3g}") for each in stiffnesses} >= {
        float(f"{each:.3g}") for each in (1e6 * area / length, bend, twist)
    }


def test_a_rod_has_the_surface_of_its_material():
    with build({**CABLE, "material": "rubber"}, materials={"rubber": {"mu": 0.9, "ke": 7e3}}) as simulation:
        mu, ke = (getattr(simulation.model, f"shape_material_{name}").numpy() for name in ("mu", "ke"))

    np.testing.assert_allclose(mu, 0.9)
    np.testing.assert_allclose(ke, 7e3)


def test_segments_do_not_collide_with_the_neighbours_that_the_filter_names():
    with build({**CABLE, "filtered_neighbours": 3}) as simulation:
        pairs = {tuple(sorted(pair)) for pair in simulation.model.shape_collision_filter_pairs}

    assert {(0, 2), (0, 3), (6, 9)} <= pairs
    assert (0, 4) not in pairs


def test_friction_after_dahl_belongs_to_the_joints_of_the_rod():
    with build({**CABLE, "dahl_eps_max": 0.5, "dahl_tau": 0.2}) as simulation:
        attributes = simulation.model.vbd
        kinds = simulation.model.joint_type.numpy()

    is_rod = kinds == newton.JointType.ROD
    np.testing.assert_allclose(attributes.dahl_eps_max.numpy(), np.where(is_rod, 0.5, 0.0))
    np.testing.assert_allclose(attributes.dahl_tau.numpy(), np.where(is_rod, 0.2, 0.0))
    assert simulation.solver.enable_dahl_friction


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"pin": [{"part": [99]}]}, r"objects\[0\]\.pin\[0\]\.part: 99, but the object has 10;"),
        ({"edges": [[0, 1]]}, r"edges: needs 'points'"),
        ({"points": CORNERS, "end": None, "segments": None, "edges": [[0, 9]]}, "newton refused the rod: edges"),
        ({"closed": True}, "newton refused the rod: closed rods require the first and last points to coincide"),
        ({"rest_points": ARC[:4]}, r"rest_points: expected 11 points, as 'points', got 4"),
        ({"rest_points": ARC, "rest_straight": True}, "rest_straight: needs a rod without 'rest_points'"),
        ({"youngs_modulus": 1e6}, "youngs_modulus: and 'poissons_ratio' belong together"),
        ({"dahl_tau": 0.1}, "dahl_eps_max: and 'dahl_tau' belong together"),
        ({"filtered_neighbours": 0}, "filtered_neighbours"),
    ],
)
def test_a_wrong_rod_is_refused_with_its_place(keys, reason):
    with pytest.raises(pippin.ConfigError, match=reason):
        build({key: value for key, value in {**CABLE, **keys}.items() if value is not None})


def test_friction_after_dahl_needs_its_solver():
    with pytest.raises(pippin.ConfigError, match=r"dahl_eps_max: the solver has no such friction"):
        build({**CABLE, "dahl_eps_max": 0.5, "dahl_tau": 0.2}, solver="xpbd")
