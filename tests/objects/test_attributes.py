"""Custom attributes of solvers by name, in objects, shapes and joints."""

import numpy as np
import pippin
import pytest

BALL = {
    "type": "body",
    "label": "ball",
    "shapes": [
        {"type": "sphere", "radius": 0.1, "attributes": {"mujoco:condim": 6}},
        {"type": "box", "size": [0.1, 0.1, 0.1]},
    ],
}
SAND = {"type": "granular", "label": "sand", "size": [0.1, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}


def build(*objects, solver="mujoco", **scene):
    tables = {"simulation": {"device": "cpu"}, "scene": {"objects": list(objects), **scene}, "solver": {"type": solver}}
    return pippin.Simulation(pippin.structure(tables))


def test_an_attribute_of_a_shape_reaches_the_solver_in_every_world():
    with build(BALL, worlds=2) as simulation:
        assert simulation.model.mujoco.condim.numpy().tolist() == [6, 3, 6, 3]
        assert simulation.solver.mj_model.geom_condim.tolist() == [6, 3]


def test_an_attribute_of_a_body_counts_for_it_alone():
    other = {**BALL, "label": "other", "position": [1.0, 0.0, 0.0], "attributes": {"mujoco:gravcomp": 1.0}}
    with build(BALL, other) as simulation:
        simulation.step(10)
        heights = simulation.state.body_q.numpy()[:, 2]

    assert heights[0] < -0.001
    assert heights[1] == pytest.approx(0.0, abs=1e-6)


def test_an_attribute_of_a_joint_belongs_to_its_axes():
    hinge = {"type": "revolute", "attributes": {"mujoco:solreflimit": [0.05, 2.0]}, "limits": [-1.0, 1.0]}
    with build({**BALL, "joint": hinge}) as simulation:
        np.testing.assert_allclose(simulation.model.mujoco.solreflimit.numpy(), [[0.05, 2.0]], rtol=1e-6)


def test_particles_of_two_objects_have_their_own_attributes():
    mud = {**SAND, "label": "mud", "position": [1.0, 0.0, 0.0], "attributes": {"mpm:viscosity": 10.0}}
    with build(SAND, mud, solver="implicit-mpm") as simulation:
        half = simulation.model.particle_count // 2
        np.testing.assert_array_equal(simulation.model.mpm.viscosity.numpy(), np.repeat([0.0, 10.0], half))


@pytest.mark.parametrize(
    ("changed", "solver", "message"),
    [
        ({"attributes": {"mujoco:gravcom": 1.0}}, "mujoco", r"objects\[0\]\.attributes\.mujoco:gravcom: the solver has"
         r" no such attribute; did you mean 'mujoco:gravcomp'"),
        ({"attributes": {"mujoco:gravcomp": 1.0}}, "xpbd", r"the solver has no such attribute"),
        ({"attributes": {"gravcomp": 1.0}}, "mujoco", r"must be names such as 'mujoco:condim'"),
        ({"attributes": {"mpm:viscosity": 1.0}}, "implicit-mpm", r"belongs to each particle, and there is none here"),
        ({"attributes": {"mujoco:condim": 2.5}}, "mujoco", r"expected a whole number, got 2\.5"),
        ({"attributes": {"mujoco:gravcomp": [1.0, 2.0]}}, "mujoco", r"expected 1 numbers, got 2"),
        ({"attributes": {"mujoco:gravcomp": float("nan")}}, "mujoco", r"expected a finite number, got nan"),
    ],
)  # fmt: skip
def test_a_wrong_attribute_is_refused_with_its_place(changed, solver, message):
    ball = {**BALL, "shapes": [{"type": "sphere", "radius": 0.1}], **changed}
    with pytest.raises(pippin.ConfigError, match=message):
        build(ball, solver=solver)
