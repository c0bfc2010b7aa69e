"""What a scene uses is found in its model, and held against what its solver declares."""

import json

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from click.testing import CliRunner
from pippin.assembly.model import features_of
from pippin.catalog.entries import Catalog
from pippin.cli import main

CATALOG = Catalog.installed()
JOINTS = ("fixed", "free", "revolute", "prismatic", "ball", "d6", "distance", "rod")


def _body(builder):
    return builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))


def _hinge(builder, **options):
    parent, child = _body(builder), _body(builder)
    joints = [builder.add_joint_revolute(-1, parent), builder.add_joint_revolute(parent, child, **options)]
    builder.add_articulation(joints)
    return parent, child, joints


def _joint(kind):
    def add(builder):
        body = _body(builder)
        options = {} if kind in ("ball", "fixed", "free", "distance", "rod") else {"axis": (0.0, 0.0, 1.0)}
        if kind == "d6":
            options = {"angular_axes": [newton.ModelBuilder.JointDofConfig(axis=(0.0, 0.0, 1.0))]}
        where = {} if kind == "free" else {"parent": -1}
        builder.add_articulation([getattr(builder, f"add_joint_{kind}")(child=body, **where, **options)])

    return add


def _loop(builder):
    builder.add_joint_ball(-1, _hinge(builder)[1])


def _mimic(builder):
    *_, joints = _hinge(builder)
    builder.set_joint_mimic(joints[1], joints[0])


def _massless(builder):
    body, frame, tip = _body(builder), *(builder.add_link(mass=0.0, inertia=wp.mat33(0.0)) for _ in range(2))
    joints = [builder.add_joint_free(body), builder.add_joint_fixed(body, frame), builder.add_joint_fixed(frame, tip)]
    builder.add_articulation(joints)


def _disabled(builder):
    _hinge(builder, enabled=False)


def _particles(builder):
    builder.add_particle((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 1.0)


def _attached(builder):
    _particles(builder)
    builder.add_attachment_particle_body(0, builder.add_body(mass=1.0, inertia=wp.mat33(np.eye(3))))


def _cloth(builder):
    for x, y in ((0, 0), (1, 0), (0, 1), (1, 1)):
        builder.add_particle(wp.vec3(x, y, 1.0), (0.0, 0.0, 0.0), 1.0)
    builder.add_spring(0, 1, 1e3, 0.0, 0)
    builder.add_triangle(0, 1, 2, tri_ke=10.0)
    builder.add_triangle(1, 3, 2, tri_ke=10.0)
    builder.add_edge(0, 3, 1, 2, edge_ke=1.0)


def _tetrahedron(builder, **material):
    for corner in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)):
        builder.add_particle(wp.vec3(*corner), (0.0, 0.0, 0.0), 1.0)
    builder.add_tetrahedron(0, 1, 2, 3, **material)


def _material(array, column, value):
    """Return a function that adds a cloth with another number in a column of its materials."""

    def add(builder):
        _cloth(builder)
        rows = getattr(builder, array)
        rows[-1] = (*rows[-1][:column], value, *rows[-1][column + 1 :])

    return add


def _bent(builder):
    _cloth(builder)
    builder.edge_rest_angle[-1] = 0.1


def _collide(builder, **surface):
    body = builder.add_body(mass=1.0, inertia=wp.mat33(np.eye(3)))
    builder.add_shape_sphere(body, radius=0.1, cfg=newton.ModelBuilder.ShapeConfig(density=0.0, **surface))


def _limited_ball(builder):
    MADE_BY["ball_joints"](builder)
    builder.joint_limit_upper[-3:] = [0.5] * 3


def _passive(builder, joints, dofs, **numbers):
    MADE_BY[joints](builder)
    for name, value in numbers.items():
        getattr(builder, f"joint_{name}")[-dofs:] = [value] * dofs


