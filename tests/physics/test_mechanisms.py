"""Mechanisms beside the laboratory: what each solver's text on the page *Physics checks* says of them."""

from __future__ import annotations

import functools

import newton
import numpy as np
import pytest
import warp as wp

DT, TIME, STIFFNESS, AMPLITUDE, SPIN, START = 0.001, 0.5, 250.0, 0.1, 3.0, 0.3
ROD, BEAD = 0.1, 0.01

pytestmark = pytest.mark.simulation(dt=DT, gravity=0.0)

SOLVERS = {
    "featherstone": {},
    "semi-implicit": {"angular_damping": 0.0},
    "steel": {},
    "mujoco-native": {},
    "kamino": {},
    "vbd": {},
    "xpbd": {"joint_linear_relaxation": 1.0, "joint_angular_relaxation": 1.0},
}
LACKING = ("semi-implicit", "vbd")
"""Those that leave out the torque of a carried slider."""

each_solver = pytest.mark.parametrize("solver", SOLVERS)


def link(builder, label, inertia):
    return builder.add_link(label=label, mass=1.0, inertia=wp.diag(wp.vec3(inertia)), lock_inertia=True)


def scene(kind):
    """Return a slider of 1 kg on a drive without damping, and a bead that slides along a rod that turns freely."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    place = wp.transform(wp.vec3(0.0, 2.0, 0.0), wp.quat_identity())
    driven = builder.add_joint_prismatic(
        -1, link(builder, "driven", BEAD), parent_xform=place, axis=(1.0, 0.0, 0.0), target_ke=STIFFNESS, armature=0.0
    )
    builder.add_articulation([driven], label="driven")
    builder.joint_q[-1] = AMPLITUDE
    rod, bead = link(builder, "rod", ROD), link(builder, "bead", BEAD)
    hinge = builder.add_joint_revolute(-1, rod, axis=(0.0, 0.0, 1.0), armature=0.0)
    if kind == "prismatic":
        slide = builder.add_joint_prismatic(rod, bead, axis=(1.0, 0.0, 0.0), armature=0.0)
    else:
        axis = newton.ModelBuilder.JointDofConfig(axis=(1.0, 0.0, 0.0), armature=0.0)
        slide = builder.add_joint_d6(rod, bead, linear_axes=[axis])
    builder.add_articulation([hinge, slide], label="bead")
    builder.joint_qd[-2], builder.joint_q[-1] = SPIN, START
    return builder


@functools.cache
def bead_by_formula(is_held=False):
    """Return distance [m] and spin [rad/s] of the bead at the end: the angular momentum is constant, or the spin."""
    inertia, dt, place, speed = ROD + BEAD, 1e-5, START, 0.0
    momentum, spin = (inertia + START**2) * SPIN, SPIN
    for _ in range(round(TIME / dt)):
        spin = SPIN if is_held else momentum / (inertia + place**2)
        speed += dt * place * spin**2
        place += dt * speed
    return place, spin


@functools.cache
def motion(simulate, solver, kind="prismatic"):
    """Return the driven slider over time [m], distance and spin of the bead at the end, and the lost features."""
    lacking = {"accept_unsupported": ["carried_sliders"]} if solver in LACKING else {}
    with simulate(scene(kind), solver={"type": solver, **SOLVERS[solver]}, **lacking) as simulation:
        driven = []
        for _ in range(round(TIME / DT)):
            simulation.step()
            driven.append(float(simulation.state.body_q.numpy()[0, 0]))
        pose, velocity = simulation.state.body_q.numpy()[2], simulation.state.body_qd.numpy()[2]
        ignored = dict(simulation.ignored_features)
    return np.array(driven), (float(np.linalg.norm(pose[:2])), float(velocity[5])), ignored


@each_solver
def test_a_drive_without_damping_keeps_its_amplitude_or_loses_it_as_stated(simulate, solver):
    """Implicit Euler takes exp(-ω² dt t / 2)."""
    driven, _, _ = motion(simulate, solver)
    rate = np.sqrt(STIFFNESS)
    period = round(2 * np.pi / rate / DT)
    expected = np.exp(-(rate**2) * DT * period * DT / 2) if solver in ("steel", "kamino", "vbd", "xpbd") else 1.0

    np.testing.assert_allclose(driven[period - 1] / AMPLITUDE, expected, atol=0.005)


@each_solver
def test_a_bead_on_a_turning_rod_keeps_the_angular_momentum_or_is_refused(simulate, solver):
    """Two solvers leave the torque of the side force out: the rod keeps its spin, and the bead gains energy."""
    is_held = solver in LACKING
    _, (distance, spin), ignored = motion(simulate, solver)

    place, rate = bead_by_formula(is_held)
    np.testing.assert_allclose(spin, rate, rtol=0.005)
    np.testing.assert_allclose(distance, place, rtol=0.1 if is_held else 0.005)  # semi-implicit yields to the pull
    assert ignored == ({"carried_sliders": ["joint_3"]} if is_held else {})


def test_a_joint_of_one_axis_slides_as_a_slider_does(simulate):
    for solver in LACKING:
        (_, bead, ignored), (_, other, others) = (motion(simulate, solver, kind) for kind in ("prismatic", "d6"))

        np.testing.assert_allclose(bead, other, rtol=1e-4)
        assert list(ignored) == list(others) == ["carried_sliders"]


def falling_balls():
    """Return balls of 1 and 4 kg that arrive at a block with 1 m/s."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    shape = newton.ModelBuilder.ShapeConfig(density=0.0, ke=4000.0, kd=20.0)
    below = wp.transform(wp.vec3(0.0, 0.0, -0.1), wp.quat_identity())
    builder.add_shape_box(-1, xform=below, hx=2.0, hy=2.0, hz=0.1, cfg=shape)
    for mass in (1.0, 4.0):
        place = wp.transform(wp.vec3(mass - 2.5, 0.0, 0.1), wp.quat_identity())
        body = builder.add_link(mass=mass, inertia=wp.diag(wp.vec3(0.01 * mass)), xform=place, label=f"{mass:g} kg")
        builder.add_articulation([builder.add_joint_free(body)])
        builder.joint_qd[-4] = -1.0
        builder.add_shape_sphere(body, radius=0.1, cfg=shape)
    return builder


