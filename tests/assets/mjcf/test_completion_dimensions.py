"""Claims that torsional and rolling friction act where they are asked for, or are refused."""

import newton
import numpy as np
import pippin
import pytest
from pippin.views import ViewError

BALL = """<mujoco><worldbody><body pos="0 0 .1"><freejoint/><geom size=".1" mass="1" {}/></body></worldbody></mujoco>"""
OF_FILE = 'friction="1 .5 .4"'


@pytest.fixture
def roll(simulate, tmp_path):
    """Return a function that builds a ball on the ground."""

    def roll(solver, attributes="", **shapes):
        path = tmp_path / "ball.xml"
        path.write_text(BALL.format(attributes))
        return simulate(dt=0.002, assets=[{"path": str(path)}], ground=True, shapes=shapes, solver=solver)

    return roll


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attributes", "shapes", "ground", "ball"),
    [
        ("", {}, 3, 3),
        (OF_FILE, {}, 3, 3),
        ('condim="4"', {}, 3, 4),
        ("", {"mu_torsional": 0.1}, 4, 4),
        ("", {"mu_torsional": 0.1, "mu_rolling": 0.01}, 6, 6),
        (OF_FILE, {"mu_torsional": 0.1}, 4, 3),
        ('condim="1"', {"mu_rolling": 0.1}, 6, 1),
    ],
)
def test_shapes_get_the_dimension_of_the_friction_that_the_scene_gives_them(roll, attributes, shapes, ground, ball):
    with roll("mujoco-native", attributes, **shapes) as simulation:
        model = simulation.solver.mj_model

        found = {int(kind): int(dim) for kind, dim in zip(model.geom_type, model.geom_condim, strict=True)}

    assert found == {0: ground, 2: ball}  # a plane and a sphere


def test_friction_that_mujoco_itself_leaves_out_needs_no_support(roll):
    with roll("featherstone", OF_FILE) as simulation:
        assert "friction" not in str(simulation.notes)


@pytest.mark.parametrize(
    ("attributes", "shapes", "feature"),
    [
        ("", {"mu_torsional": 0.1}, "torsional_friction"),
        ("", {"mu_rolling": 0.1}, "rolling_friction"),
        ('condim="6" ' + OF_FILE, {}, "rolling_friction"),
    ],
)
def test_a_solver_without_the_friction_refuses_it(roll, attributes, shapes, feature):
    with pytest.raises(pippin.ConfigError, match=rf"'featherstone' does not support {feature} .*solvers that do"):
        roll("featherstone", attributes, **shapes)


@pytest.mark.parametrize(
    ("attributes", "shapes", "expected"),
    [
        (OF_FILE, {}, (0.0, 0.0)),
        ('condim="4" ' + OF_FILE, {}, (0.5, 0.0)),
        ("", {"mu_torsional": 0.1, "mu_rolling": 0.01}, (0.1, 0.01)),
    ],
)
def test_a_solver_that_reads_coefficients_alone_has_the_friction_that_mujoco_has(roll, attributes, shapes, expected):
    with roll("xpbd", attributes, **shapes) as simulation:
        model = simulation.model
        found = [getattr(model, f"shape_material_{name}").numpy() for name in ("mu_torsional", "mu_rolling")]

    ball = model.shape_body.numpy().tolist().index(0)
    assert [each[ball] for each in found] == pytest.approx(expected)


@pytest.mark.parametrize("solver", ["mujoco-native", "xpbd"])
def test_a_coefficient_that_the_dimension_leaves_out_is_refused_or_acts(roll, solver):
    """A ball turns on the spot; MuJoCo has no torsional friction at a contact of condim 3."""
    with roll(solver, OF_FILE) as simulation:
        view = simulation.view.articulations("**")
        coefficients = np.full(view.get_attribute("shape_material_mu_torsional").shape, 0.05, dtype=np.float32)
        flags = newton.ModelFlags.SHAPE_PROPERTIES
        if solver == "mujoco-native":
            with pytest.raises(ViewError, match=r"condim below 4, as '.*' asks for; write condim=\"4\""):
                view.set_attribute("shape_material_mu_torsional", coefficients, flags=flags)
            return
        view.set_attribute("shape_material_mu_torsional", coefficients, flags=flags)
        view.set_root_velocities([0.0, 0.0, 0.0, 0.0, 0.0, 5.0])
        simulation.step(50)

        assert abs(view.get_root_velocities().numpy()[0, 5]) < 4.5