def _weightless(builder):
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    body = builder.add_body(mass=1.0, inertia=wp.mat33(np.eye(3)))
    builder.custom_attributes["mujoco:gravcomp"].values[body] = 1.0


def _belt(builder):
    builder.add_body(mass=1.0, inertia=wp.mat33(np.eye(3)), is_kinematic=True)
    builder.add_body(mass=1.0, inertia=wp.mat33(np.eye(3)))


MADE_BY = {f"{kind}_joints": _joint(kind) for kind in JOINTS} | {
    "loop_joints": _loop,
    "kinematic_bodies": _belt,
    "mimic_joints": _mimic,
    "massless_bodies": _massless,
    "disabled_joints": _disabled,
    "joint_limits": lambda builder: _hinge(builder, limit_lower=-1.0, limit_upper=1.0),
    "ball_limits": _limited_ball,
    "ball_drives": lambda builder: _passive(builder, "ball_joints", 3, target_ke=10.0),
    "ball_stiffness": lambda builder: _passive(builder, "ball_joints", 3, stiffness=0.1),
    "free_damping": lambda builder: _passive(builder, "free_joints", 6, damping=0.1),
    "free_joint_forces": lambda builder: _passive(builder, "free_joints", 6, friction=0.1),
    "light_links": lambda builder: builder.add_body(mass=1e-9, inertia=wp.mat33(np.eye(3) * 1e-9)),
    "joint_drives": lambda builder: _hinge(builder, target_ke=10.0),
    "armature": lambda builder: _hinge(builder, armature=0.1),
    "joint_friction": lambda builder: _hinge(builder, friction=0.1),
    "joint_damping": lambda builder: _hinge(builder, damping=0.1),
    "joint_stiffness": lambda builder: _hinge(builder, stiffness=0.1),
    "effort_limits": lambda builder: _hinge(builder, target_ke=10.0, effort_limit=5.0),
    "velocity_limits": lambda builder: _hinge(builder, velocity_limit=5.0),
    "gravity_compensation": _weightless,
    "restitution": lambda builder: _collide(builder, restitution=0.5),
    "contact_stiffness": lambda builder: _collide(builder, kd=10.0),
    "friction_damping": lambda builder: _collide(builder, kf=10.0),
    "adhesion": lambda builder: _collide(builder, ka=0.01),
    "torsional_friction": lambda builder: _collide(builder, mu_torsional=0.1),
    "rolling_friction": lambda builder: _collide(builder, mu_rolling=0.1),
    "limit_stiffness": lambda builder: _hinge(builder, limit_lower=-1.0, limit_upper=1.0, limit_ke=100.0),
    "attachments": _attached,
    "particles": _particles,
    "springs": _cloth,
    "triangles": _cloth,
    "bending": _cloth,
    "triangle_damping": _material("tri_materials", 2, 5.0),
    "bending_damping": _material("edge_bending_properties", 1, 5.0),
    "air_drag": _material("tri_materials", 3, 5.0),
    "rest_angles": _bent,
    "tetrahedra": _tetrahedron,
    "tetrahedron_damping": lambda builder: _tetrahedron(builder, k_damp=5.0),
}


@pytest.mark.first_cases(14)
@pytest.mark.parametrize("feature", MADE_BY)
def test_a_model_that_has_a_feature_is_found_to_use_it_and_an_empty_one_is_not(feature):
    builder, empty = newton.ModelBuilder(), newton.ModelBuilder()
    builder.begin_world()
    MADE_BY[feature](builder)
    builder.end_world()

    assert feature in features_of(builder.finalize(device="cpu"))
    assert features_of(empty.finalize(device="cpu")) == {}


def test_a_body_without_a_mass_that_fixed_joints_hold_in_place_needs_no_support():
    builder = newton.ModelBuilder()
    base, frame = (builder.add_link(mass=0.0, inertia=wp.mat33(0.0)) for _ in range(2))
    builder.add_articulation([builder.add_joint_fixed(-1, base), builder.add_joint_fixed(base, frame)])

    assert "massless_bodies" not in features_of(builder.finalize(device="cpu"))


