"""MotrixSim keeps the contract, and moves and touches as formulas and MuJoCo say."""

import importlib.util
import sys

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin.catalog import Catalog

IS_THERE = importlib.util.find_spec("motrixsim") is not None
CONFORMANCE = conformance.Conformance("solver", "motrix")
ELSEWHERE = conformance.Conformance("solver", "motrix", config={"environment": sys.prefix})
G = 9.81

needs_engine = pytest.mark.skipif(not IS_THERE, reason="`uv run --group motrix` installs MotrixSim: 230 MB")


@pytest.mark.alone
def test_its_features_are_known_without_motrix():
    found = Catalog.installed().find("solver", "motrix").load()

    assert found.supported_features["joint_drives"] == "live"
    assert "ball_joints" not in found.supported_features


@pytest.mark.alone
@pytest.mark.skipif(IS_THERE, reason="MotrixSim is installed")
def test_without_motrix_it_says_what_to_install():
    with pytest.raises(pippin.ConfigError, match="solver: needs motrixsim-core; install it by `uv "):
        pippin.Simulation(pippin.structure({"solver": {"type": "motrix"}}))


@needs_engine
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


@needs_engine
@pytest.mark.slow
@conformance.parametrize(ELSEWHERE)
def test_it_keeps_the_contract_in_another_process(check):
    check()


def block(builder, shape="sphere", **surface):
    """Add a body of 1 kg with a shape of 0.1 m."""
    body = builder.add_body(mass=1.0, inertia=wp.diag(wp.vec3(0.004)), label="block")
    cfg = newton.ModelBuilder.ShapeConfig(density=0.0, **surface)
    sizes = {"sphere": {"radius": 0.1}, "box": {"hx": 0.2, "hy": 0.2, "hz": 0.02}}
    sizes["mesh"] = {"mesh": newton.Mesh.create_box(0.1, 0.1, 0.1)}
    getattr(builder, f"add_shape_{shape}")(body, cfg=cfg, **sizes[shape])
    return body


def simulation(builder, worlds=1, substeps=1, **settings):
    tables = {
        "simulation": {"dt": 0.002, "device": "cpu", "substeps": substeps},
        "scene": {"worlds": worlds},
        "solver": {"type": "motrix", **settings},
    }
    return pippin.Simulation(pippin.structure(tables), prototype=builder)


def hinge(damping=0.0, tip=None):
    builder = newton.ModelBuilder(up_axis="Z")
    arm = builder.add_link(mass=1.0, com=wp.vec3(0.2, 0.0, 0.0), inertia=wp.diag(wp.vec3(0.01)), label="arm")
    joints = [builder.add_joint_revolute(-1, arm, axis=(0.0, 1.0, 0.0), damping=damping)]
    if tip is not None:
        fixed = builder.add_link(mass=0.5, com=wp.vec3(0.0, 0.0, 0.1), inertia=wp.diag(wp.vec3(0.002)), label="tip")
        joints.append(builder.add_joint_fixed(arm, fixed, parent_xform=tip))
    builder.add_articulation(joints)
    return builder


@needs_engine
def test_an_ant_flies_as_in_mujoco(ant_flight):
    assert ant_flight("motrix") < 2e-5


@needs_engine
def test_joints_of_several_axes_move_as_in_mujoco():
    """Frames are turned on both sides; a drive, a limit, armatures and damping act on some of the axes."""
    builder, axis = newton.ModelBuilder(up_axis="Z"), newton.ModelBuilder.JointDofConfig
    turns = [wp.normalize(wp.quat(*each)) for each in ((0.1, 0.2, 0.3, 0.9), (-0.3, 0.2, 0.1, 0.9))]
    inertia = wp.mat33(0.02, 0.001, 0.0, 0.001, 0.03, 0.002, 0.0, 0.002, 0.04)
    carriage = builder.add_link(mass=1.5, com=wp.vec3(0.1, 0.05, -0.1), inertia=inertia)
    arm = builder.add_link(mass=1.0, com=wp.vec3(0.0, 0.1, -0.2), inertia=inertia)
    driven = axis(axis=(0, 0, 1), armature=0.1, target_ke=20.0, target_kd=1.0)
    first = builder.add_joint_d6(
        *(-1, carriage),
        linear_axes=[axis(axis=(1, 0, 0), damping=0.1, armature=0.1), driven],
        angular_axes=[axis(axis=(0, 1, 0))],
        parent_xform=wp.transform((0.1, 0.2, 0.3), turns[0]),
        child_xform=wp.transform((0.05, -0.1, 0.02), turns[1]),
    )
    limited = axis(axis=(1, 0, 0), limit_lower=-0.3, limit_upper=0.3)
    second = builder.add_joint_d6(
        *(carriage, arm),
        angular_axes=[limited, axis(axis=(0, 1, 0)), axis(axis=(0, 0, 1), armature=0.02)],
        parent_xform=wp.transform((0.0, 0.2, -0.3), turns[1]),
        child_xform=wp.transform((0.05, 0.1, 0.02), turns[0]),
    )
    builder.add_articulation([first, second])
    builder.joint_q[:], builder.joint_qd[:] = [0.1, 0.2, 0.3, 0.1, 0.2, -0.1], [0.3, -0.2, 1.0, 0.5, -0.6, 1.0]
    places = []
    for solver in ({"type": "motrix"}, {"type": "mujoco-native", "integrator": "implicitfast"}):
        with simulation(builder, worlds=2, **solver) as found:
            found.step(100)
            places.append(found.state.body_q.numpy().copy())

    assert abs(places[0] - places[1]).max() < 5e-6


