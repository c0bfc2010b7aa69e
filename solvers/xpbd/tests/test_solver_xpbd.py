"""The XPBD plugin: Newton's options with Newton's defaults, and a solver that obeys them."""

import inspect

import attrs
import newton
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin_solver_xpbd import XPBDConfig

OWN = {"disable_particle_contacts": False, "joint_linear_relaxation": 0.5, "joint_angular_relaxation": 0.5}
"""Options that Newton has not, and other defaults: unequal relaxations give bodies on joints wrong inertias."""


def newton_options():
    parameters = inspect.signature(newton.solvers.SolverXPBD).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.name != "model"}


@pytest.mark.alone
def test_options_and_defaults_are_those_of_newton():
    theirs, ours = newton_options(), {field.name: field.default for field in attrs.fields(XPBDConfig)}

    assert ours == theirs | OWN


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("iterations", 0),
        ("iterations", 2.5),
        ("joint_linear_compliance", -1e-6),
        ("rigid_contact_relaxation", float("nan")),
        ("angular_damping", float("inf")),
        ("enable_restitution", 1),
        ("deterministic", "run-to-run"),
    ],
)
def test_a_bad_option_is_refused_by_name(option, value):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}: "):
        pippin.structure({"solver": {"type": "xpbd", option: value}})


@pytest.fixture
def sphere():
    """A sphere that touches the ground."""
    builder = newton.ModelBuilder()
    body = builder.add_body(label="ball", xform=wp.transform((0.0, 0.0, 0.1), wp.quat_identity()))
    builder.add_shape_sphere(body, radius=0.1)
    return builder


pytestmark = pytest.mark.simulation(dt=0.002, capture="require", ground=True, solver={"type": "xpbd"}, options="solver")


@pytest.mark.alone
def test_options_reach_the_solver(simulate, sphere):
    with simulate(sphere, iterations=7, enable_restitution=True) as simulation:
        assert isinstance(simulation.solver, newton.solvers.SolverXPBD)
        assert simulation.solver.iterations == 7
        assert simulation.solver.enable_restitution is True


def test_a_sphere_rests_on_the_ground_at_its_radius(simulate, sphere):
    """Position-based contacts have no stiffness: nothing sinks in. The tolerance is the float's, over 500 steps."""
    with simulate(sphere) as simulation:
        simulation.step(500)

        height = simulation.state.body_q.numpy()[0, 2]

    assert height == pytest.approx(0.1, abs=1e-5)


def test_restitution_gives_back_its_part_of_the_velocity():
    """1 m/s against the ground, e = 1 and e = 0: Newton takes the mean of the two shapes, so 0.5 m/s come back."""
    builder = newton.ModelBuilder()
    body = builder.add_body(label="ball", xform=wp.transform((0.0, 0.0, 0.11), wp.quat_identity()))
    builder.add_shape_sphere(body, radius=0.1, cfg=newton.ModelBuilder.ShapeConfig(restitution=1.0))
    builder.joint_qd[2] = -1.0
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002},
        "scene": {"ground": True, "gravity": [0.0, 0.0, 0.0]},
        "solver": {"type": "xpbd", "enable_restitution": True},
    }

    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.step(20)

        velocity = simulation.state.body_qd.numpy()[0, 2]

    assert velocity == pytest.approx(0.5, rel=1e-4)


@pytest.mark.slow
def test_a_net_hangs_by_the_formula(simulate):
    """XPBD has springs and no triangles. Spring k of n carries the n - k + 1 particles below it; 1 % is left of 2 s."""
    columns, rows, cell, mass, stiffness = 3, 6, 0.05, 0.01, 200.0
    builder = newton.ModelBuilder()
    for row in range(rows + 1):
        for column in range(columns):
            above, beside = len(builder.particle_q) - columns, len(builder.particle_q) - 1
            here = builder.add_particle(
                wp.vec3(column * cell, 0.0, 1.0 - row * cell), wp.vec3(), mass if row else 0.0, radius=0.01
            )
            if row:
                builder.add_spring(above, here, stiffness, 0.5, 0.0)
            if row and column:
                builder.add_spring(beside, here, stiffness, 0.5, 0.0)

    with simulate(builder, iterations=20) as simulation:
        simulation.step(1000)
        lowest = simulation.state.particle_q.numpy()[-columns:, 2]

    assert simulation.program.is_captured
    stretched = mass * 9.81 / stiffness * rows * (rows + 1) / 2
    assert lowest == pytest.approx(1.0 - rows * cell - stretched, abs=0.01 * stretched)


CONFORMANCE = conformance.Conformance(
    "solver",
    "xpbd",
    expected_failures={
        "observable_contact_f_of_stacks": "with rigid_contact_con_weighting, each of two bodies divides an impulse by"
        " its own number of contacts, so that the forces on them are not opposite; the observable has one for both",
        "feature_tetrahedra": "its constraint tr(FᵀF) - 3 grows with the square of a shear, which stays almost free",
    },
)


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


@pytest.mark.slow
def test_forces_in_a_stack_are_right_without_weights_of_contacts():
    unweighted = conformance.Conformance("solver", "xpbd", config={"rigid_contact_con_weighting": False})

    result = unweighted.run("observable_contact_f_of_stacks")

    assert (result.outcome, result.reason) == ("passed", "")
