"""Boxes and balls slide without friction, in each world, also if it is taken away while they slide."""

import mujoco
import newton
import numpy as np
import pippin
import pytest

SOLVERS = ("featherstone", "kamino", "mujoco", "mujoco-native", "semi-implicit", "steel", "vbd", "xpbd")
PULL, WEIGHT, TIME, WAY = 5.0, 8.0, 0.2, 0.1005
"""Gravity along x and down [m/s²], the time [s], and the way of what slides freely [m], in steps of 1 ms."""

FILE = """<mujoco><option gravity="{pull} 0 -{weight}" {option}/><worldbody>
<body name="sled" pos="0 0 .1"><freejoint/><geom name="g" type="{kind}" size=".1 .1 .1" mass="1" friction="{friction}"
 {shape}/></body><geom name="floor" type="box" size="4 4 4" pos="0 0 -4" friction="{friction}" {shape}/></worldbody>
{more}</mujoco>"""


@pytest.fixture
def build(tmp_path):
    def build(solver, kind="box", friction=0, option="", shape="", more="", worlds=1, **keys):
        text = FILE.format(
            pull=PULL, weight=WEIGHT, kind=kind, friction=friction, option=option, shape=shape, more=more
        )
        (tmp_path / "sled.xml").write_text(text)
        dt = 1e-3 if solver != "semi-implicit" else 2.5e-4
        tables = {
            "simulation": {"dt": dt, "device": "cpu"},
            "scene": {"worlds": worlds, "ground": False, "assets": [{"path": str(tmp_path / "sled.xml")}]},
            "solver": {"type": solver, **keys},
        }
        return pippin.Simulation(pippin.structure(tables))

    return build


def slide(simulation):
    """Return how far the sled of each world goes along x, and how far up."""
    before = simulation.state.body_q.numpy()[:, :3].copy()
    simulation.step(round(TIME / simulation.dt))
    simulation.raise_errors()
    return (simulation.state.body_q.numpy()[:, :3] - before)[:, [0, 2]]


def assert_free(simulation, least=1e-4):
    """Assert that the sled of each world slides freely, and neither flies nor sinks."""
    ways = slide(simulation)
    np.testing.assert_allclose(ways[:, 0], WAY, atol=least)
    np.testing.assert_allclose(ways[:, 1], 0.0, atol=4e-3)


def stopped(friction):
    """Return the way of a sled that friction slows [m]."""
    return (PULL - friction * WEIGHT) * TIME**2 / 2


def test_plain_mujoco_throws_what_has_no_friction_with_an_implicit_integrator():
    """What our solvers mend; it passes no more when MuJoCo does."""
    text = FILE.format(
        pull=PULL, weight=WEIGHT, kind="box", friction=0, option='integrator="implicitfast"', shape="", more=""
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)

    for _ in range(200):
        mujoco.mj_step(model, data)

    assert data.time == pytest.approx(0.4)
    assert data.qpos[2] > 100.0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["box", "sphere"])
def test_what_has_no_friction_slides_freely(build, solver, kind):
    with build(solver, kind) as simulation:
        assert_free(simulation, 1e-4 if "mujoco" in solver else 1e-3)


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
@pytest.mark.parametrize("friction", [1e-5, 1e-3])
@pytest.mark.parametrize("integrator", ["implicitfast", "implicit"])
def test_next_to_no_friction_is_none_at_pyramids_and_said(build, solver, friction, integrator):
    with build(solver, friction=friction, integrator=integrator) as simulation:
        assert any("counts as none at a pyramidal cone" in note for note in simulation.notes["solver"])
        assert_free(simulation)
    with build(solver, friction=friction, cone="elliptic") as simulation:
        assert not any("pyramidal" in note for note in simulation.notes.get("solver", ()))
        assert_free(simulation, 3e-4)  # its friction acts


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
def test_friction_comes_and_goes_in_each_world_while_a_sled_slides(build, solver):
    with build(solver, worlds=3) as simulation:
        friction = simulation.model.shape_material_mu
        for values in ([0.5, 0.5, 0.5], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.2, 0.0, 0.4]):
            simulation.reset()
            friction.assign(np.repeat(values, friction.shape[0] // 3).astype(np.float32))
            simulation.notify_model_changed(newton.ModelFlags.SHAPE_PROPERTIES)
            expected = [[stopped(value), 0.0] for value in values]
            np.testing.assert_allclose(slide(simulation), expected, atol=1.5e-3)
        friction.zero_()
        simulation.notify_model_changed(newton.ModelFlags.SHAPE_PROPERTIES)
        simulation.reset()
        assert_free(simulation)


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
def test_a_pair_without_friction_slides_whatever_its_shapes_have(build, solver):
    pair = '<contact><pair geom1="g" geom2="floor" condim="3" friction="0 0 .005 .0001 .0001"/></contact>'
    with build(solver, friction=0.8, more=pair) as simulation:
        assert_free(simulation)


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
def test_the_shape_of_higher_priority_takes_friction_away(build, solver):
    text = 'condim="3" priority="1"'
    with build(solver, shape=text) as simulation:
        assert_free(simulation)


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
@pytest.mark.parametrize("condim", [4, 6])
def test_shapes_that_resist_turning_alone_are_refused_at_pyramids(build, solver, condim):
    with pytest.raises(pippin.ConfigError, match=r"^solver\.cone: contacts of condim 4 or 6 need .*mu = 0\.002"):
        build(solver, friction="0 .02 .01", shape=f'condim="{condim}"')
    with build(solver, friction="0.002 .02 .01", shape=f'condim="{condim}"') as simulation:
        np.testing.assert_allclose(slide(simulation), [[stopped(0.002), 0.0]], atol=1e-3)


def test_a_file_of_euler_keeps_what_mujoco_does_without_friction(build):
    with build("mujoco-native", friction=5e-4, option='integrator="Euler"') as simulation:
        assert not simulation.notes.get("solver")
        np.testing.assert_allclose(slide(simulation), [[stopped(5e-4), 0.0]], atol=1e-3)
