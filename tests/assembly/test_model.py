"""The model of all worlds: what a prototype asks for is there, or refused."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp


@pytest.mark.parametrize("solver", ["xpbd", "mujoco-native"])
def test_reports_that_a_prototype_requests_of_the_state_are_refused(configure, solver):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_body(label="ball", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    with pytest.warns(newton.NewtonDeprecationWarning):
        builder.request_state_attributes("body_qdd")

    with pytest.raises(pippin.ConfigError, match=r'^prototype: .*; leave it out, set .*observables = \["body_qdd"'):
        pippin.Simulation(configure(solver), prototype=builder)


PENDULUM = """
import attrs
import pippin

@attrs.frozen(kw_only=True)
class PendulumConfig:
    \"\"\"A pendulum.\"\"\"

    implementation = "Pendulum"

    mass: float = 1.0
    \"\"\"Mass [kg].\"\"\"

class Pendulum:
    \"\"\"Brings a pendulum.\"\"\"

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def fill_prototype(self, builder):
        import warp as wp

        bob = builder.add_link(label="bob", mass=self.config.mass, inertia=wp.diag(wp.vec3(0.1)))
        builder.add_articulation([builder.add_joint_revolute(-1, bob, axis=(0, 1, 0), label="hinge")], label="pendulum")
"""

TABLES = {
    "simulation": {"device": "cpu", "capture": "off"},
    "scene": {"worlds": 2},
    "solver": {"type": "featherstone"},
    "actuators": {"motor": {"type": "pd", "joints": ["hinge"], "kp": 1.0}},
}


@pytest.fixture
def pendulum(tmp_path):
    """Return the table of a plugin that brings a pendulum."""
    (tmp_path / "pendulum.py").write_text(PENDULUM)
    return {"type": f"{tmp_path}/pendulum.py:PendulumConfig", "mass": 3.0}


def test_a_plugin_of_a_file_brings_the_robot_that_an_actuator_above_it_drives(pendulum):
    config = pippin.structure({**TABLES, "plugins": {"robot": pendulum}})

    with pippin.Simulation(config) as simulation:
        simulation.actuators["motor"].position_targets.fill_(0.2)
        simulation.step(5)

        assert simulation.model.body_mass.numpy().tolist() == [3.0, 3.0]
        assert (simulation.state.joint_q.numpy() > 0.0).all()


def test_what_plugins_bring_is_settable_like_what_assets_bring(pendulum):
    tables = {**TABLES, "actuators": {}, "solver": {"type": "mujoco-native"}, "plugins": {"robot": pendulum}}
    config = pippin.structure({**tables, "scene": {"settable_joints": True}})

    with pippin.Simulation(config) as simulation:
        assert np.isfinite(simulation.model.joint_limit_upper.numpy()).all()
        assert simulation.model.joint_limit_upper.numpy().max() < newton.MAXVAL


def test_an_empty_prototype_may_be_extended_too():
    class Ball:
        @pippin.hookimpl(tryfirst=True)
        def extend_prototype(self, builder):
            builder.add_body(label="ball", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))

    config = pippin.structure({**TABLES, "actuators": {}})
    with pippin.Simulation(config, [Ball()]) as simulation:
        assert simulation.model.body_label == ["ball", "ball"]


WALL = '<mujoco><worldbody><geom type="box" size="1 1 1"/></worldbody></mujoco>'


@pytest.mark.parametrize(
    ("assets", "got"), [([], "no assets"), (["wall.xml"], r"0 bodies from '.*wall\.xml'")], ids=["nothing", "scenery"]
)
@pytest.mark.parametrize("actuators", [{}, TABLES["actuators"]], ids=["alone", "with an actuator"])
def test_a_scene_in_which_nothing_can_move_is_refused_after_the_hooks(tmp_path, assets, got, actuators):
    (tmp_path / "wall.xml").write_text(WALL)
    scene = {"assets": [{"path": str(tmp_path / asset)} for asset in assets]}

    with pytest.raises(pippin.ConfigError, match=rf"^scene\.assets: nothing in the scene can move, got {got} and no"):
        pippin.Simulation(pippin.structure({**TABLES, "scene": scene, "actuators": actuators}))


def test_worlds_without_anything_that_moves_are_named(tmp_path):
    (tmp_path / "wall.xml").write_text(WALL)
    (tmp_path / "ball.xml").write_text(
        WALL.replace("<geom", "<body><freejoint/><geom").replace("/></w", "/></body></w")
    )
    worlds = {"wall.xml": "0:2", "ball.xml": "2:"}
    scene = {"worlds": 3, "assets": [{"path": str(tmp_path / name), "worlds": held} for name, held in worlds.items()]}

    with pytest.raises(pippin.ConfigError, match=r"nothing in the scene can move in worlds 0:2, got"):
        pippin.Simulation(pippin.structure({**TABLES, "scene": scene, "actuators": {}}))


def test_a_checkpoint_is_resumed_with_the_plugin_of_a_file(pendulum, tmp_path):
    with pippin.Simulation(pippin.structure({**TABLES, "plugins": {"robot": pendulum}})) as simulation:
        simulation.actuators["motor"].position_targets.fill_(0.2)
        simulation.step(3)
        simulation.save(tmp_path / "a.npz")
        simulation.step(2)
        there = simulation.state.joint_q.numpy().copy()

    with pippin.Simulation.load(tmp_path / "a.npz") as resumed:
        resumed.step(2)

        np.testing.assert_array_equal(resumed.state.joint_q.numpy(), there)

    (tmp_path / "pendulum.py").unlink()
    with pytest.raises(pippin.PippinError, match=r"pendulum\.py: there is no such file; correct the path"):
        pippin.Simulation.load(tmp_path / "a.npz")