@pytest.mark.parametrize(
    ("solver", "expected"), [("featherstone", (0.0126, 0.0281)), ("mujoco-native", (0.0123, 0.0123))]
)
def test_contacts_are_springs_or_springs_per_kilogram(simulate, solver, expected):
    """The integrated formula m x'' = -ke x - kd x' gives 12.6 and 28.1 mm; MuJoCo's has the mass on both sides."""
    with simulate(falling_balls, solver=solver) as simulation:
        heights = []
        for _ in range(60):
            simulation.step()
            heights.append(simulation.state.body_q.numpy()[:, 2].copy())

    np.testing.assert_allclose(0.1 - np.min(heights, axis=0), expected, rtol=0.04)


@pytest.mark.slow
@pytest.mark.parametrize(("damping", "lost"), [(0.0, 0.0), (100.0, 0.019)])
def test_vbd_loses_friction_by_the_damping_of_contacts(simulate, damping, lost):
    """A box of 1 kg slides down where tan θ = 0.36 and μ = 0.3: a damper carries weight that causes no friction."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    shape = newton.ModelBuilder.ShapeConfig(density=0.0, mu=0.3, ke=2500.0, kd=damping)
    below = wp.transform(wp.vec3(0.0, 0.0, -0.1), wp.quat_identity())
    builder.add_shape_box(-1, xform=below, hx=5.0, hy=5.0, hz=0.1, cfg=shape)
    place = wp.transform(wp.vec3(0.0, 0.0, 0.1), wp.quat_identity())
    box = builder.add_body(mass=1.0, inertia=wp.diag(wp.vec3(0.02 / 3.0)), xform=place, label="box")
    builder.add_shape_box(box, hx=0.1, hy=0.1, hz=0.1, cfg=shape)
    sine, cosine = np.sin(np.arctan(0.36)), np.cos(np.arctan(0.36))
    speeds = []
    with simulate(builder, solver="vbd", gravity=[9.81 * sine, 0.0, -9.81 * cosine]) as simulation:
        for _ in range(100):
            simulation.step(10)
            speeds.append(simulation.state.body_qd.numpy()[0, 0])

    acceleration = np.polyfit(0.01 * np.arange(30, 100), speeds[30:], 1)[0]
    friction = 9.81 * sine - acceleration
    assert 1.0 - friction / (0.3 * 9.81 * cosine) == pytest.approx(lost, abs=0.004)


LENGTH, WIDTH, CRANK, COUPLER, INERTIA, ANGLE = 0.5, 0.4, 0.5, 1.0, 0.02, 0.6


def parallelogram(gap=0.0):
    """Return two cranks that hang from the world and carry a bar between them; the last joint closes the loop.

    Where all coordinates are zero, the right crank is turned from its place by `gap` [rad].
    """
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    inertia, half = wp.diag(wp.vec3(INERTIA)), WIDTH / 2
    left, bar, right = (
        builder.add_link(mass=mass, inertia=inertia, com=wp.vec3(0.0, 0.0, low), lock_inertia=True)
        for mass, low in ((CRANK, -LENGTH / 2), (COUPLER, 0.0), (CRANK, -LENGTH / 2))
    )

    def hinge(parent, child, at, of, turn=0.0):
        turned = wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), turn)
        places = {"parent_xform": wp.transform(wp.vec3(*at), turned), "child_xform": wp.transform(wp.vec3(*of))}
        return builder.add_joint_revolute(parent, child, axis=(0.0, 1.0, 0.0), armature=0.0, **places)

    chain = [
        hinge(-1, left, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        hinge(left, bar, (0.0, 0.0, -LENGTH), (-half, 0.0, 0.0)),
        hinge(bar, right, (half, 0.0, 0.0), (0.0, 0.0, -LENGTH), gap),
    ]
    builder.add_articulation(chain)
    hinge(-1, right, (WIDTH, 0.0, 0.0), (0.0, 0.0, 0.0))
    builder.joint_q[:3] = [ANGLE, -ANGLE, ANGLE - gap]
    return builder


LOOPED = sorted({*SOLVERS, "mujoco"} - {"featherstone"})


@pytest.mark.first_cases(3)
@pytest.mark.parametrize(
    ("solver", "gap"), [*((solver, 0.0) for solver in LOOPED), ("mujoco", 0.5), ("mujoco-native", 0.5), ("xpbd", 0.5)]
)
def test_a_loop_of_hinges_swings_as_one_pendulum(simulate, solver, gap):
    """θ'' = -(m l + M l) g sin θ / (2 J + m l² / 2 + M l²): the bar turns with neither crank."""
    moment = 2 * (INERTIA + CRANK * LENGTH**2 / 4) + COUPLER * LENGTH**2
    pull, angle, rate, step = (CRANK + COUPLER) * LENGTH * 9.81 / moment, ANGLE, 0.0, 1e-4
    for _ in range(round(TIME / step)):
        middle, speed = angle + step / 2 * rate, rate - step / 2 * pull * np.sin(angle)
        angle, rate = angle + step * speed, rate - step * pull * np.sin(middle)

    options = {**SOLVERS.get(solver, {}), **({"joint_attach_ke": 1e5} if solver == "semi-implicit" else {})}
    substeps = {"semi-implicit": 8, "vbd": 2}.get(solver, 1)
    table = {"type": solver, **options}
    with simulate(functools.partial(parallelogram, gap), solver=table, gravity=-9.81, substeps=substeps) as simulation:
        simulation.step(round(TIME / DT))
        poses = simulation.state.body_q.numpy()

    angles = 2 * np.arctan2(poses[:, 4], poses[:, 6])
    np.testing.assert_allclose(angles, [angle, 0.0, angle], atol=0.006)


def welded():
    """Return two links that hang from the world; a fixed joint ties them while the first one is turned by `ANGLE`."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    frames = [
        wp.transform(wp.vec3(x, 0.0, 0.2), wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), angle))
        for x, angle in ((0.1, ANGLE), (0.5, 0.0))
    ]
    links = [
        builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(INERTIA)), com=wp.vec3(0.2, 0.0, 0.0), lock_inertia=True)
        for _ in frames
    ]
    for body, frame in zip(links, frames, strict=True):
        pivot = wp.transform(wp.transform_get_translation(frame))
        builder.add_articulation([builder.add_joint_revolute(-1, body, parent_xform=pivot, axis=(0.0, 1.0, 0.0))])
    builder.joint_q[0] = ANGLE
    apart = wp.transform_inverse(frames[0]) * frames[1]
    place = wp.transform(wp.vec3(0.3, 0.0, 0.1), wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), 0.9))
    builder.add_joint_fixed(*links, parent_xform=apart * place, child_xform=place)
    return builder


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
@pytest.mark.parametrize("worlds", [1, 2])
def test_a_fixed_joint_holds_links_where_its_frames_are_one(simulate, solver, worlds):
    """It is a weld in MuJoCo, and yields to the weight by less than a hundredth of a radian."""
    with simulate(welded, solver=solver, gravity=-9.81, worlds=worlds) as simulation:
        simulation.step(200)
        poses = simulation.state.body_q.numpy()

    np.testing.assert_allclose(2 * np.arctan2(poses[:, 4], poses[:, 6]), [ANGLE, 0.0] * worlds, atol=0.01)


