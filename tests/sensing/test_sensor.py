"""Sensors under every solver that has what they read: it adds up to what happened, and agrees with formulas."""

import functools
import tomllib
from pathlib import Path

import numpy as np
import pippin
import pytest
import warp as wp
from pippin.catalog.entries import Catalog

ANT = Path(__file__).parents[2] / "docs" / "examples" / "ant.toml"
GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def ant():
    """Two ants that have stood for a second, after a second of landing."""
    more = {"hips": {"type": "joint-wrench", "joints": ["hip_.*"]}}
    more["felt"] = {"type": "imu", "body": "torso", "source": "finite-difference"}
    more["legs"] = {"type": "frame-transform", "body": ".*_foot", "reference": {"body": "torso"}}
    more["encoders"] = {"type": "joint-state", "joints": ["hip_.*"]}
    more["scan"] = {"type": "ray-caster", "body": "torso", "grid": {"size": [0.4, 0.2], "resolution": 0.1}}
    changes = {f"sensors.{label}": table for label, table in more.items()}
    changes |= {"sensors.feet.partners": ["ground_plane", "torso"], "sensors.feet.history": 3}
    with pippin.Simulation.from_file(ANT, {"scene.worlds": 2, "simulation.device": "cpu", **changes}) as simulation:
        simulation.step(100)
        simulation.raise_errors()
        yield simulation


@pytest.mark.slow
def test_the_feet_of_a_standing_robot_carry_its_weight(ant):
    """It has stood still for a second: what is left of its motion is below a thousandth of its weight."""
    weights = ant.model.body_mass.numpy().reshape(2, -1).sum(axis=1) * 9.81

    carried = ant.sensors["feet"].outputs["net_force"].data.numpy().sum(axis=1)

    np.testing.assert_allclose(carried[:, 2], weights, rtol=1e-3)
    np.testing.assert_allclose(carried[:, :2], 0.0, atol=1e-3 * weights[0])


@pytest.mark.slow
def test_the_imu_of_a_robot_that_stands_level_reads_gravity_upwards(ant):
    acceleration = ant.sensors["torso"].outputs["linear_acceleration"].data.numpy()

    np.testing.assert_allclose(acceleration, np.broadcast_to(-GRAVITY, (2, 1, 3)), atol=0.01)


def test_readings_allocate_no_warp_memory_captured_or_not(ant):
    readings = [each.run for each in ant.program.operations if each.name.startswith("update_sensors")]
    reports = []

    def taken(call):
        with wp.ScopedMemoryTracker(report_func=reports.append):
            call()
        return reports[-1]

    before = taken(lambda: wp.zeros(1, dtype=float, device="cpu"))

    assert len(readings) == 7
    assert "cpu" in before
    assert taken(lambda: [read() for read in readings]) == before
    assert taken(lambda: ant.step(3)) == before


def test_readings_through_an_impact_add_up_to_the_change_of_velocity(ball, configure):
    """Step by step, a + g = Δv / dt and F = m a. Velocities of 1 m/s are known to 1e-7, over 2 ms: 1e-4 m/s²."""
    sensors = {"imu": {"type": "imu", "body": "ball"}, "touch": {"type": "contact", "bodies": ["ball"]}}
    config = configure("mujoco", dt=0.002, scene={"ground": True}, sensors=sensors)
    velocities, accelerations, forces = [np.zeros(3)], [], []
    with pippin.Simulation(config, prototype=ball(mass=2.0, height=0.13)) as simulation:
        imu, touch = simulation.sensors["imu"].outputs, simulation.sensors["touch"].outputs
        for _ in range(100):
            simulation.step()
            velocities.append(simulation.state.body_qd.numpy()[0, :3].copy())
            accelerations.append(imu["linear_acceleration"].data.numpy()[0, 0].copy())
            forces.append(touch["net_force"].data.numpy()[0, 0].copy())

    assert np.max(forces) > 100.0
    np.testing.assert_allclose(accelerations + GRAVITY, np.diff(velocities, axis=0) / 0.002, atol=1e-3)
    np.testing.assert_allclose(forces, 2.0 * np.array(accelerations), atol=1e-2)


