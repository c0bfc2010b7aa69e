"""The Featherstone plugin: Newton's options with Newton's defaults, and a solver that obeys them."""

import inspect

import attrs
import newton
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin_solver_featherstone import FeatherstoneConfig

LEFT_OUT = {
    "friction_smoothing": "deprecated in Newton 1.8, and ignored",
}


def newton_options():
    parameters = inspect.signature(newton.solvers.SolverFeatherstone).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.name != "model"}


@pytest.mark.alone
def test_options_and_defaults_are_those_of_newton():
    theirs, ours = newton_options(), {field.name: field.default for field in attrs.fields(FeatherstoneConfig)}

    assert ours == {name: default for name, default in theirs.items() if name not in LEFT_OUT}


def test_what_is_left_out_is_an_option_of_newton():
    assert LEFT_OUT.keys() <= newton_options().keys()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("angular_damping", -0.1),
        ("angular_damping", float("nan")),
        ("update_mass_matrix_interval", 0),
        ("update_mass_matrix_interval", 1.5),
        ("use_tile_gemm", "yes"),
        ("fuse_cholesky", 0),
        ("friction_smoothing", 1.0),
    ],
)
def test_a_bad_option_is_refused_by_name(option, value):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}: "):
        pippin.structure({"solver": {"type": "featherstone", option: value}})


@pytest.fixture
def sphere():
    """A sphere that touches the ground."""
    builder = newton.ModelBuilder()
    body = builder.add_body(label="ball", xform=wp.transform((0.0, 0.0, 0.1), wp.quat_identity()))
    builder.add_shape_sphere(body, radius=0.1)
    return builder


def test_an_option_of_earlier_versions_is_refused_with_what_replaced_it():
    with pytest.raises(pippin.ConfigError, match=r"^solver\.friction_smoothing: not a key any more; set kf of"):
        pippin.structure({"solver": {"type": "featherstone", "friction_smoothing": 1.0}})


pytestmark = pytest.mark.simulation(dt=0.001, ground=True, solver={"type": "featherstone"}, options="solver")


@pytest.mark.alone
def test_options_reach_the_solver(simulate, sphere):
    with simulate(sphere, angular_damping=0.25, update_mass_matrix_interval=3) as simulation:
        assert isinstance(simulation.solver, newton.solvers.SolverFeatherstone)
        assert simulation.solver.angular_damping == 0.25
        assert simulation.solver.update_mass_matrix_interval == 3


def test_a_sphere_sinks_into_the_ground_until_the_penalty_carries_it(simulate, sphere):
    """Depth m g / ke, the mean ke of the two shapes. Settled to a hundredth of it after 1 s."""
    with simulate(sphere) as simulation:
        simulation.step(1000)

        depth = 0.1 - simulation.state.body_q.numpy()[0, 2]
        mass, stiffness = simulation.model.body_mass.numpy()[0], simulation.model.shape_material_ke.numpy().mean()

    assert depth == pytest.approx(mass * 9.81 / stiffness, rel=1e-2)


def test_newton_keeps_its_angular_damping_without_applying_it(simulate, sphere):
    """What the plugin's docstring says of Newton 1.8; where this fails, the option has begun to work."""
    sphere.joint_q[2], sphere.joint_qd[5] = 1.0, 2.0
    with simulate(sphere, gravity=0.0, angular_damping=0.5) as simulation:
        simulation.step(200)

        spin = simulation.state.body_qd.numpy()[0, 5]

    assert spin == pytest.approx(2.0, rel=1e-6)


def test_a_mass_matrix_that_is_kept_for_some_steps_is_not_recorded(simulate, sphere):
    """A graph would repeat for ever what the solver decided while it was recorded."""
    with simulate(sphere, update_mass_matrix_interval=2) as simulation:
        simulation.step(2)

        assert simulation.program.eager_reasons.keys() == {"step_solver(solver)"}


FINGER = 1e-5
"""Inertia of a finger about its joint [kg·m²]."""


@pytest.fixture
def finger():
    """A finger that a joint ties to the world."""
    builder = newton.ModelBuilder()
    link = builder.add_link(mass=0.01, inertia=wp.mat33(*(FINGER * n for n in (1, 0, 0, 0, 1, 0, 0, 0, 1))))
    joint = builder.add_joint_revolute(-1, link, axis=(0.0, 0.0, 1.0), damping=0.0, limit_lower=-1.0, limit_upper=1.0)
    builder.add_articulation([joint])
    return builder


def test_a_damper_is_implicit(simulate, finger):
    """Each step divides the speed by 1 + dt d / I, 6 here; with the force of its start, it would multiply it by -4."""
    finger.joint_damping[0], finger.joint_qd[0] = 0.05, 2.0
    with simulate(finger, ground=False, gravity=0.0) as simulation:
        simulation.step(3)

        speed = simulation.state.joint_qd.numpy()[0]

    assert speed == pytest.approx(2.0 / 6.0**3, rel=1e-3)


def test_a_limit_that_a_step_does_not_resolve_brings_a_light_finger_back(simulate, finger):
    """Newton's limit, 10^4 N·m/rad and 10 N·m·s/rad, would need steps of 2 µs for this finger."""
    finger.joint_q[0] = 1.2
    with simulate(finger, ground=False, gravity=0.0) as simulation:
        angles = []
        for _ in range(10):
            simulation.step(100)
            angles.append(simulation.state.joint_q.numpy()[0])

    assert angles == sorted(angles, reverse=True)
    assert angles[-1] == pytest.approx(1.0, abs=0.01)


CONFORMANCE = conformance.Conformance("solver", "featherstone")


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