TOP, ARM, SLANT, FAST = (0.01, 0.01, 0.005), 0.2, 0.5, 60.0


def heavy_top():
    """Return a top of 1 kg that spins about its axis, with its centre of mass above the ball joint that holds it."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    inertia = wp.diag(wp.vec3(*TOP))
    link = builder.add_link(mass=1.0, inertia=inertia, com=wp.vec3(0.0, 0.0, ARM), lock_inertia=True)
    builder.add_articulation([builder.add_joint_ball(-1, link)])
    builder.joint_q[:4] = [np.sin(SLANT / 2), 0.0, 0.0, np.cos(SLANT / 2)]
    builder.joint_qd[:3] = [0.0, -FAST * np.sin(SLANT), FAST * np.cos(SLANT)]
    return builder


@functools.cache
def top_by_formula(seconds=0.2, step=1e-4):
    """Return the axis of the top by Euler's equations, in steps of the fourth order."""
    inertia = np.array(TOP) + ARM**2 * np.array([1.0, 1.0, 0.0])

    def change(turn, spin):
        torque = np.cross([0.0, 0.0, ARM], turn.T @ [0.0, 0.0, -9.81])
        cross = np.array([[0.0, -spin[2], spin[1]], [spin[2], 0.0, -spin[0]], [-spin[1], spin[0], 0.0]])
        return turn @ cross, (torque - np.cross(spin, inertia * spin)) / inertia

    cosine, sine = np.cos(SLANT), np.sin(SLANT)
    now = [np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]]), np.array([0.0, 0.0, FAST])]
    for _ in range(round(seconds / step)):
        slopes = [change(*now)]
        for part in (0.5, 0.5, 1.0):
            slopes.append(change(*(value + part * step * slope for value, slope in zip(now, slopes[-1], strict=True))))
        now = [
            value + step / 6 * (first + 2 * second + 2 * third + last)
            for value, first, second, third, last in zip(now, *slopes, strict=True)
        ]
    return now[0][:, 2]


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("solver", "error"),
    [
        ({"type": "mujoco"}, 0.049),
        ({"type": "mujoco-native"}, 0.049),
        ({"type": "mujoco-native", "integrator": "rk4"}, 1e-4),
        ({"type": "featherstone"}, 0.049),
        ({"type": "steel"}, 0.049),
        ({"type": "kamino"}, 0.005),
        ({"type": "vbd"}, 0.006),
        ({"type": "xpbd", **SOLVERS["xpbd"]}, 0.0035),
    ],
    ids=lambda value: "-".join(str(each) for each in list(value.values())[:2]) if isinstance(value, dict) else "",
)
def test_a_heavy_top_precesses_by_the_formula_or_is_off_as_stated(simulate, solver, error):
    with simulate(heavy_top, solver=solver, gravity=-9.81) as simulation:
        simulation.step(200)
        x, y, z, w = simulation.state.body_q.numpy()[0, 3:]

    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    assert 0.5 * error < np.linalg.norm(axis - top_by_formula()) < 1.5 * error


@pytest.mark.parametrize(("dt", "height", "lost"), [(2.5e-4, 1.0, 0.028), (1e-3, 10.0, 0.028), (1e-3, 0.0, 0.0)])
def test_vbd_rounds_a_fall_away_from_the_origin(simulate, dt, height, lost):
    """z = g t (t + h) / 2, less what single precision takes from short steps at a height."""
    builder, time = newton.ModelBuilder(up_axis=newton.Axis.Z), 0.3
    place = wp.transform(wp.vec3(0.0, 0.0, height), wp.quat_identity())
    builder.add_body(mass=1.0, inertia=wp.diag(wp.vec3(0.01)), xform=place)
    with simulate(builder, solver="vbd", dt=dt, gravity=-9.81) as simulation:
        simulation.step(round(time / dt))
        fallen = height - simulation.state.body_q.numpy()[0, 2]

    assert 1.0 - fallen / (9.81 * time * (time + dt) / 2) == pytest.approx(lost, abs=0.005)