def test_position_based_contacts_carry_the_weight_too(ball, configure):
    """XPBD reports corrections divided by dt², to a thousandth."""
    sensors = {"touch": {"type": "contact", "bodies": ["ball"]}}
    config = configure("xpbd", scene={"ground": True}, sensors=sensors)
    with pippin.Simulation(config, prototype=ball(mass=2.0, height=0.1)) as simulation:
        simulation.step(300)

        force = simulation.sensors["touch"].outputs["net_force"].data.numpy()[0, 0]

    np.testing.assert_allclose(force, [0.0, 0.0, 2.0 * 9.81], rtol=1e-3, atol=1e-3)


ROWS = tomllib.loads((Path(__file__).parents[1] / "physics" / "checks.toml").read_text(encoding="utf-8"))
"""Step, substeps and options with which the physics checks run each solver."""

SLOPE = 0.3
SLOPED = 9.81 * np.array([np.sin(SLOPE), 0.0, -np.cos(SLOPE)])
"""Gravity of an incline of 0.3 rad that goes down along x [m/s²]: the plane stays level, and z is its normal."""

MASS = 4.0
PUSHES = {"sticking": np.array([-5.0, 0.0, -10.0]), "sliding": np.array([5.0, 0.0, -10.0])}
"""Boxes of 4 kg, and the forces on them: into the incline, and up or down along it [N]."""
LINK = {"mass": 1.0, "length": 0.3, "inertia": 0.01, "effort": 0.5}
STOOL_MASS = 3.0 + 3 * 0.5


def add_box(builder, label, y, mu):
    import newton

    body = builder.add_link(label=label, xform=wp.transform(wp.vec3(0.0, y, 0.1), wp.quat_identity()))
    density = MASS / 0.2**3
    shape = newton.ModelBuilder.ShapeConfig(density=density, mu=mu, ke=2500.0, kd=100.0, kf=1000.0)
    builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1, cfg=shape)
    builder.add_articulation([builder.add_joint_free(body)], label=label)
    plate = wp.transform(wp.vec3(0.0, y, -0.1), wp.quat_identity())
    builder.add_shape_box(-1, xform=plate, hx=3.0, hy=0.2, hz=0.1, cfg=shape, label=f"plate_{label}")


def add_stool(builder, y):
    """Add a seat on three feet, none of which has another one right before or beside it."""
    import newton

    seat = builder.add_link(label="seat", mass=3.0, inertia=wp.diag(wp.vec3(0.1)))
    joints = [builder.add_joint_free(seat)]
    shape = newton.ModelBuilder.ShapeConfig(density=0.0, mu=0.6, ke=2500.0, kd=100.0, kf=1000.0)
    for index, (x, across) in enumerate(((-0.3, 0.0), (0.3, -0.2), (0.3, 0.2))):
        foot = builder.add_link(label=f"foot_{index}", mass=0.5, inertia=wp.diag(wp.vec3(0.001)))
        builder.add_shape_sphere(foot, radius=0.05, cfg=shape)
        place = wp.transform(wp.vec3(x, across, -0.1), wp.quat_identity())
        joints.append(builder.add_joint_fixed(seat, foot, parent_xform=place, child_xform=wp.transform()))
    builder.add_articulation(joints, label="stool")
    builder.joint_q[builder.joint_q_start[joints[0]] : builder.joint_q_start[joints[0]] + 3] = [0.0, y, 0.15]
    builder.add_shape_box(
        -1, xform=wp.transform(wp.vec3(0.0, y, -0.1), wp.quat_identity()), hx=3.0, hy=0.4, hz=0.1, cfg=shape
    )


def add_links(builder, label, y, angles):
    """Add links that hang below each other from the world on hinges about y, at angles from straight down."""
    parent, joints = -1, []
    for index, angle in enumerate(angles):
        body = builder.add_link(label=f"{label}_{index}", mass=LINK["mass"], inertia=wp.diag(wp.vec3(LINK["inertia"])))
        builder.body_com[body] = wp.vec3(0.0, 0.0, -LINK["length"])
        place = wp.vec3(0.0, y, 3.0) if parent < 0 else wp.vec3(0.0, 0.0, -LINK["length"])
        above = wp.transform(place, wp.quat_identity())
        joints.append(
            builder.add_joint_revolute(parent, body, parent_xform=above, axis=(0.0, 1.0, 0.0), label=f"{label}_{index}")
        )
        builder.joint_q[-1] = angle
        parent = body
    builder.add_articulation(joints, label=label)


