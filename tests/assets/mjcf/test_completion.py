"""Claims about what completes an import: balls keep their limits, and bodies that an equality joins still collide."""

from typing import Any

import mujoco
import newton
import numpy as np
import pippin
import pytest

BALL = """<mujoco><worldbody><body name="b"><joint name="j" type="ball" range="0 30"/>
<geom size=".05" mass="1" pos=".3 0 0"/></body></worldbody></mujoco>"""

WELD = """<mujoco><worldbody><body name="a"><freejoint/><geom name="a" size=".1"/></body>
<body name="b" pos=".5 0 0"><freejoint/><geom name="b" size=".1"/></body></worldbody>
<equality><weld body1="a" body2="b"/></equality></mujoco>"""


@pytest.fixture
def load(simulate, tmp_path):
    """Return a function that simulates the robot of a text."""

    def load(text: str, solver: Any = "mujoco-native", **keys) -> pippin.Simulation:
        (tmp_path / "robot.xml").write_text(text)
        return simulate(assets=[{"path": str(tmp_path / "robot.xml")}], solver=solver, **keys)

    return load


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("solver", ["mujoco-native", "mujoco"])
def test_a_ball_joint_stops_at_its_largest_angle(load, solver):
    with load(BALL, solver, dt=0.002) as simulation:
        simulation.step(500)
        turn = simulation.state.joint_q.numpy()

    angle = 2.0 * np.arccos(abs(turn[3]))
    assert angle == pytest.approx(np.deg2rad(30.0), abs=0.05)


def test_a_limited_ball_is_refused_by_a_solver_that_does_not_limit_it(load):
    with pytest.raises(pippin.ConfigError, match="'xpbd' does not support ball_limits"):
        load(BALL, "xpbd")


def test_bodies_that_an_equality_joins_still_collide(load):
    with load(WELD) as simulation:
        model = simulation.model
        shapes = [model.shape_label.index(label) for label in ("worldbody/a/a", "worldbody/b/b")]
        is_filtered = model.shape_collision_filter_mask(np.array([shapes]))

    assert not is_filtered.any()
    assert model.joint_type.numpy()[-1] == int(newton.JointType.FIXED)  # the loop joint of the weld


def test_margins_that_warp_cannot_use_are_kept_by_the_engine_in_c(load):
    text = (
        '<mujoco><worldbody><body><joint/><geom type="box" size=".1 .1 .1" margin=".01"/></body></worldbody></mujoco>'
    )

    with load(text) as simulation:
        margin = simulation.solver.mj_model.geom_margin

    assert margin == pytest.approx([0.01])


def test_margins_that_warp_cannot_use_are_told_in_one_line(load):
    text = BALL.replace("</body>", '<geom type="box" size=".1 .1 .1" margin=".01"/></body>')

    with pytest.warns(UserWarning, match="the margin of shape .* is left out.*mujoco-native"), load(text, "mujoco"):
        pass


def test_iterations_against_slip_reach_the_engine_in_c(load):
    text = BALL.replace("<worldbody>", '<option noslip_iterations="3"/><worldbody>')

    with load(text) as simulation:
        count = simulation.solver.mj_model.opt.noslip_iterations

    assert count == 3
    assert mujoco.MjModel.from_xml_string(text).opt.noslip_iterations == 3


@pytest.mark.parametrize(("options", "expected"), [({}, "PGS"), ({"solver": "cg"}, "CG")])
def test_the_constraint_solver_of_a_file_reaches_the_engine_in_c(load, options, expected):
    text = BALL.replace("<worldbody>", '<option solver="PGS"/><worldbody>')

    with load(text, {"type": "mujoco-native", **options}) as simulation:
        [report] = simulation.import_reports
        kind = mujoco.mjtSolver(simulation.solver.mj_model.opt.solver).name

    assert kind == f"mjSOL_{expected}"
    assert not [each for each in report.differences if each.field == "solver"]


FOOT = """<mujoco><worldbody><body name="shin"><freejoint/><geom name="shin" size=".1" mass="1"/>
<body name="foot" pos="0 0 -.1"><joint/><geom name="foot" size=".1" mass="1"/>
<body name="toe" pos=".1 0 0"><geom name="toe" size=".1" mass="1"/></body></body></body></worldbody></mujoco>"""


def test_a_body_does_not_collide_with_what_is_welded_to_its_child(load):
    with load(FOOT, "featherstone") as simulation:
        model = simulation.model
        pair = [i for i, label in enumerate(model.shape_label) if label.endswith(("/shin", "/toe"))]
        is_filtered = model.shape_collision_filter_mask(np.array([pair]))

    assert is_filtered.all()


CART = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body name="cart" pos="0 0 .1">
<joint name="x" type="slide" axis="1 0 0" armature="1"/><joint name="z" type="slide" axis="0 0 1"/>
<geom type="box" size=".1 .2 .1" mass="{mass}"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("solver", ["mujoco-native", "mujoco"])
def test_a_body_that_only_slides_is_weighed_as_in_mujoco_also_with_another_mass(load, solver):
    """MuJoCo takes 1 / mass here, without armature; Newton's conversion alone takes 1.33 and 0.67 / kg of 2."""
    with load(CART.format(mass=0.5), solver, worlds=2) as simulation:
        weights = [_weights(simulation)]
        masses = simulation.model.body_mass.numpy()
        masses[-1] = 2.0
        simulation.model.body_mass.assign(masses)
        simulation.notify_model_changed(newton.ModelFlags.BODY_INERTIAL_PROPERTIES)
        simulation.step()
        weights.append(_weights(simulation))
        notes = simulation.notes

    for found, of_worlds in zip(weights, [(0.5, 0.5), (0.5, 2.0)], strict=True):
        for world, mass in enumerate(of_worlds):
            theirs = mujoco.MjModel.from_xml_string(CART.format(mass=mass))
            np.testing.assert_allclose(found[0][world], theirs.body_invweight0, rtol=1e-6)
            np.testing.assert_allclose(found[1][world], theirs.dof_invweight0, rtol=1e-6)
    assert notes == {}


def _weights(simulation):
    """Return copies of the inverse weights of bodies and DOFs in all worlds."""
    solver, names = simulation.solver, ("body_invweight0", "dof_invweight0")
    if hasattr(solver, "batch"):
        return [solver.batch.expand(name).copy() for name in names]
    return [getattr(solver.mjw_model, name).numpy().copy() for name in names]


LINKS = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" contype="0" conaffinity="0"/>
<geom name="wall" type="box" size=".1 .1 .1" pos="3 0 0"/>
<body name="bare"><joint/><geom name="rod" size=".1"/></body>
<body name="clad" pos="1 0 0"><joint/><geom name="hull" size=".1"/>
<geom name="skin" size=".1" contype="0" conaffinity="0"/></body>
<body name="hidden" pos="2 0 0"><joint/><geom name="proxy" size=".1" group="3"/></body>
</worldbody></mujoco>"""


def test_links_without_a_skin_are_seen(load):
    """Newton hides what collides as soon as one geom does not; MuJoCo draws the groups 0 to 2."""
    with load(LINKS) as simulation:
        model = simulation.model
        names = [label.rpartition("/")[2] for label in model.shape_label]
        is_seen = (model.shape_flags.numpy() & int(newton.ShapeFlags.VISIBLE)) > 0

    assert {name for name, seen in zip(names, is_seen, strict=True) if seen} == {"floor", "wall", "rod", "skin"}
    assert {"hull", "proxy"} <= set(names)
