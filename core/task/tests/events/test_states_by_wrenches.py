"""The event `wrench`: impulses of free bodies, where the force acts, and what a reset ends."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

SOLVERS = ("mujoco-native", "featherstone", "kamino", "mujoco", "semi-implicit", "steel", "vbd", "xpbd")
MASS, INERTIA = 2.0, 0.1
BLOW = {"type": "wrench", "when": "interval", "period": [0.1, 0.1], "bodies": ["block"]}
BLOW |= {"force": {"x": [3.0, 3.0]}, "torque": {"z": [0.5, 0.5]}, "duration": [0.037, 0.037]}
LOAD = {"type": "wrench", "bodies": ["block", "other"], "force": {"x": [1.0, 2.0], "z": [-1.0, 1.0]}}


def blocks(*, is_kinematic=False):
    """Return two free bodies."""
    builder = newton.ModelBuilder(up_axis="Z")
    shape = newton.ModelBuilder.ShapeConfig(density=0.0)
    for place, name in enumerate(("block", "other")):
        body = builder.add_link(label=name, mass=MASS, inertia=wp.diag(wp.vec3(INERTIA)), is_kinematic=is_kinematic)
        builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1, cfg=shape)
        builder.add_articulation([builder.add_joint_free(body, label=f"root_{name}")], label=name)
        builder.joint_q[7 * place] = 2.0 * place
    return builder


def build(event, solver="featherstone", worlds=3, capture="auto", is_kinematic=False, **simulation):
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01, "decimation": 2, "capture": capture, **simulation},
        "scene": {"worlds": worlds, "gravity": [0.0, 0.0, 0.0]},
        "solver": {"type": solver},
        "task": {"episode_length": 10.0, "events": {"it": event}},
    }
    return pippin.Simulation(pippin.structure(tables), prototype=blocks(is_kinematic=is_kinematic))


def speeds(simulation):
    """Return the velocities of the bodies, linear ones first, shape [worlds, 2, 6]."""
    return simulation.state.body_qd.numpy().reshape(-1, 2, 6).copy()


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("form", "share"), [("constant", 1.0), ("half-sine", 2.0 / np.pi)])
def test_a_blow_gives_the_impulse_of_its_form(solver, form, share):
    """Of 0.037 s, in steps of 0.01 s: the integral of the force over the blow, whatever the steps are.

    Two solvers damp rotations by 0.05 / s, thus by 1.3 % in 0.26 s.
    """
    with build({**BLOW, "form": form}, solver) as simulation:
        found = []
        for count in (5, 4, 4):  # until 0.1, 0.18 and 0.26 s
            simulation.step(count)
            found.append(speeds(simulation))

    blow = 0.037 * share * np.array([3.0 / MASS, 0.0, 0.0, 0.0, 0.0, 0.5 / INERTIA])
    for number, each in enumerate(found):
        np.testing.assert_allclose(each[:, 0, :3], np.tile(number * blow[:3], (3, 1)), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(each[:, 0, 3:], np.tile(number * blow[3:], (3, 1)), rtol=1.5e-2, atol=1e-5)
        np.testing.assert_allclose(each[:, 1], 0.0, atol=1e-5)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(("worlds", "capture"), [(3, "require"), (1, "off")])
def test_a_force_of_an_episode_adds_to_that_of_the_user(worlds, capture):
    """v = (drawn + own force) t / m, in each episode with another draw."""
    with build(LOAD, worlds=worlds, capture=capture) as simulation:
        drawn = []
        for _ in range(2):
            simulation.reset()
            drawn.append(simulation.task.events["it"].wrenches.numpy().copy())
            own = np.tile(np.array([0.0, 4.0, 0.0, 0.0, 0.0, 0.0], dtype=np.float32), (2 * worlds, 1))
            simulation.state.body_f.assign(own)
            simulation.step()
            simulation.step(4)
            expected = 0.1 * drawn[-1] / MASS
            expected[..., 1] += 0.02 * 4.0 / MASS
            np.testing.assert_allclose(speeds(simulation), expected, rtol=1e-4, atol=1e-6)

    assert all((each[..., 0] >= 1.0).all() and (each[..., 0] <= 2.0).all() for each in drawn)
    assert len(np.unique(drawn)) == 4 * drawn[0][..., 0].size + 1  # and zero


def test_a_force_beside_the_centre_of_mass_turns_the_body():
    """Angular velocity after a step: I⁻¹ (arm × F) dt, of a body that is turned a quarter about z."""
    event = {**LOAD, "bodies": ["block"], "offset": [0.2, 0.0, 0.1]}
    with build(event, decimation=1) as simulation:
        q = simulation.state.joint_q.numpy()
        q.reshape(3, 2, 7)[:, 0, 3:] = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]
        simulation.state.joint_q.assign(q)
        simulation.invalidate("joints")
        force = simulation.task.events["it"].wrenches.numpy()[:, 0, :3]
        simulation.step()
        found = speeds(simulation)[:, 0]

    np.testing.assert_allclose(found[:, :3], force * 0.01 / MASS, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[:, 3:], np.cross([0.0, 0.2, 0.1], force) * 0.01 / INERTIA, rtol=1e-4, atol=1e-6)


def test_a_reset_ends_the_blows_of_its_worlds():
    with build({**BLOW, "duration": [5.0, 5.0]}) as simulation:
        simulation.step(6)
        simulation.reset([1])
        simulation.step(2)
        found = speeds(simulation)[:, 0, 0]

    np.testing.assert_allclose(found, [0.06 * 3.0 / MASS, 0.0, 0.06 * 3.0 / MASS], rtol=1e-4)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"duration": None}, 'events.it.duration: needs when = "interval", which needs it'),
        ({"duration": [0.0, 0.1]}, r"events.it.duration: must be a range \[low, high\] above 0"),
        ({"when": "reset", "period": None}, 'events.it.duration: needs when = "interval"'),
        ({"bodies": ["brick"]}, "events.it.bodies: .*brick"),
    ],
)
def test_a_blow_needs_its_length_and_its_bodies(changes, fault):
    table = {key: value for key, value in {**BLOW, **changes}.items() if value is not None}
    with pytest.raises(pippin.ConfigError, match=fault):
        build(table)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"is_kinematic": True}, "events.it.bodies: 'block' is kinematic, so no force moves it"),
        ({"solver": "style3d", "worlds": 1}, "'style3d' does not support rigid_bodies"),
    ],
)
def test_what_no_force_moves_is_refused(changes, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        build(LOAD, **changes)
