"""Place, extent and velocity of sand that falls and of bodies, against the formula of the fall and NumPy."""

import numpy as np
import pippin
import pippin_conformance as conformance
import pytest

DT = 0.004
SAND = {"type": "granular", "label": "sand", "size": [0.2, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}
SAND |= {"position": [1.0, 0.0, 5.0], "velocity": [1.0, 0.0, 0.0]}


class Falling:
    """A solver that lets particles fall: semi-implicit Euler without contacts."""

    supported_features = dict.fromkeys(("gravity", "particles", "particle_worlds"), "live")

    @pippin.hookimpl
    def build_solver(self, model):
        import newton

        model.particle_grid = None
        return newton.solvers.SolverSemiImplicit(model, enable_tri_contact=False)


def build(worlds=3, capture="require", **settings):
    settings = {"type": "object-state", **(settings or {"particles": {"of": "sand"}})}
    tables = {"simulation": {"device": "cpu", "dt": DT, "capture": capture}, "sensors": {"sand": settings}}
    tables["scene"] = {"objects": [SAND], "worlds": worlds}
    return pippin.Simulation(pippin.structure(tables), plugins={"solver": Falling()})


def reading(simulation):
    return {name: output.numpy().copy() for name, output in simulation.sensors["sand"].outputs.items()}


@pytest.mark.alone
@pytest.mark.parametrize("capture", ["require", "off"])
@pytest.mark.parametrize("worlds", [1, 3])
def test_sand_in_free_fall_has_the_place_and_velocity_of_the_formula(worlds, capture):
    """After n steps of semi-implicit Euler: v = n dt g and z = n (n + 1) / 2 dt² g."""
    with build(worlds, capture) as simulation:
        start = reading(simulation)
        simulation.step(50)
        now = reading(simulation)
        positions = simulation.state.particle_q.numpy().reshape(worlds, -1, 3)

    np.testing.assert_allclose(start["centroid"], [[[1.1, 0.05, 5.05]]] * worlds, atol=1e-5)
    np.testing.assert_allclose(np.diff(start["bounds"], axis=1), [[[0.2, 0.1, 0.1]]] * worlds, atol=1e-5)
    np.testing.assert_allclose(now["velocity"], [[[1.0, 0.0, -9.81 * 50 * DT]]] * worlds, rtol=1e-4, atol=1e-5)
    fall = 9.81 * 50 * 51 / 2 * DT**2
    np.testing.assert_allclose(now["centroid"], [[[1.1 + 50 * DT, 0.05, 5.05 - fall]]] * worlds, rtol=1e-4)
    np.testing.assert_array_equal(now["bounds"][:, 0], positions.min(axis=1))
    np.testing.assert_array_equal(now["bounds"][:, 1], positions.max(axis=1))


def test_a_reset_of_a_world_measures_this_world_again():
    with build() as simulation:
        start = reading(simulation)
        simulation.step(20)
        before = reading(simulation)
        simulation.reset([1])
        after = reading(simulation)

    for name in start:
        np.testing.assert_array_equal(after[name][1], start[name][1])
        np.testing.assert_array_equal(after[name][[0, 2]], before[name][[0, 2]])


def test_speeds_extents_and_the_share_in_a_box_are_those_of_numpy():
    box = [[1.0, -1.0, 4.8], [1.25, 1.0, 5.01]]
    with build(particles={"of": "sand"}, box=box) as simulation:
        simulation.state.particle_qd.assign(np.random.default_rng(2).normal(size=(135, 3)))
        simulation.step(5)
        now = reading(simulation)
        q, qd = (getattr(simulation.state, f"particle_{name}").numpy().reshape(3, -1, 3) for name in ("q", "qd"))

    speeds, is_inside = np.linalg.norm(qd, axis=2), ((q >= box[0]) & (q <= box[1])).all(axis=2)
    np.testing.assert_allclose(now["mean_speed"][:, 0], speeds.mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(now["largest_speed"][:, 0], speeds.max(axis=1), rtol=1e-6)
    np.testing.assert_allclose(now["extent"][:, 0], np.ptp(q, axis=1), rtol=1e-6)
    np.testing.assert_allclose(now["inside"][:, 0], is_inside.mean(axis=1), rtol=1e-6)
    assert len(set(now["inside"].ravel().tolist())) == 3
    assert 0.0 < now["inside"].min() < now["inside"].max() < 1.0


def test_a_part_is_measured_alone():
    with build(particles={"of": "sand", "box": [[-0.01, -0.01, -0.01], [0.01, 1.0, 1.0]]}) as simulation:
        bounds = reading(simulation)["bounds"]

    np.testing.assert_allclose(bounds[..., 0], 1.0, atol=1e-6)
    np.testing.assert_allclose(bounds[..., 1], [[0.0, 0.1]] * 3, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"particles": {"of": "snd"}}, r"particles\.of: no object with particles matches 'snd'; did you mean 'sand'"),
        ({"bodies": {"of": "sand"}}, r"bodies\.of: no object or body matches 'sand'"),
        ({"particles": {"of": "sand"}, "bodies": {"of": "sand"}}, r"exactly one of particles, bodies .*: both"),
        ({"period": 0.004}, r"exactly one of particles, bodies .*: none"),
        (
            {"particles": {"of": "sand"}, "box": [[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]},
            r"sensors\.sand\.box: must have its lowest coordinates first",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(settings, message):
    with pytest.raises(pippin.ConfigError, match=message):
        build(**settings)


CONFORMANCE = conformance.Conformance("sensor", "object-state", config={"bodies": {"of": ".*"}})


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
