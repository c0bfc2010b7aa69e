"""What a built solver cannot take over is refused at the call, or counted if it is recorded; nothing is dropped."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.solving import RIGID_TREES
from pippin.views import ViewError

ASKS = {
    "dof_stiffnesses": "a drive that follows positions",
    "dof_dampings": "a drive",
    "dof_position_targets": "a drive that follows positions",
    "dof_velocity_targets": "a drive that follows velocities",
    "dof_limits": "limits",
}


def sliders():
    """Return a world with a slider `bare`, and a slider `driven` with a drive and limits."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    drive = {"target_ke": 10.0, "target_kd": 1.0, "limit_lower": -1.0, "limit_upper": 1.0}
    for index, (label, options) in enumerate((("bare", {}), ("driven", drive))):
        body = builder.add_link(label=label, mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
        place = wp.transform(wp.vec3(0.0, float(index), 1.0), wp.quat_identity())
        joint = builder.add_joint_prismatic(-1, body, parent_xform=place, label=label, axis=(1.0, 0.0, 0.0), **options)
        builder.add_articulation([joint], label=label)
    return builder


pytestmark = pytest.mark.simulation(device="cpu", dt=0.002, worlds=2, prototype=sliders, solver="mujoco-native")


@pytest.fixture(scope="module")
def built(simulate):
    with simulate() as simulation:
        yield simulation


def set_to(view, name, value):
    data = np.full(view.shape_of(name), value, dtype=np.float32)
    getattr(view, f"set_{name}")(data)


def read(view, name):
    return getattr(view, f"get_{name}")().numpy().copy()


@pytest.mark.parametrize("name", ASKS)
def test_a_joint_without_the_feature_is_refused_with_the_cure(built, name):
    view = built.view.articulations("bare")
    before = read(view, name)

    cure = rf"can give {ASKS[name]} to a joint only while it is built, and 'bare' had none; set scene.settable_joints"
    with pytest.raises(ViewError, match=rf"^set_{name}: solver 'mujoco-native' {cure}"):
        set_to(view, name, 0.25)

    np.testing.assert_array_equal(read(view, name), before)


class Stiff:
    """A solver that gives joints a damping only while it is built."""

    supported_features = RIGID_TREES | {"joint_damping": "live"}
    features_fixed_at_build = frozenset({"joint_damping"})

    @pippin.hookimpl
    def build_solver(self, model):
        """Return Newton's solver."""
        return newton.solvers.SolverFeatherstone(model)


@pytest.mark.parametrize("kind", [np.array, wp.array])
def test_an_attribute_by_name_is_refused_likewise(simulate, kind):
    with simulate(solver=Stiff) as simulation:
        view = simulation.view.articulations("bare")
        before = simulation.model.joint_damping.numpy().copy()

        cure = "can give damping to a joint only while it is built, and 'bare' had none; set scene.settable_joints"
        with pytest.raises(ViewError, match=rf"^set_attribute: joint_damping: solver '\w+' {cure}"):
            view.set_attribute("joint_damping", kind(np.full((2, 1), 5.0, dtype=np.float32)))

        np.testing.assert_array_equal(simulation.model.joint_damping.numpy(), before)
        view.set_attribute("joint_damping", kind(np.zeros((2, 1), dtype=np.float32)))
        simulation.raise_errors()


def test_a_refused_call_writes_no_row(built):
    view = built.view.articulations("*")
    before = read(view, "dof_stiffnesses")

    with pytest.raises(ViewError, match="'bare' had none"):
        set_to(view, "dof_stiffnesses", 20.0)

    np.testing.assert_array_equal(read(view, "dof_stiffnesses"), before)


@pytest.mark.parametrize("name", ASKS)
def test_values_that_were_read_can_be_set(built, name):
    view = built.view.articulations("*")

    getattr(view, f"set_{name}")(read(view, name))

    built.raise_errors()


def test_a_joint_with_the_feature_can_be_set(built):
    view = built.view.articulations("driven")

    set_to(view, "dof_stiffnesses", 20.0)
    set_to(view, "dof_limits", 0.25)

    np.testing.assert_array_equal(read(view, "dof_stiffnesses"), 20.0)
    np.testing.assert_array_equal(read(view, "dof_limits"), 0.25)


def test_a_drive_of_positions_takes_no_targets_of_velocities(built):
    with pytest.raises(ViewError, match=r"a drive that follows velocities to a joint .* 'driven' had none"):
        set_to(built.view.articulations("driven"), "dof_velocity_targets", 1.0)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("name", ASKS)
def test_settable_joints_take_every_value(simulate, name):
    with simulate(settable_joints=True) as simulation:
        view = simulation.view.articulations("*")
        set_to(view, name, 0.25)

        simulation.step()

        np.testing.assert_array_equal(read(view, name), 0.25)


def test_a_view_that_is_made_while_components_are_bound_refuses_as_well():
    class Reader:
        @pippin.hookimpl
        def bind(self, simulation):
            self.view = simulation.view.articulations("bare")

    reader = Reader()
    tables = {"simulation": {"device": "cpu"}, "solver": {"type": "mujoco-native"}}
    with (
        pippin.Simulation(pippin.structure(tables), plugins=[reader], prototype=sliders()),
        pytest.raises(ViewError, match=r"set_dof_stiffnesses: .*'bare' had none"),
    ):
        set_to(reader.view, "dof_stiffnesses", 0.25)


@pytest.mark.not_in_lane("capture", reason="the call that is recorded is the first one, which loads kernels")
def test_a_recorded_call_is_not_written_and_counted(built):
    view = built.view.articulations("*")
    before = read(view, "dof_dampings")
    data = wp.full((4, 1), 3.0, dtype=float, device="cpu")

    with wp.ScopedCapture(device="cpu") as capture:
        view.set_dof_dampings(data)
    wp.capture_launch(capture.graph)

    bare = built.view.articulations("bare")
    np.testing.assert_array_equal(np.sort(np.unique(read(view, "dof_dampings"))), [0.0, 3.0])
    np.testing.assert_array_equal(read(bare, "dof_dampings"), 0.0)
    with pytest.raises(
        ViewError, match=r"2 numbers on the device were not set: solver 'mujoco-native' .*_joints = true"
    ):
        built.raise_errors()
    view.set_dof_dampings(before)


def test_a_feature_that_the_solver_does_not_have_is_refused_with_the_solvers_that_do(simulate):
    with simulate(solver="xpbd") as simulation:
        view = simulation.view.articulations("*")
        able = "'drake', 'featherstone', 'kamino', 'motrix', 'mujoco', 'mujoco-native', 'physx', 'pinocchio', 'steel'"
        with pytest.raises(ViewError, match=rf"^set_dof_armatures: solver 'xpbd' .* armature .* that do: {able}; or "):
            view.set_dof_armatures(0.5)
        with pytest.raises(ViewError, match=r"^set_dof_max_velocities: .* that do: 'steel' with an option; or "):
            view.set_dof_max_velocities(0.5)


def test_a_feature_that_the_user_does_without_is_set_in_the_model_alone():
    tables = {
        "simulation": {"device": "cpu", "accept_unsupported": ["velocity_limits"]},
        "scene": {"worlds": 2},
        "solver": {"type": "xpbd"},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=sliders()) as simulation:
        view = simulation.view.articulations("*")
        with pytest.warns(UserWarning, match="solver 'xpbd' has no velocity_limits, as .* what is set of it is kept"):
            view.set_dof_max_velocities(0.5)

        np.testing.assert_array_equal(read(view, "dof_max_velocities"), 0.5)


def test_targets_that_a_group_takes_over_need_no_drive_of_the_solver():
    group = {"type": "pd", "joints": ["bare"], "kp": 100.0, "kd": 5.0}
    tables = {"simulation": {"device": "cpu"}, "scene": {"worlds": 2}, "solver": {"type": "mujoco-native"}}
    with pippin.Simulation(pippin.structure(tables | {"actuators": {"g": group}}), prototype=sliders()) as simulation:
        view = simulation.view.articulations("bare")
        view.set_dof_position_targets([[0.0], [0.3]])
        simulation.step(2)

        speeds = read(view, "dof_velocities").ravel()
        assert (speeds[0], speeds[1] > 0.01) == (0.0, True)


def test_stiffness_that_a_solver_has_at_hinges_alone_is_refused_at_balls():
    builder = newton.ModelBuilder()
    for kind in ("ball", "revolute"):
        link = builder.add_link(mass=1.0, inertia=wp.mat33(np.eye(3)), label=kind)
        builder.add_articulation([getattr(builder, f"add_joint_{kind}")(-1, link)], label=kind)
    tables = {"simulation": {"device": "cpu"}, "scene": {"worlds": 2}, "solver": {"type": "featherstone"}}
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.view.articulations("revolute").set_attribute("joint_stiffness", 5.0)
        with pytest.raises(ViewError, match="'featherstone' does not support ball_stiffness"):
            simulation.view.articulations("ball").set_attribute("joint_stiffness", 5.0)


@pytest.mark.parametrize(
    ("call", "value", "feature"),
    [
        ("set_dof_stiffnesses", 50.0, "ball_drives"),
        ("set_dof_dampings", 2.0, "ball_drives"),
        ("set_dof_limits", 0.1, "ball_limits"),
    ],
)
def test_drives_and_limits_that_a_solver_has_at_hinges_alone_are_refused_at_balls(call, value, feature):
    builder, joints = newton.ModelBuilder(), []
    for kind in ("ball", "revolute"):
        link = builder.add_link(mass=1.0, inertia=wp.mat33(np.eye(3)), label=kind)
        joints.append(getattr(builder, f"add_joint_{kind}")(-1, link, label=kind))
        builder.add_articulation([joints[-1]], label=kind)
    tables = {"simulation": {"device": "cpu"}, "scene": {"worlds": 2}, "solver": {"type": "featherstone"}}
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        for kind, count in (("revolute", 1), ("ball", 3)):
            view = simulation.view.articulations(kind)
            shape = (2, count, 2) if call == "set_dof_limits" else (2, count)
            if kind == "revolute":
                getattr(view, call)(np.full(shape, value, dtype=np.float32))
                continue
            with pytest.raises(ViewError, match=f"^{call}: 'ball': solver 'featherstone' does not support {feature}"):
                getattr(view, call)(np.full(shape, value, dtype=np.float32))


def test_what_is_written_into_the_model_is_found_by_check(simulate):
    with simulate() as simulation:
        simulation.model.joint_target_ke.fill_(5.0)
        simulation.notify_model_changed(newton.ModelFlags.JOINT_DOF_FORCE_PROPERTIES)

        with pytest.raises(
            pippin.ConfigError, match=r"^model.joint_target_ke: solver 'mujoco-native' .* 'bare' had none; "
        ):
            simulation.raise_errors()


def balls(**geom):
    """Return a world with a ball joint, a free body with a sphere, and a ground."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    link = builder.add_link(mass=1.0, inertia=wp.mat33(np.eye(3)), label="arm")
    builder.add_articulation([builder.add_joint_ball(-1, link, label="ball")], label="arm")
    body = builder.add_body(xform=wp.transform(wp.vec3(0.0, 0.0, 0.5), wp.quat_identity()), label="sphere")
    builder.add_shape_sphere(body, radius=0.1, label="sphere")
    return builder


@pytest.mark.parametrize(
    ("solver", "array", "flag", "fault"),
    [
        ("mujoco-native", "joint_enabled", "JOINT_PROPERTIES", "does not support disabled_joints"),
        ("featherstone", "joint_stiffness", "JOINT_DOF_FORCE_PROPERTIES", "does not support ball_stiffness"),
        ("featherstone", "joint_damping", "JOINT_DOF_FORCE_PROPERTIES", "does not support free_damping"),
        ("featherstone", "joint_target_ke", "JOINT_DOF_FORCE_PROPERTIES", "does not support ball_drives"),
        ("xpbd", "joint_limit_upper", "JOINT_DOF_FORCE_PROPERTIES", "does not support ball_limits"),
        ("xpbd", "joint_friction", "JOINT_DOF_FORCE_PROPERTIES", "does not support joint_friction"),
        ("mujoco-native", "shape_material_mu_torsional", "SHAPE_PROPERTIES", "of condim below 4, as '.*sphere' asks"),
        ("featherstone", "joint_child", "JOINT_PROPERTIES", "part of the structure of the scene; build another"),
    ],
)
def test_what_a_setter_refuses_is_found_by_check_if_the_model_gets_it(solver, array, flag, fault, simulate):
    with simulate(solver=solver, prototype=balls) as simulation:
        simulation.raise_errors()
        values = getattr(simulation.model, array)
        values.assign(1 - values.numpy())
        simulation.notify_model_changed(newton.ModelFlags[flag])

        with pytest.raises(pippin.ConfigError, match=rf"^model\.{array}: .*{fault}"):
            simulation.raise_errors()


def test_what_an_actuator_takes_over_may_be_written_into_the_model(simulate):
    """XPBD has no limits of velocities, and the group keeps those of its joints."""
    group = {"type": "pd", "joints": ["bare"], "kp": 1.0, "velocity_limit": 2.0}
    with simulate(solver="xpbd", actuators={"one": group}) as simulation:
        limits = simulation.model.joint_velocity_limit
        limits.assign(np.where(np.arange(4) % 2 == 0, 5.0, limits.numpy()))
        simulation.raise_errors()

        limits.fill_(5.0)
        with pytest.raises(pippin.ConfigError, match=r"^model.joint_velocity_limit: .*support velocity_limits"):
            simulation.raise_errors()


class Reading(Stiff):
    """A solver that reads the damping of joints while it is built, and follows their drives."""

    supported_features = RIGID_TREES | {"joint_damping": "build"}
    features_fixed_at_build = frozenset()


READ = r"solver '\w+' reads joint_damping \(joint_damping\) only while it is built; build another simulation"


def test_what_is_read_at_the_build_is_refused_by_the_setter_and_not_written(simulate):
    with simulate(solver=Reading) as simulation:
        view = simulation.view.articulations("*")
        with pytest.raises(ViewError, match=rf"^set_attribute: joint_damping: {READ}"):
            view.set_attribute("joint_damping", np.ones((4, 1), dtype=np.float32))

        assert not simulation.model.joint_damping.numpy().any()
        simulation.raise_errors()


def test_what_is_read_at_the_build_and_written_into_the_model_is_found_by_check(simulate):
    with simulate(solver=Reading) as simulation:
        simulation.model.joint_damping.fill_(1.0)
        simulation.notify_model_changed(newton.ModelFlags.JOINT_DOF_FORCE_PROPERTIES)  # drives are live

        with pytest.raises(pippin.ConfigError, match=rf"^model.joint_damping: {READ}"):
            simulation.raise_errors()


class Constant(Stiff):
    """A solver that reads everything while it is built."""

    supported_features = dict.fromkeys(Reading.supported_features, "build")
    features_fixed_at_build = frozenset()


def test_a_change_that_the_solver_does_not_follow_is_refused_by_its_call(simulate):
    with simulate(solver=Constant) as simulation:
        view = simulation.view.articulations("*")
        told = "solver .* does not take over"
        with pytest.raises(ViewError, match=rf"^set_masses: {told} BODY_INERTIAL_PROPERTIES while it runs"):
            view.set_masses(view.get_masses())
        with pytest.raises(ViewError, match=rf"^set_attribute: joint_X_p: {told} JOINT_PROPERTIES while it runs"):
            view.set_attribute("joint_X_p", view.get_attribute("joint_X_p"))
        with pytest.raises(ViewError, match=rf"^set_gravity: {told} MODEL_PROPERTIES while it runs"):
            simulation.view.set_gravity([0.0, 0.0, -1.0])