@needs_engine
def test_an_environment_of_its_own_gives_the_same_bits(chain):
    places = []
    for settings in ({}, {"environment": sys.prefix}):
        with simulation(chain(), worlds=2, substeps=2, **settings) as found:
            found.step(50)
            places.append(found.state.body_q.numpy().copy())

    assert (places[0] == places[1]).all()


@needs_engine
def test_a_block_slides_by_the_mean_of_two_frictions():
    """MuJoCo would take the larger one, which leaves 0.53 m/s; the block rocks on soft contacts."""
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_ground_plane(cfg=newton.ModelBuilder.ShapeConfig(mu=0.1))
    block(builder, "box", mu=0.5)
    builder.joint_q[2], builder.joint_qd[0] = 0.02, 2.0
    with simulation(builder) as found:
        found.step(150)
        speed = found.state.body_qd.numpy()[0, 0]

    assert speed == pytest.approx(2.0 - 0.3 * G * 0.3, rel=0.05)


@needs_engine
def test_shapes_with_margins_rest_as_far_apart():
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_ground_plane(cfg=newton.ModelBuilder.ShapeConfig(margin=0.01))
    block(builder, margin=0.02)
    builder.joint_q[2] = 0.14
    with simulation(builder) as found:
        found.step(500)
        height = found.state.body_q.numpy()[0, 2]

    assert height == pytest.approx(0.13, abs=5e-4)  # soft contacts yield to the weight


@needs_engine
def test_a_force_on_a_fixed_tip_turns_the_hinge_as_its_lever_says():
    """The tip is fixed 0.3 m further out, turned, and its own centre of mass is where the force acts."""
    frame = wp.transform(wp.vec3(0.5, 0.0, 0.0), wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), 0.7))
    place = np.array([0.5 + 0.1 * np.sin(0.7), 0.0, 0.1 * np.cos(0.7)])
    inertia = 0.01 + 0.2**2 + 0.002 + 0.5 * place @ place
    with simulation(hinge(tip=frame), worlds=2) as found:
        found.model.gravity.zero_()
        found.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
        found.view.rigid_bodies("tip").apply_forces([[3.0, 0.0, -2.0]], indices=[1])
        found.step()
        speeds = found.state.joint_qd.numpy()

    torque = np.cross(place, [3.0, 0.0, -2.0])[1]
    assert speeds == pytest.approx([0.0, torque / inertia * 0.002], rel=1e-5)


def ground_and(shape):
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_ground_plane()
    block(builder, shape)
    return builder


def finite_ground():
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_shape_plane(width=1.0, length=1.0)
    block(builder)
    return builder


@needs_engine
@pytest.mark.parametrize(
    ("builder", "told"),
    [
        (lambda: ground_and("mesh"), "'motrix' has no shapes of the kind mesh, as .* is; set convex_hulls"),
        (finite_ground, "plane .* has edges; let it be a box, or an endless ground"),
    ],
)
def test_shapes_that_it_lacks_are_refused(builder, told):
    with pytest.raises(pippin.ConfigError, match=told):
        simulation(builder())


def test_worlds_with_dampers_of_their_own_are_refused():
    model = newton.ModelBuilder(up_axis="Z")
    for damping in (0.1, 0.2):
        model.add_world(hinge(damping))
    found = Catalog.installed().find("solver", "motrix").load()(None)

    faults = list(found.check_model(model.finalize(device="cpu")))

    assert faults == ["type: joint_damping differs between worlds, and its engine has one for all; let it be equal"]


@needs_engine
def test_an_inertia_that_it_would_ignore_is_refused():
    """The moments of a body obey the triangle inequality."""
    with simulation(hinge(), worlds=2) as found:
        inertia = found.model.body_inertia.numpy()
        inertia[1] = np.diag([0.01, 0.01, 0.05])
        found.notify_model_changed(newton.ModelFlags.BODY_INERTIAL_PROPERTIES)
        with pytest.raises(pippin.PippinError, match="inertia of b0 in world 1: MotrixSim refuses"):
            found.step()
