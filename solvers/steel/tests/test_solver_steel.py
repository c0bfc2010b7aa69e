"""The Steel plugin: Newton's options with Newton's defaults, and a solver that obeys them."""

import inspect

import attrs
import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin_solver_steel import SteelConfig
from pippin_solver_steel.solver import SolverSteel

UNBOUNDED = {"joint_limit_activation_gap"}
"""Fields whose None stands for Newton's infinity, which no file can hold."""


def newton_options():
    parameters = inspect.signature(newton.solvers.SolverSteel).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.name != "model"}


@pytest.mark.alone
def test_options_and_defaults_are_those_of_newton():
    theirs, ours = newton_options(), {field.name: field.default for field in attrs.fields(SteelConfig)}

    assert {theirs[name] for name in UNBOUNDED} == {float("inf")}
    theirs |= dict.fromkeys(UNBOUNDED)
    assert ours == theirs


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("iterations", -1),
        ("iterations", 2.5),
        ("baumgarte", float("nan")),
        ("velocity_limit_activation_fraction", 1.5),
        ("articulation_constraint_max", 0),
        ("joint_limit_activation_gap", float("inf")),
        ("enable_joint_limits", 1),
        ("friction_mode", "exact"),
        ("solve_mode", "split"),
        ("deterministic", "run-to-run"),
    ],
)
def test_a_bad_option_is_refused_by_name(option, value):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}: "):
        pippin.structure({"solver": {"type": "steel", option: value}})


def test_colours_need_the_propagation_response():
    config = pippin.structure({"solver": {"type": "steel", "solve_mode": "colored"}})

    with pytest.raises(pippin.ConfigError, match=r"^solver\.solve_mode: 'colored', .* = 'propagation'"):
        pippin.Simulation(config)


LENGTH, INERTIA, MASS = 0.5, 0.02, 1.0
SIDE, DENSITY = 0.2, 500.0


