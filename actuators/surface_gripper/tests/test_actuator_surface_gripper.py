"""Pads that hold bodies: where they seal, how the seal yields and breaks, by formulas."""

import math
from functools import partial

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin.solving import RIGID_TREES

MASS, SIZE, GAP = 2.0, 0.1, 0.001
G = 9.81
OMEGA = 2.0 * math.pi * 5.0


class Featherstone:
    """A solver that comes with Newton itself."""

    supported_features = RIGID_TREES

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model, angular_damping=0.0)


def crane(**keys):
    """Return a builder with what `add_crane` adds."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    add_crane(builder, **keys)
    return builder


def add_crane(builder, turn=(1.0, 0.0, 0.0, 0.0), aside=0.0, is_free=False, shape="box"):
    """Add a hand with a pad, and a body of 2 kg, 10 cm wide, that the pad touches; by default the pad looks down on it.

    Args:
        builder: Where they are added.
        turn: Orientation of the pad, whose z axis points to the middle of the body.
        aside: How far the body is displaced along x of the pad [m].
        is_free: Whether the hand floats; otherwise it is held.
        shape: Kind of its shape.
    """
    pad = wp.transform(wp.vec3(0.0, 0.0, 1.0), wp.quat(*turn))
    hand = builder.add_link(label="hand", mass=5.0, inertia=wp.diag(wp.vec3(0.02)), xform=pad)
    held = {} if is_free else {"parent_xform": pad}
    add = builder.add_joint_free if is_free else builder.add_joint_fixed
    builder.add_articulation([add(child=hand, parent=-1, **held)], label="crane")
    builder.add_site(hand, label="cup")
    place = pad * wp.transform(wp.vec3(aside, 0.0, 0.5 * SIZE + GAP), wp.quat_identity())
    cube = builder.add_link(label="cube", mass=MASS, inertia=wp.diag(wp.vec3(MASS * SIZE**2 / 6.0)), xform=place)
    builder.add_articulation([builder.add_joint_free(cube)], label="load")
    half, config = 0.5 * SIZE, newton.ModelBuilder.ShapeConfig(density=0.0)
    if shape == "box":
        builder.add_shape_box(cube, hx=half, hy=half, hz=half, cfg=config)
    elif shape in ("mesh", "stretched mesh"):
        unit = newton.Mesh.create_box(1.0, 1.0, 1.0)
        scale = wp.vec3(half, half if shape == "mesh" else 2.0 * half, half)
        builder.add_shape_mesh(cube, mesh=unit, scale=scale, cfg=config)
    elif shape == "sphere":
        builder.add_shape_sphere(cube, radius=half, cfg=config)
    else:
        builder.add_shape_cylinder(cube, radius=half, half_height=half, cfg=config)


pytestmark = pytest.mark.simulation(
    dt=0.001,
    prototype=crane,
    solver=Featherstone,
    actuators={
        "cup": {"type": "surface-gripper", "site": "cup", "radius": 0.02, "reach": 0.002, "frequency": 5.0},
    },
    options="actuators.cup",
)

DOWN = (1.0, 0.0, 0.0, 0.0)
SIDEWAYS = (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))
"""The pad looks along x of the world."""

CONFORMANCE = conformance.Conformance(
    "actuator",
    "surface-gripper",
    config={"site": "cup", "radius": 0.02, "suction": 1.0},
    prototype=add_crane,
    expected_failures={
        "efforts": "it holds bodies, and drives no joint",
        "driven_joints": "it drives no joint",
    },
)


def switch(simulation, *worlds):
    """Switch the suction on in some worlds, by default in all."""
    suction = np.zeros((simulation.world_count, 1), dtype=np.float32)
    suction[list(worlds) or slice(None)] = 1.0
    simulation.actuators["cup"].position_targets.assign(suction)


def cube(simulation, world=0):
    return simulation.state.body_q.numpy()[2 * world + 1]


@pytest.mark.alone
def test_a_held_body_hangs_lower_by_gravity_over_the_square_of_its_frequency(simulate):
    with simulate() as simulation:
        before = cube(simulation)[2]
        switch(simulation)
        simulation.step(1000)
        after, gripper = cube(simulation)[2], simulation.actuators["cup"]

        assert gripper.held_bodies.tolist() == [[1]]
        assert before - after == pytest.approx(G / OMEGA**2, rel=1e-3)
        assert gripper.loads.numpy()[0, 0] == pytest.approx([MASS * G, 0.0, 0.0, 0.0], abs=0.02)


def test_without_suction_nothing_holds_it(simulate):
    with simulate() as simulation:
        before = cube(simulation)[2]
        simulation.step(100)
        fallen = before - cube(simulation)[2]

    assert fallen == pytest.approx(0.5 * G * 0.1**2, rel=0.02)


def test_it_swings_with_its_frequency_and_damping(simulate):
    """z = g / ω² (1 - exp(-ζ ω t) (cos ω' t + ζ ω / ω' sin ω' t)), ω' = ω √(1 - ζ²)."""
    ratio = 0.1
    with simulate(damping_ratio=ratio) as simulation:
        before = cube(simulation)[2]
        switch(simulation)
        way = []
        for _ in range(40):
            simulation.step(10)
            way.append(before - cube(simulation)[2])

    t = 0.01 * np.arange(1, 41)
    slow = OMEGA * math.sqrt(1.0 - ratio**2)
    swing = np.cos(slow * t) + ratio * OMEGA / slow * np.sin(slow * t)
    expected = G / OMEGA**2 * (1.0 - np.exp(-ratio * OMEGA * t) * swing)
    assert way == pytest.approx(expected, abs=0.02 * 2.0 * G / OMEGA**2)


def test_a_twist_swings_with_the_same_frequency(simulate):
    """A cube that turns about z of the pad: θ = θ' / ω sin ω t, nearly without damping."""
    with simulate(damping_ratio=1e-4, gravity=(0.0, 0.0, 0.0)) as simulation:
        switch(simulation)
        simulation.step(1)
        velocity = simulation.state.joint_qd.numpy().copy()
        velocity[5] = 1.0
        simulation.state.joint_qd.assign(velocity)
        simulation.invalidate("joints")
        angles = []
        for _ in range(20):
            simulation.step(10)
            turn = cube(simulation)[3:]
            relative = wp.quat_inverse(wp.quat(1.0, 0.0, 0.0, 0.0)) * wp.quat(*turn)
            angles.append(abs(2.0 * math.atan2(relative[2], relative[3])))

    expected = np.abs(np.sin(OMEGA * 0.01 * np.arange(1, 21)) / OMEGA)
    assert angles == pytest.approx(expected, abs=0.03 / OMEGA)


@pytest.mark.parametrize(
    ("key", "turn", "load"),
    [
        ("pull_limit", DOWN, MASS * G),
        ("shear_limit", SIDEWAYS, MASS * G),
        ("peel_limit", SIDEWAYS, MASS * G * (0.5 * SIZE + GAP)),
    ],
)
def test_it_holds_below_a_limit_and_breaks_above(key, turn, load, simulate):
    """The weight pulls at a pad that looks down, and shears and peels one that looks aside.

    It comes at once, so that the load first swings beyond it, by less than half.
    """
    held = []
    for share in (1.5, 0.95):
        with simulate(prototype=lambda: crane(turn=turn), frequency=20.0, **{key: share * load}) as simulation:
            switch(simulation)
            simulation.step(1000)
            held.append(simulation.actuators["cup"].held_bodies[0, 0])
            height = cube(simulation)[2]

    assert held == [1, -1]
    assert height < 0.0, "it falls"


def test_a_broken_seal_stays_open_until_the_suction_was_off(simulate):
    with simulate(pull_limit=1.0, gravity=(0.0, 0.0, 0.0)) as simulation:
        gripper = simulation.actuators["cup"]
        switch(simulation)
        simulation.step(1)
        before = gripper.held_bodies[0, 0]
        velocity = simulation.state.joint_qd.numpy().copy()
        velocity[2] = -1.0
        simulation.state.joint_qd.assign(velocity)
        simulation.invalidate("joints")
        simulation.step(1)
        broken = gripper.held_bodies[0, 0]
        simulation.state.joint_qd.zero_()
        simulation.invalidate("joints")
        simulation.step(1)
        still_broken = gripper.held_bodies[0, 0]
        gripper.position_targets.zero_()
        simulation.step(1)
        switch(simulation)
        simulation.step(1)

        assert (before, broken, still_broken) == (1, -1, -1)
        assert gripper.held_bodies[0, 0] == 1


def test_momentum_is_conserved(simulate):
    """Both bodies float: the wrench of the seal is equal and opposite, at one point."""
    with simulate(prototype=lambda: crane(aside=0.02, is_free=True), gravity=(0.0, 0.0, 0.0)) as simulation:
        switch(simulation)
        simulation.step(1)
        velocity = simulation.state.joint_qd.numpy().copy()
        velocity[6:] = [0.05, 0.02, -0.03, 0.2, -0.3, 0.4]
        simulation.state.joint_qd.assign(velocity)
        simulation.invalidate("joints")
        before = momenta(simulation)
        simulation.step(500)
        after = momenta(simulation)
        speeds = simulation.state.body_qd.numpy()

    assert np.abs(speeds[0]).max() > 0.01, "the cube carries the hand along"
    assert after == pytest.approx(before, abs=2e-3 * np.abs(before).max())


def momenta(simulation):
    """Return linear and angular momentum about the origin of all bodies."""
    model, state = simulation.model, simulation.state
    total = np.zeros(6)
    for pose, twist, mass, inertia in zip(
        state.body_q.numpy(),
        state.body_qd.numpy(),
        model.body_mass.numpy(),
        model.body_inertia.numpy(),
        strict=True,
    ):
        turn = np.array(wp.quat_to_matrix(wp.quat(*pose[3:]))).reshape(3, 3)
        linear = mass * twist[:3]
        total += [*linear, *(np.cross(pose[:3], linear) + turn @ inertia @ turn.T @ twist[3:])]
    return total


@pytest.mark.parametrize(("aside", "holds"), [(0.025, True), (0.035, False)])
def test_the_whole_rim_must_touch(aside, holds, simulate):
    """The face ends 5 cm from its middle, and the rim reaches 2 cm."""
    with simulate(prototype=lambda: crane(aside=aside)) as simulation:
        switch(simulation)
        simulation.step(1)

        assert bool(simulation.actuators["cup"].held_bodies[0, 0] == 1) is holds


@pytest.mark.parametrize(
    ("shape", "distance"),
    [("mesh", GAP), ("cylinder", GAP), ("sphere", math.hypot(0.02, 0.5 * SIZE + GAP) - 0.5 * SIZE)],
)
def test_it_seals_on_each_kind_of_shape_within_its_reach(shape, distance, simulate):
    """The rim is 2 cm from the axis, on which the pad is 1 mm from the surface."""
    held = []
    for reach in (0.95 * distance, 1.05 * distance):
        with simulate(prototype=lambda: crane(shape=shape), reach=reach) as simulation:
            switch(simulation)
            simulation.step(1)
            held.append(simulation.actuators["cup"].held_bodies[0, 0])

    assert held == [-1, 1]


def test_beyond_its_reach_it_holds_nothing(simulate):
    with simulate(reach=0.5 * GAP) as simulation:
        switch(simulation)
        simulation.step(1)

        assert simulation.actuators["cup"].held_bodies[0, 0] == -1


def test_worlds_and_resets_are_their_own(simulate):
    with simulate(worlds=3) as simulation:
        gripper = simulation.actuators["cup"]
        switch(simulation, 0, 2)
        simulation.step(20)
        held = gripper.held_bodies[:, 0].tolist()
        simulation.reset([2])
        after = gripper.held_bodies[:, 0].tolist()
        heights = [cube(simulation, world)[2] for world in range(3)]

    assert held == [1, -1, 5]
    assert after == [1, -1, -1]
    assert heights[1] < heights[0] < heights[2]


def test_a_motion_switches_the_suction(simulate):
    motions = {
        "grip": {
            "type": "keyframes",
            "actuator": "cup",
            "interpolation": "step",
            "times": [0.0, 0.1],
            "values": [1.0, 0.0],
        }
    }
    with simulate(motions=motions) as simulation:
        simulation.step(90)
        held = simulation.actuators["cup"].held_bodies[0, 0]
        simulation.step(20)

        assert held == 1
        assert simulation.actuators["cup"].held_bodies[0, 0] == -1


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"frequency": 90.0}, r"frequency: 90 Hz is not stable in substeps of 0\.001 s; use less than 79\.6"),
        ({"bodies": ["crate"]}, r"bodies: no body matches 'crate'"),
        ({"radius": 0.0}, r"radius: must be > 0"),
        ({"site": "cups"}, r"site: .*'cups'"),
    ],
)
def test_what_cannot_be_is_refused(keys, told, simulate):
    with pytest.raises(pippin.ConfigError, match=told):
        simulate(**keys)


def test_a_mesh_with_unequal_scales_is_refused(simulate):
    """The distance from its surface would be that of another shape."""
    with pytest.raises(pippin.ConfigError, match=r"a mesh with the same scale along x, y and z"):
        simulate(prototype=partial(crane, shape="stretched mesh"))


@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
