"""A kinematic body, whose velocity a user sets: its surface moves, and carries what lies on it; the body stays."""

from __future__ import annotations

import newton
import numpy as np
import pippin
import pytest
import warp as wp

pytestmark = pytest.mark.simulation(worlds=2, dt=0.002)

SPEED, SOLVERS = 0.5, ("featherstone", "semi-implicit", "xpbd", "kamino", "mujoco")


def belt():
    """Return a box on a kinematic block."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    for label, height, half in (("belt", 0.4, (1.0, 0.2, 0.1)), ("box", 0.549, (0.1, 0.1, 0.05))):
        place = wp.transform(wp.vec3(0.0, 0.0, height), wp.quat_identity())
        inertia = wp.diag(wp.vec3(0.004, 0.004, 0.006))
        body = builder.add_link(label=label, mass=1.0, inertia=inertia, xform=place, is_kinematic=label == "belt")
        builder.add_articulation([builder.add_joint_free(body)], label=label)
        shape = newton.ModelBuilder.ShapeConfig(density=0.0, mu=0.8)
        builder.add_shape_box(body, hx=half[0], hy=half[1], hz=half[2], cfg=shape)
    return builder


def rows(values, worlds=2):
    return np.tile(np.array(values, dtype=np.float32), (worlds, 1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_velocity_carries_what_lies_on_the_body_in_the_asked_world_alone(simulate, solver):
    options = {"substeps": 4} if solver == "semi-implicit" else {}
    with simulate(belt, solver=solver, **options) as simulation:
        block, box = (simulation.view.rigid_bodies(name) for name in ("belt", "box"))
        block.set_velocities(rows([SPEED, 0.0, 0.0, 0.0, 0.0, 0.0]), indices=[1])
        simulation.step(80)
        speeds = box.get_velocities().numpy()[:, 0]
        own, place = block.get_velocities().numpy()[:, 0], block.get_transforms().numpy()[:, 0]

    np.testing.assert_allclose(own, [0.0, SPEED], atol=1e-6)
    np.testing.assert_allclose(place, 0.0, atol=1e-4)
    np.testing.assert_allclose(speeds, [0.0, SPEED], atol=0.03)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_pose_is_kept_and_a_force_moves_nothing(simulate, solver):
    options = {"substeps": 4} if solver == "semi-implicit" else {}
    with simulate(belt, solver=solver, **options) as simulation:
        block = simulation.view.rigid_bodies("belt")
        block.set_transforms(rows([0.0, 3.0, 2.0, 0.0, 0.0, 0.0, 1.0]), indices=[1])
        for _ in range(10):
            block.apply_forces(rows([50.0, 0.0, 0.0]))
            simulation.step()
        places = block.get_transforms().numpy()[:, :3]

    np.testing.assert_allclose(places, [[0.0, 0.0, 0.4], [0.0, 3.0, 2.0]], atol=1e-4)


SETTERS = {
    "pose": (lambda simulation, what: simulation.view.rigid_bodies("belt").set_transforms(what, indices=[1]), 0),
    "velocity": (lambda simulation, what: simulation.view.rigid_bodies("belt").set_velocities(what, indices=[1]), 1),
    "root pose": (lambda simulation, what: simulation.view.articulations("belt").set_root_transforms(what, [1]), 0),
    "root velocity": (lambda simulation, what: simulation.view.articulations("belt").set_root_velocities(what, [1]), 1),
}
WRITTEN = ([0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.3, 0.0, 0.0, 0.0, 0.0])
START = ([0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0], [0.0] * 6)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", SOLVERS)
def test_setters_hold_until_a_reset_of_the_world_and_over_a_checkpoint(simulate, tmp_path, solver):
    def seen(of):
        block = of.view.rigid_bodies("belt")
        return block.get_transforms().numpy().copy(), block.get_velocities().numpy().copy()

    with simulate(belt, solver=solver) as simulation:
        for name, (write, which) in SETTERS.items():
            write(simulation, rows(WRITTEN[which]))
            simulation.step(2)
            np.testing.assert_allclose(seen(simulation)[which], [START[which], WRITTEN[which]], atol=1e-5, err_msg=name)
            if name != "root velocity":
                simulation.reset([1])
                simulation.step(2)
                np.testing.assert_allclose(seen(simulation)[which], rows(START[which]), atol=1e-5, err_msg=name)
        simulation.reset([0])
        write(simulation, rows(WRITTEN[1]))
        simulation.save(tmp_path / "belt.checkpoint")
    with pippin.Simulation.load(tmp_path / "belt.checkpoint", prototype=belt()) as loaded:
        loaded.step(2)
        np.testing.assert_allclose(seen(loaded)[1], [START[1], WRITTEN[1]], atol=1e-5)


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        ({"type": "push", "period": [0.1, 0.1], "x": [0.1, 0.2]}, "body: 'belt' is kinematic.*after a push"),
        ({"type": "mass", "scale": [0.5, 2.0]}, "bodies: 'belt' is kinematic.*its mass"),
        ({"type": "centre-of-mass", "x": [0.0, 0.1]}, "bodies: 'belt' is kinematic.*centre of mass"),
        ({"type": "mass", "bodies": ["box"], "scale": [0.5, 2.0]}, None),
        ({"type": "root", "body": "belt", "z": [0.1, 0.2], "velocity": {"x": [0.1, 0.2]}}, None),
    ],
)
def test_an_event_that_changes_nothing_of_a_kinematic_body_is_refused(simulate, event, fault):
    def build():
        return simulate(belt, solver="featherstone", task={"episode_length": 1.0, "events": {"it": event}})

    if fault is not None:
        with pytest.raises(pippin.ConfigError, match=f"events.it.*{fault}"):
            build()
        return
    with build() as simulation:
        simulation.step(2)
        block = simulation.view.rigid_bodies("belt")
        height, speed = block.get_transforms().numpy()[:, 2], block.get_velocities().numpy()[:, 0]
    low, high = (0.1, 0.2) if event["type"] == "root" else (0.0, 0.0)
    assert np.all((height >= 0.4 + low - 1e-4) & (height <= 0.4 + high + 1e-4))
    assert np.all((speed >= low - 1e-5) & (speed <= high + 1e-5))


@pytest.mark.parametrize("solver", ["vbd", "steel", "mujoco-native"])
def test_a_solver_without_kinematic_bodies_refuses_them(simulate, solver):
    with pytest.raises(pippin.ConfigError, match=f"{solver}.*kinematic_bodies.*belt"):
        simulate(belt, solver=solver)