def incline(solver):
    """Return two boxes, a stool, a chain that hangs, a link that falls about its hinge, and a ball that falls."""
    import newton

    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    getattr(newton.solvers, ROWS[solver]["newton"]).register_custom_attributes(builder)
    add_box(builder, "sticking", 0.0, 0.6)
    add_box(builder, "sliding", 0.5, 0.2)
    add_stool(builder, 1.2)
    add_links(builder, "hanging", 2.0, (-SLOPE, 0.0))
    add_links(builder, "falling", 2.5, (np.pi / 2,))
    pose = wp.transform(wp.vec3(0.0, -1.0, 0.0), wp.quat_identity())
    ball = builder.add_link(label="ball", mass=1.0, inertia=wp.diag(wp.vec3(0.004)), xform=pose)
    builder.add_articulation([builder.add_joint_free(ball)], label="ball")
    return builder


@functools.cache
def measured(solver):
    """Return what every sensor reads in the first step, and the mean over the last quarter of all steps."""
    row = ROWS[solver]
    reports = Catalog.installed().find("solver", solver).load().supported_observables
    sensors = {name: {"type": "imu", "body": name, "source": "finite-difference"} for name in ("sticking", "ball")}
    sensors |= {f"{name}_solver": {"type": "imu", "body": name} for name in ("sticking", "ball")}
    if "contact_f" in reports:
        sensors["boxes"] = {"type": "contact", "bodies": ["sticking", "sliding"], "partners": ["plate_.*"]}
        sensors["feet"] = {"type": "contact", "bodies": ["foot_.*"]}
    if "body_parent_f" in reports:
        sensors |= {name: {"type": "joint-wrench", "joints": [f"{name}_.*"]} for name in ("hanging", "falling")}
    tables = {
        "simulation": {"device": "cpu", "dt": row["dt"], "substeps": row.get("substeps", 1)},
        "scene": {"gravity": SLOPED.tolist()},
        "solver": {"type": solver, **row.get("options", {})},
        "sensors": sensors,
    }
    count = 60 if solver == "kamino" else round(0.5 / row["dt"])  # it is slow, and settles at once
    with pippin.Simulation(pippin.structure(tables), prototype=incline(solver)) as simulation:
        starts = simulation.model.joint_qd_start.numpy()
        efforts = np.zeros(simulation.model.joint_dof_count, dtype=np.float32)
        efforts[starts[simulation.model.joint_label.index("falling_0")]] = LINK["effort"]
        simulation.control.joint_f.assign(efforts)
        forces = np.zeros((simulation.model.body_count, 6), dtype=np.float32)
        forces[:2, :3] = [*PUSHES.values()]
        taken = []
        for _ in range(count):
            simulation.state.body_f.assign(forces)
            simulation.step()
            taken.append(
                {
                    f"{label}.{name}": output.data.numpy()[0].copy()
                    for label, sensor in simulation.sensors.items()
                    for name, output in sensor.outputs.items()
                }
            )
        simulation.raise_errors()
    mean = {name: np.mean([each[name] for each in taken[-(count // 4) :]], axis=0) for name in taken[0]}
    return taken[0], mean


CONTACT_TOLERANCE = {"mujoco": 2e-4, "steel": 2e-4, "kamino": 2e-4, "xpbd": 1e-3, "vbd": 0.01}
"""What mean forces may be off, as a part of the weight; forces of XPBD flicker, and boxes of VBD rock."""

SLIDING_TOLERANCE = {**CONTACT_TOLERANCE, "mujoco": 0.05}
"""The same of a box that slides; that of MuJoCo hops on its soft contacts, and presses less while it rises."""

REST_TOLERANCE = {
    **dict.fromkeys(("mujoco", "mujoco-native", "xpbd", "steel", "kamino"), 1e-3),
    "featherstone": 0.02,
    "semi-implicit": 0.02,
    "vbd": 0.05,
}
"""What the acceleration of a box at rest may be off [m/s²]; viscous friction lets it creep, and VBD lets it rock."""

WRENCH_TOLERANCE = {"mujoco": 1e-3, "steel": 1e-3, "xpbd": 0.06}
"""What forces through joints may be off, as a part of the weight above; joints of XPBD give way and swing a little."""


@pytest.mark.slow
@pytest.mark.parametrize("solver", CONTACT_TOLERANCE)
def test_a_body_pushed_on_an_incline_feels_the_formulas_normal_and_friction_force(solver):
    """The box that sticks balances weight and push; the one that slides is slowed by μ N, with μ = 0.2."""
    forces, friction = measured(solver)[1]["boxes.net_force"], measured(solver)[1]["boxes.friction_force"]
    normal = MASS * 9.81 * np.cos(SLOPE) + 10.0
    held = -(MASS * SLOPED + PUSHES["sticking"])
    off, sliding_off = CONTACT_TOLERANCE[solver] * normal, SLIDING_TOLERANCE[solver] * normal

    np.testing.assert_allclose(forces[0], held, atol=off)
    np.testing.assert_allclose(friction[0], [held[0], 0.0, 0.0], atol=off)
    np.testing.assert_allclose(forces[1], [-0.2 * normal, 0.0, normal], atol=sliding_off)
    np.testing.assert_allclose(friction[1], [-0.2 * forces[1, 2], 0.0, 0.0], atol=off)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("solver", CONTACT_TOLERANCE)
def test_each_box_is_pushed_by_its_own_plate_alone(solver):
    forces, matrix = measured(solver)[1]["boxes.net_force"], measured(solver)[1]["boxes.force_matrix"]

    np.testing.assert_allclose([matrix[0, 0], matrix[1, 1]], forces, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal([matrix[0, 1], matrix[1, 0]], 0.0)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", CONTACT_TOLERANCE)
def test_the_feet_of_what_has_settled_carry_its_weight(solver):
    carried = measured(solver)[1]["feet.net_force"].sum(axis=0)

    np.testing.assert_allclose(carried, -STOOL_MASS * SLOPED, atol=CONTACT_TOLERANCE[solver] * STOOL_MASS * 9.81)


SUBSTEP_TOLERANCE = {**REST_TOLERANCE, "xpbd": 2e-3, "featherstone": 0.1, "semi-implicit": 0.25, "vbd": 0.15}
"""The same of the last substep of each step alone; stiff contacts and small corrections shake a body a little."""


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("solver", REST_TOLERANCE)
def test_rest_reads_gravity_upwards_and_free_fall_zero_under_every_solver(solver):
    """By differences from reading to reading, and by the accelerations of the last substep."""
    mean = {name: values[0] for name, values in measured(solver)[1].items() if name.endswith("linear_acceleration")}

    assert len(mean) == 4
    for name, acceleration in mean.items():
        expected = np.zeros(3) if name.startswith("ball") else -SLOPED
        tolerance = (SUBSTEP_TOLERANCE if "_solver" in name else REST_TOLERANCE)[solver]
        np.testing.assert_allclose(acceleration, expected, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("solver", WRENCH_TOLERANCE)
def test_a_joint_wrench_carries_the_weight_below_it(solver):
    weights = np.array([2.0, 1.0]) * LINK["mass"] * 9.81
    mean = measured(solver)[1]

    expected = np.outer(weights, [0.0, 0.0, 1.0])
    np.testing.assert_allclose(mean["hanging.force"], expected, atol=WRENCH_TOLERANCE[solver] * weights[0])
    rounded = 0.01 if solver == "xpbd" else 1e-3  # angles are rounded at 6e-8 rad, and I / dt² is 4e4 N·m/rad
    np.testing.assert_allclose(mean["hanging.torque"], 0.0, atol=rounded)


@pytest.mark.parametrize("solver", WRENCH_TOLERANCE)
def test_the_wrench_of_a_falling_link_is_less_than_its_weight(solver):
    """At the start, level: ω̇ = (τ - m g_n L) / (I + m L²), and the hinge gives m (a - g)."""
    mass, length, inertia, effort = LINK.values()
    spin = (effort + mass * SLOPED[2] * length) / (inertia + mass * length**2)
    force = mass * (np.array([0.0, 0.0, spin * length]) - SLOPED)
    first = measured(solver)[0]

    expected = [[-force[2], 0.0, force[0]]]  # the link's x points down, and its z along the world's x
    np.testing.assert_allclose(first["falling.force"], expected, atol=WRENCH_TOLERANCE[solver] * mass * 9.81)
    np.testing.assert_allclose(first["falling.torque"], [[0.0, effort, 0.0]], atol=1e-3)