def test_what_newton_gives_to_shapes_limits_and_cloth_by_default_is_not_asked_for():
    builder = newton.ModelBuilder()
    grid = {"dim_x": 2, "dim_y": 2, "cell_x": 0.1, "cell_y": 0.1, "mass": 0.1}
    builder.add_cloth_grid(pos=wp.vec3(), rot=wp.quat_identity(), vel=wp.vec3(), **grid)
    _collide(builder)
    _hinge(builder, limit_lower=-1.0, limit_upper=1.0)
    _hinge(builder, limit_ke=100.0)  # without a limit

    used = features_of(builder.finalize(device="cpu"))

    assert {"joint_limits", "rigid_contacts"} <= used.keys()
    assert not {"restitution", "contact_stiffness", "friction_damping", "adhesion", "limit_stiffness"} & used.keys()
    assert not {"air_drag", "bending_damping", "rest_angles", "triangle_damping"} & used.keys()


CRANK = """
<mujoco>
  <worldbody>
    <body name="left"><joint name="a" axis="0 1 0"/><geom size="0.1"/></body>
    <body name="right" pos="1 0 0"><joint name="b" axis="0 1 0"/><geom size="0.1"/></body>
  </worldbody>
  <equality><joint joint1="a" joint2="b"/><joint joint1="a"/></equality>
  <tendon><fixed name="t" stiffness="1"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed></tendon>
</mujoco>
"""


def test_what_only_mujoco_has_is_found_in_an_mjcf_file():
    """The importer makes a mimic constraint of the first equality; the second holds one joint, and stays MuJoCo's."""
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    with pytest.warns(newton.NewtonWarning, match="stay MuJoCo equality constraints"):
        builder.add_mjcf(CRANK)

    used = features_of(builder.finalize(device="cpu"))

    assert len(used["mimic_constraints"]) == 1
    assert len(used["equality_constraints"]) == 1
    assert used["mujoco_tendons"]


def test_worlds_that_hold_something_else_are_found():
    builder = newton.ModelBuilder()
    for hinges in (1, 1, 2):
        builder.begin_world()
        for _ in range(hinges):
            _hinge(builder)
        builder.end_world()

    assert features_of(builder.finalize(device="cpu"))["heterogeneous_worlds"] == ["world 2"]


@pytest.mark.parametrize(("radius", "expected"), [(0.1, ["worlds 0, 2"]), (0.0, None)])
def test_worlds_with_particles_of_a_size_may_touch(radius, expected):
    builder = newton.ModelBuilder()
    for world in range(3):
        builder.begin_world()
        if world == 1:
            _hinge(builder)
        else:
            builder.add_particle(wp.vec3(), wp.vec3(), 1.0, radius=radius)
        builder.end_world()

    assert features_of(builder.finalize(device="cpu")).get("particle_worlds") == expected


def test_a_model_with_gradients_asks_for_them():
    builder = newton.ModelBuilder()
    _particles(builder)

    assert features_of(builder.finalize(device="cpu", requires_grad=True))["gradients"]


def test_a_mechanism_the_solver_would_leave_out_is_refused(chain, configure):
    """Style3D moves cloth; a chain of hinges would hang in the air without a word."""
    with pytest.raises(pippin.ConfigError) as caught:
        pippin.Simulation(configure("style3d"), prototype=chain())

    hinges = next(fault for fault in caught.value.faults if "revolute_joints" in fault)
    assert hinges.startswith("solver: 'style3d' does not support revolute_joints (hinges), used by hinge_0, hinge_1;")
    assert "'featherstone'" in hinges


