"""Attributes by name: custom ones and those without a setter, read and set in the rows of a view."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.support.features import OF_ATTRIBUTES
from pippin.views import ViewError

WORLDS = 3


@pytest.fixture(scope="module")
def arms(build):
    """Three worlds with an arm of two hinges, a box on each link, and a temperature of each link."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    attribute = newton.ModelBuilder.CustomAttribute
    model, state = newton.Model.AttributeAssignment.MODEL, newton.Model.AttributeAssignment.STATE
    per_body = newton.Model.AttributeFrequency.BODY
    builder.add_custom_attribute(
        attribute("temperature", frequency=per_body, dtype=wp.float32, default=20.0, assignment=state)
    )
    builder.add_custom_attribute(
        attribute("mark", frequency=per_body, dtype=wp.int32, default=7, assignment=model, namespace="shop")
    )
    joints, parent = [], -1
    for name in ("upper", "lower"):
        link = builder.add_link(label=name, mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
        builder.add_shape_box(link, hx=0.1, hy=0.1, hz=0.1, label=f"{name}_box")
        joints.append(
            builder.add_joint_revolute(parent, link, axis=(0.0, 1.0, 0.0), damping=0.5, label=f"{name}_hinge")
        )
        builder.joint_qd[-1], parent = 1.0, link
    builder.add_articulation(joints, label="arm")
    with build("featherstone", builder, WORLDS) as simulation:
        yield simulation


@pytest.fixture
def view(arms):
    arms.reset()
    return arms.view.articulations("arm")


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("joint_damping", (WORLDS, 2)),
        ("joint_q", (WORLDS, 2)),
        ("body_q", (WORLDS, 2, 7)),
        ("joint_X_p", (WORLDS, 2, 7)),
        ("shape_material_mu", (WORLDS, 2)),
        ("shape_scale", (WORLDS, 2, 3)),
        ("joint_enabled", (WORLDS, 2)),
        ("temperature", (WORLDS, 2)),
        ("shop:mark", (WORLDS, 2)),
        ("shop.mark", (WORLDS, 2)),
    ],
)
def test_an_attribute_is_read_in_rows(arms, view, name, shape):
    owner = arms.state if hasattr(arms.state, name) else arms.model
    for part in name.replace(".", ":").split(":"):
        owner = getattr(owner, part)

    values = view.get_attribute(name)

    assert values.shape == shape
    np.testing.assert_array_equal(values.numpy(), owner.numpy().reshape(shape))


def test_damping_set_by_name_brakes_the_chosen_row(arms, view):
    arms.view.gravity = (0.0, 0.0, 0.0)
    view.set_attribute("joint_damping", 50.0, indices=[1])

    arms.step(20)

    speeds = np.abs(view.get_dof_velocities().numpy()).max(axis=1)
    assert speeds[1] < 0.5 * speeds[0]
    assert speeds[0] == speeds[2]


def test_a_custom_attribute_is_set_where_it_is_asked(arms, view):
    view.set_attribute("temperature", np.float32([[30.0, 40.0]]), indices=[2], compact=True)
    view.set_attribute("shop:mark", 9, mask=[True, False, False], flags=0)

    np.testing.assert_array_equal(arms.state.temperature.numpy(), [20.0, 20.0, 20.0, 20.0, 30.0, 40.0])
    np.testing.assert_array_equal(arms.model.shop.mark.numpy(), [9, 9, 7, 7, 7, 7])


def test_single_bodies_have_attributes_without_columns(arms):
    arms.reset()
    view = arms.view.rigid_bodies("lower", worlds=[0, 2])

    assert view.get_attribute("temperature").numpy().tolist() == [20.0, 20.0]
    assert view.get_attribute("shape_material_mu").shape == (2, 1)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("joint_dampin", {}, r"neither state, control nor model has this array; did you mean 'joint_damping'"),
        ("joint_q", {}, r"other arrays follow when it is set; call set_dof_positions or set_joint_coords"),
        ("body_inv_mass", {}, r"other arrays follow when it is set; call set_masses"),
        ("shop:mark", {}, r"pass flags=newton.ModelFlags.…, or flags=0 if none does"),
        ("temperature", {"flags": 4}, r"this array is of the state"),
        ("particle_q", {}, r"its elements are of frequency 'PARTICLE', and the rows have elements of BODY, "),
        ("articulation_start", {}, r"it is part of the structure of the scene; build another simulation"),
        ("joint_parent", {"flags": 0}, r"it is part of the structure of the scene; build another simulation"),
        ("shape_material_mu", {"flags": 0}, r"without SHAPE_PROPERTIES the solver would not read it; leave flags out"),
        ("shop:mark", {"flags": "SHAPE_PROPERTIES"}, r"flags: expected newton.ModelFlags or an integer, got 'SHAPE"),
    ],
)
def test_what_cannot_be_set_is_refused_with_the_cure(view, name, options, message):
    with pytest.raises(ViewError, match=message):
        view.set_attribute(name, 1.0, **options)