@pytest.fixture(scope="module")
def scene():
    """A pendulum, and two boxes on top of each other, side by side."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverSteel.register_custom_attributes(builder)
    bob = builder.add_link(label="bob", mass=MASS, inertia=wp.diag(wp.vec3(INERTIA)))
    builder.body_com[bob] = wp.vec3(0.0, 0.0, -LENGTH)
    pivot = wp.transform(wp.vec3(0.0, 2.0, 2.0), wp.quat_identity())
    hinge = builder.add_joint_revolute(
        -1, bob, parent_xform=pivot, axis=(0.0, 1.0, 0.0), limit_lower=-0.02, limit_upper=1.0, label="hinge"
    )
    builder.add_articulation([hinge], label="pendulum")
    builder.joint_q[0] = 0.05
    for index in range(2):
        pose = wp.transform(wp.vec3(0.0, 0.0, SIDE * (index + 0.5)), wp.quat_identity())
        box = builder.add_body(xform=pose, label=f"box_{index}")
        shape = newton.ModelBuilder.ShapeConfig(density=DENSITY, mu=0.5)
        builder.add_shape_box(box, hx=SIDE / 2, hy=SIDE / 2, hz=SIDE / 2, cfg=shape)
    return builder


class ContactForces:
    """Keeps what the solver says about contact forces."""

    observables = frozenset({"contact_f"})

    @pippin.hookimpl
    def update_sensors(self, contacts, observables):
        self.contacts, self.forces = contacts, observables.contact_f

    def vertical_on(self, shape):
        """Return the sum of the vertical forces between a shape and all others [N]."""
        count = int(self.contacts.rigid_contact_count.numpy()[0])
        sides = [getattr(self.contacts, f"rigid_contact_shape{side}").numpy()[:count] for side in (0, 1)]
        vertical = self.forces.numpy()[:count, 2]
        return vertical[sides[0] == shape].sum() - vertical[sides[1] == shape].sum()


# The pendulum has a limit, which Steel takes part in if its option says so.
pytestmark = pytest.mark.simulation(
    dt=0.002,
    capture="require",
    accept_unsupported=["joint_limits"],
    ground=True,
    solver={"type": "steel"},
    options="solver",
)


@pytest.mark.alone
def test_options_reach_the_solver(simulate, scene):
    with simulate(scene, iterations=7, enable_joint_limits=True, articulation_constraint_max=48) as simulation:
        solver = simulation.solver

    assert isinstance(solver, newton.solvers.SolverSteel)
    assert (solver.iterations, solver.enable_joint_limits) == (7, True)
    assert np.isinf(solver.joint_limit_activation_gap)
    assert simulation.model.steel.rigid_body_linear_damping.numpy().shape == (3,)


@pytest.mark.parametrize("enable_sleeping", [False, True])
def test_declared_observables_are_those_of_the_solver(simulate, scene, enable_sleeping):
    config = SteelConfig(enable_sleeping=enable_sleeping)
    with simulate(scene, **attrs.asdict(config, filter=lambda _, value: value is not None)) as simulation:
        assert SolverSteel(config).supported_observables == simulation.solver.supported_observables


def test_a_stack_rests_and_the_ground_bears_its_weight(simulate, scene):
    """Baumgarte keeps a penetration well under a millimetre; the weight is met within a percent."""
    probe = ContactForces()
    with simulate(scene, plugins=[probe]) as simulation:
        simulation.step(500)
        simulation.raise_errors()

        height = simulation.state.body_q.numpy()[1:, 2]
        speed = np.abs(simulation.state.body_qd.numpy()[1:]).max()
        ground = simulation.model.shape_label.index("ground_plane")

        assert simulation.program.is_captured
        np.testing.assert_allclose(height, [SIDE / 2, 3 * SIDE / 2], atol=1e-3)
        assert speed < 1e-3
        weight = 2 * DENSITY * SIDE**3 * 9.81
        assert probe.vertical_on(ground) == pytest.approx(-weight, rel=0.01)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("enable_joint_limits", [False, True])
def test_a_pendulum_swings_by_the_formula_and_its_limit_holds_if_enabled(simulate, scene, enable_joint_limits):
    """T = 2π √((I + m l²) / (m g l)): after half of it the bob is on the other side, where its limit stops it."""
    period = 2 * np.pi * np.sqrt((INERTIA + MASS * LENGTH**2) / (MASS * 9.81 * LENGTH))
    with simulate(scene, enable_joint_limits=enable_joint_limits) as simulation:
        angles = []
        for _ in range(int(period / 0.002)):
            simulation.step()
            angles.append(simulation.state.joint_q.numpy()[0])

    first_zero = np.flatnonzero(np.diff(np.sign(angles)))[0] * 0.002
    assert first_zero == pytest.approx(period / 4, rel=0.02)
    if enable_joint_limits:
        assert min(angles) == pytest.approx(-0.02, abs=1e-3)
    else:
        assert min(angles) == pytest.approx(-0.05, rel=0.02)


def test_a_larger_interval_of_the_mass_matrix_runs_eagerly(simulate, scene):
    with simulate(scene, capture="auto", update_mass_matrix_interval=2) as simulation:
        simulation.step(2)

        assert "not capturable: a graph would repeat one choice" in str(simulation.program)


def test_dropped_rows_are_reported_with_the_number_that_would_fit(simulate, scene):
    """Eight contacts of three rows each; the boxes are free bodies."""
    with simulate(scene, worlds=2, free_body_constraint_max=9, row_watermark=True) as simulation:
        simulation.step(5)

        with pytest.raises(
            pippin.SimulationError,
            match=r"^solver\.free_body_constraint_max: 2\d rows of a world \(free body\) did not fit into 9; set",
        ):
            simulation.raise_errors()


def test_dropped_rows_are_reported_where_nobody_counts_them(simulate, scene):
    with simulate(scene, free_body_constraint_max=9) as simulation:
        simulation.step(5)

        with pytest.raises(
            pippin.SimulationError,
            match=r"^solver: rows did not fit into articulation_constraint_max = 32, free_body_constraint_max = 9;",
        ):
            simulation.raise_errors()


def test_rows_that_fit_are_not_fault_and_a_reset_forgets_those_that_did_not(simulate, scene):
    with simulate(scene, free_body_constraint_max=9) as simulation:
        simulation.step(5)
        simulation.reset()

        simulation.raise_errors()


def test_a_warm_start_needs_matched_contacts(simulate, scene):
    with pytest.raises(pippin.ConfigError, match=r"^solver\.contact_warmstart: .*collision\.contact_matching is"):
        simulate(scene, contact_warmstart=True)


CONFORMANCE = conformance.Conformance("solver", "steel")


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
