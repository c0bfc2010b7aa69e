"""Masses of bodies from the file: they act in each solver, and no body has an inertia that none can have."""

import numpy as np
import pippin
import pytest
from pippin.inertias import inertia_fault, symmetric

ARM = "docs/examples/arm.xml"


def scene(bodies, solver="mujoco-native", **keys):
    return pippin.structure(
        {
            "simulation": {"device": "cpu", "dt": 0.001, **keys},
            "scene": {"assets": [{"path": ARM}], "bodies": bodies},
            "solver": {"type": solver},
        }
    )


def numbers_of(simulation, name):
    model = simulation.model
    index = [label.rpartition("/")[2] for label in model.body_label].index(name)
    arrays = (model.body_mass, model.body_com, model.body_inertia, model.body_inv_mass, model.body_inv_inertia)
    return [array.numpy()[index] for array in arrays]


@pytest.fixture(scope="module")
def last():
    with pippin.Simulation(scene({})) as simulation:
        return simulation.model.body_label[-1].rpartition("/")[2], numbers_of(
            simulation, simulation.model.body_label[-1].rpartition("/")[2]
        )


def test_a_body_gets_the_numbers_of_the_file(last):
    name, _ = last
    table = {"mass": 2.5, "com": [0.01, -0.02, 0.03], "inertia": [0.02, 0.03, 0.025, 0.001, 0.0, -0.002]}
    with pippin.Simulation(scene({name: table})) as simulation:
        mass, com, inertia, inverse, inverse_inertia = numbers_of(simulation, name)

    np.testing.assert_allclose(mass, 2.5)
    np.testing.assert_allclose(com, table["com"], rtol=1e-6)
    np.testing.assert_allclose(inertia, symmetric(table["inertia"]), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(inverse, 0.4, rtol=1e-6)
    np.testing.assert_allclose(inverse_inertia @ inertia, np.eye(3), atol=1e-4)


def test_an_inertia_grows_with_a_mass_that_stands_alone(last):
    name, (mass, _, inertia, *_) = last
    with pippin.Simulation(scene({name: {"mass": 3.0 * float(mass)}})) as simulation:
        np.testing.assert_allclose(numbers_of(simulation, name)[2], 3.0 * inertia, rtol=1e-5)


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("solver", ["mujoco-native", "mujoco", "featherstone", "steel", "xpbd", "semi-implicit", "vbd"])
def test_a_pushed_body_moves_and_turns_by_the_numbers_of_the_file(solver):
    """v = F t / m and w = T t / I, after a tenth of a second."""
    load = {"type": "body", "label": "load", "shapes": [{"type": "sphere", "radius": 0.1}]}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.001},
        "scene": {"gravity": [0.0, 0.0, 0.0], "objects": [load]},
        "solver": {"type": solver},
    }
    tables["scene"]["bodies"] = {"load": {"mass": 4.0, "inertia": [0.1, 0.2, 0.15]}}
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        view = simulation.view.rigid_bodies("**")
        for _ in range(100):
            view.apply_forces([[8.0, 0.0, 0.0]], torques=[[0.0, 0.4, 0.0]])
            simulation.step()
        velocity = simulation.state.body_qd.numpy()[0]

    assert velocity[0] == pytest.approx(8.0 / 4.0 * 0.1, rel=0.01)
    assert velocity[4] == pytest.approx(0.4 / 0.2 * 0.1, rel=0.01)


@pytest.mark.parametrize(
    ("bodies", "cure"),
    [
        ({"claw": {"mass": 1.0}}, "scene.bodies: .*'claw'"),
        ({".*": {"mass": 1.0}, "wrist.*": {"mass": 2.0}}, "scene.bodies"),
        ({".*": {"inertia": [1.0, 0.1, 0.1]}}, "larger than the sum of the others"),
        ({".*": {"inertia": [1.0, 1.0, -0.5]}}, "principal moment -0.5"),
        ({".*": {"inertia": [1.0, 1.0]}}, "3 moments, or 3 moments and 3 products"),
        ({".*": {"mass": -1.0}}, "mass"),
    ],
)
def test_what_no_body_can_be_is_refused(bodies, cure):
    with pytest.raises(pippin.ConfigError, match=cure):
        pippin.Simulation(scene(bodies))


def test_moments_of_a_flat_body_are_the_limit():
    assert inertia_fault(np.diag([0.1, 0.2, 0.3])) is None
    assert "larger than the sum" in inertia_fault(np.diag([0.1, 0.2, 0.301]))