def test_the_cure_of_a_refusal_names_all_features_at_once_and_their_loss_is_noted(chain, configure):
    """A feature that only changes numbers is refused like a mechanism; one edit of the file accepts all of them."""
    prototype = chain()
    prototype.joint_friction[0] = 0.1
    with pytest.raises(pippin.ConfigError, match="'xpbd' does not support armature") as caught:
        pippin.Simulation(configure("xpbd", accept_unsupported=["mimic_joints"]), prototype=prototype)
    cure = str(caught.value).rpartition("or do without them: simulation.accept_unsupported = ")[2]

    with pippin.Simulation(configure("xpbd", accept_unsupported=json.loads(cure)), prototype=prototype) as simulation:
        notes = simulation.notes["scene"]

    assert json.loads(cure) == ["mimic_joints", "armature", "joint_friction"]
    assert len(caught.value.faults) == 2
    assert simulation.ignored_features == {"armature": ["hinge_0", "hinge_1"], "joint_friction": ["hinge_0"]}
    assert "the solver ignores joint_friction, used by hinge_0" in notes


def test_steel_takes_part_in_joint_limits_where_its_option_says_so(chain, configure):
    prototype = chain()
    prototype.joint_limit_lower[0], prototype.joint_limit_upper[0] = -0.5, 0.5

    with pytest.raises(pippin.ConfigError, match=r"joint_limits .* set solver\.enable_joint_limits = true;"):
        pippin.Simulation(configure("steel"), prototype=prototype)
    limited = {"type": "steel", "enable_joint_limits": True}
    with pippin.Simulation(configure(limited, dt=0.001), prototype=prototype) as simulation:
        simulation.step(300)
        assert abs(simulation.state.joint_q.numpy()[0]) < 0.51


def test_a_solver_that_declares_nothing_is_not_held_to_anything(chain, configure):
    class Undeclared:
        coordinates = "maximal"
        supported_observables = frozenset()

        @pippin.hookimpl
        def build_solver(self, model):
            return newton.solvers.SolverXPBD(model)

    with pippin.Simulation(
        configure(None, accept_unsupported=[]), plugins=[Undeclared()], prototype=chain()
    ) as simulation:
        simulation.step()
        assert np.isfinite(simulation.state.body_q.numpy()).all()


def test_an_unknown_feature_cannot_be_accepted(configure):
    with pytest.raises(pippin.ConfigError, match=r"not 'armatur'; did you mean 'armature'\?"):
        configure("xpbd", accept_unsupported=["armatur"])


def check(*arguments):
    result = CliRunner().invoke(main, ["check", *map(str, arguments)])
    return result.exit_code, result.stdout


@pytest.mark.required
def test_check_says_of_each_solver_what_it_would_leave_out(examples):
    accepting = ["--set", 'simulation.accept_unsupported=["armature"]']
    both = ["--solver", "semi-implicit", "--solver", "mujoco", "--json"]
    code, text = check(examples / "ant.toml", *both)
    accepted = check(examples / "ant.toml", *both, *accepting)[1]

    semi_implicit, mujoco = json.loads(text)
    assert code == 2
    assert semi_implicit["missing"].keys() == {"contact_f", "armature"}
    assert semi_implicit["missing"]["contact_f"] == "sensors.feet"
    assert json.loads(accepted)[0]["ignored_features"].keys() == {"armature"}
    assert mujoco["is_able"]
    assert (mujoco["faults"], mujoco["missing"], mujoco["ignored_features"]) == ([], {}, {})


@pytest.mark.slow
def test_check_fails_only_for_what_was_asked(examples):
    """Without names, the table has every solver and the exit code is about the file's own."""
    code, text = check(examples / "cartpole.toml")

    lines = {line.split()[0]: line.split()[1] for line in text.splitlines() if line}
    assert code == 0
    assert lines["style3d"] == "no"
    assert {lines[name] for name in ("mujoco", "featherstone", "semi-implicit")} == {"yes"}


def test_check_reports_a_solver_that_is_not_installed(examples):
    code, text = check(examples / "ant.toml", "--solver", "mujco")

    assert code == 2
    assert "did you mean 'mujoco'?" in text