def test_numbers_of_another_type_are_refused(view):
    with pytest.raises(ViewError, match="set_attribute: shop:mark: expected int32"):
        view.set_attribute("shop:mark", 1.5, flags=0)


def test_a_number_that_is_none_is_refused_in_its_row(arms, view):
    damping = np.array([[0.1, 0.2], [0.3, np.nan], [0.5, 0.6]], dtype=np.float32)
    message = "set_attribute: joint_damping: row 1, 'arm' of world 1, column 1: expected a finite number >= 0, got nan"
    with pytest.raises(ViewError, match=message):
        view.set_attribute("joint_damping", damping)
    with pytest.raises(ViewError, match="expected a whole number from -2147483648 to 2147483647, got 4294967303"):
        view.set_attribute("shop:mark", 2**32 + 7, flags=0)

    before = view.get_attribute("joint_damping").numpy().copy()
    view.set_attribute("joint_damping", wp.array(damping, dtype=float))
    after = view.get_attribute("joint_damping").numpy().copy()
    damping[1, 1] = before[1, 1]
    np.testing.assert_array_equal(after, damping)
    with pytest.raises(ViewError, match="1 values on the device were not allowed, such as in row 1, 'arm'"):
        arms.raise_errors()
    view.set_attribute("joint_damping", before)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("joint_damping", -1.0, "a finite number >= 0, got -1"),
        ("shape_material_mu", np.inf, "a finite number >= 0, got inf"),
        ("joint_X_p", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0], "a finite position and a quaternion of length 1"),
    ],
)
def test_host_and_device_refuse_the_same_numbers(arms, view, name, value, expected):
    before = view.get_attribute(name).numpy().copy()
    with pytest.raises(ViewError, match=f"set_attribute: {name}: row 0.*: expected {expected}"):
        view.set_attribute(name, value)

    wrong = before.copy()
    wrong[1, 0] = value
    view.set_attribute(name, wp.array(wrong, dtype=float))
    np.testing.assert_array_equal(view.get_attribute(name).numpy(), before)
    with pytest.raises(ViewError, match="1 values on the device were not allowed, such as in row 1, 'arm'"):
        arms.raise_errors()


UNREAD = {
    "joint_limit_ke": ["xpbd", "steel", "kamino"],
    "shape_material_ka": ["vbd", "mujoco-native"],
    "shape_material_kd": ["xpbd", "steel", "kamino"],
    "shape_material_kf": ["xpbd", "mujoco"],
    "shape_material_restitution": ["xpbd", "featherstone", "semi-implicit", "vbd", "mujoco", "mujoco-native"],
}


@pytest.mark.first_cases(5)
@pytest.mark.parametrize(("name", "solver"), [(name, each) for name, solvers in UNREAD.items() for each in solvers])
def test_an_array_that_the_solver_does_not_read_is_refused(name, solver, chain, ball, configure):
    prototype = ball() if name.startswith("shape") else chain()
    with pippin.Simulation(configure(solver), prototype=prototype) as simulation:
        view = simulation.view.articulations("**")
        before = view.get_attribute(name).numpy().copy()
        with pytest.raises(ViewError, match=f"{name}: solver {solver!r} does not support {OF_ATTRIBUTES[name]} "):
            view.set_attribute(name, 0.5 * np.ones_like(before))

        np.testing.assert_array_equal(view.get_attribute(name).numpy(), before)


def test_an_option_makes_the_solver_read_an_array(ball, configure):
    """A ball falls on the ground with 1 m/s, and comes back with half of that."""
    config = configure({"type": "xpbd", "enable_restitution": True}, scene={"ground": True})
    with pippin.Simulation(config, prototype=ball(height=0.102)) as simulation:
        view = simulation.view.articulations("**")
        ground = simulation.model.shape_material_restitution.numpy()
        simulation.model.shape_material_restitution.assign(np.full_like(ground, 0.5))
        view.set_root_velocities([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
        view.set_attribute("shape_material_restitution", np.full((1, 1), 0.5, dtype=np.float32))
        simulation.step(20)

        assert view.get_root_velocities().numpy()[0, 2] > 0.1
