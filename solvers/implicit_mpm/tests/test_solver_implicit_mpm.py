"""The implicit MPM plugin: Newton's options with Newton's defaults, and a solver that obeys them."""

import copy
import dataclasses
import inspect

import attrs
import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin_solver_implicit_mpm import ImplicitMPMConfig
from pippin_solver_implicit_mpm.solver import SolverImplicitMPM

OURS = {"project_outside_colliders"}
LEFT_OUT = {"temporary_store"}
"""Given by the plugin, which keeps one for each solver."""


def newton_options():
    parameters = inspect.signature(newton.solvers.SolverImplicitMPM).parameters.values()
    options = {
        parameter.name: parameter.default for parameter in parameters if parameter.name not in ("model", "config")
    }
    return dataclasses.asdict(newton.solvers.SolverImplicitMPM.Config()) | options


@pytest.mark.alone
def test_options_and_defaults_are_those_of_newton():
    theirs, ours = newton_options(), attrs.asdict(ImplicitMPMConfig())

    assert theirs.keys() >= LEFT_OUT
    assert {name: default for name, default in theirs.items() if name not in LEFT_OUT} == {
        name: default for name, default in ours.items() if name not in OURS
    }


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_iterations", 0),
        ("voxel_size", 0.0),
        ("critical_fraction", 1.5),
        ("air_drag", float("nan")),
        ("max_active_cell_count", 0),
        ("solver", "newton"),
        ("solver", ["cr", "newton"]),
        ("grid_type", "hashed"),
        ("collider_velocity_mode", "instantaneous"),
        ("strain_basis", "P1"),
        ("collider_basis", "picture"),
        ("velocity_basis", "Q2"),
    ],
)
def test_a_bad_option_is_refused_by_name(option, value):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}\b.*: "):
        pippin.structure({"solver": {"type": "implicit-mpm", option: value}})


DT, CELL, COUNTS, HEIGHT, DENSITY = 0.005, 0.025, (6, 6, 12), 0.1, 1000.0


@pytest.fixture(scope="module")
def column():
    """A column of sand, four times as high as it is wide at each side of its axis, that falls onto the ground."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverImplicitMPM.register_custom_attributes(builder)
    builder.add_particle_grid(
        pos=wp.vec3(-CELL * 2.5, -CELL * 2.5, HEIGHT + CELL / 2),
        rot=wp.quat_identity(),
        vel=wp.vec3(0.0),
        dim_x=COUNTS[0],
        dim_y=COUNTS[1],
        dim_z=COUNTS[2],
        cell_x=CELL,
        cell_y=CELL,
        cell_z=CELL,
        mass=DENSITY * CELL**3,
        jitter=0.0,
        radius_mean=CELL / 2,
    )
    return builder


SOLVER = {"type": "implicit-mpm", "voxel_size": 2 * CELL}

pytestmark = [pytest.mark.slow, pytest.mark.simulation(dt=DT, ground=True, solver=SOLVER, options="solver")]


@pytest.mark.alone
def test_options_reach_the_solver(simulate, column):
    with simulate(
        column, solver={**SOLVER, "solver": ["cr", "gs"]}, tolerance=1e-3, transfer_scheme="pic"
    ) as simulation:
        solver = simulation.solver

    assert isinstance(solver, newton.solvers.SolverImplicitMPM)
    assert (solver.solver, solver.tolerance, solver.apic) == (("cr", "gs"), 1e-3, False)
    assert solver.voxel_size == pytest.approx(2 * CELL)
    assert SolverImplicitMPM.supported_observables == solver.supported_observables


def test_a_column_falls_by_the_formula_collapses_and_comes_to_rest(simulate, column):
    """Symplectic Euler until it touches the ground; then friction takes energy, and nothing gives any.

    It spreads alike to all sides. A pile at rest is no steeper than the friction angle, whose tangent is 0.5.
    """
    energies, centres, falling = [], [], 10
    with simulate(column) as simulation:
        mass = simulation.model.particle_mass.numpy()
        for _ in range(150):
            simulation.step()
            position, velocity = (
                getattr(simulation.state, name).numpy().astype(float) for name in ("particle_q", "particle_qd")
            )
            energies.append(np.sum(mass * (9.81 * position[:, 2] + 0.5 * np.sum(velocity**2, axis=1))))
            centres.append(np.average(position, axis=0, weights=mass))
        simulation.raise_errors()

    fallen = HEIGHT + CELL * COUNTS[2] / 2 - centres[falling - 1][2]
    assert fallen == pytest.approx(9.81 * DT**2 * falling * (falling + 1) / 2, rel=1e-3)
    assert np.diff(energies).max() < 1e-4 * energies[0]
    np.testing.assert_allclose(np.array(centres)[:, :2], 0.0, atol=1e-4)
    assert np.abs(velocity).max() < 0.02
    assert position[:, 2].min() > 0.0
    assert position[:, 2].max() / np.abs(position[:, 0]).max() < 0.5
    assert np.abs(position[:, 0]).max() > 2 * CELL * COUNTS[0] / 2


def test_a_step_runs_eagerly_on_the_cpu_and_says_why(simulate, column):
    with simulate(column) as simulation:
        simulation.step(2)

        assert "step_solver(solver): solver declares that it is not capturable: on the CPU" in str(simulation.program)
        assert not simulation.program.is_captured

    with pytest.raises(pippin.SimulationError, match=r"'require', but step_solver\(solver\) .* on the CPU"):
        simulate(column, capture="require")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"max_active_cell_count": 512}, None),
        ({"max_active_cell_count": 512, "grid_type": "fixed", "grid_padding": 2}, None),
        ({"max_active_cell_count": 512, "strain_basis": "pic8"}, None),
        ({"max_active_cell_count": 512, "strain_basis": "pic"}, "must be bounded"),
        ({"max_active_cell_count": 512, "grid_padding": 2}, "allocated in each substep"),
        ({"max_active_cell_count": 512, "enable_timers": True}, "synchronises"),
        ({}, "set max_active_cell_count"),
    ],
)
def test_elsewhere_it_can_be_captured_where_its_grid_keeps_its_place(options, reason):
    plugin = SolverImplicitMPM(ImplicitMPMConfig(**options))

    assert plugin.is_capturable == (reason is None)
    assert (reason or "") in (plugin.eager_reason or "")


def test_a_world_that_starts_over_leaves_the_others_alone(simulate, column):
    """Each world has a grid of its own, which on the CPU must be dense; positions agree within a micron."""
    with simulate(column, worlds=2, separate_worlds=True, grid_type="dense") as simulation:
        simulation.step(20)
        first = simulation.state.particle_q.numpy().reshape(2, -1).copy()
        simulation.step(5)
        before = simulation.state.particle_q.numpy().reshape(2, -1).copy()
        simulation.reset([1])
        after = simulation.state.particle_q.numpy().reshape(2, -1).copy()
        simulation.step(20)
        second = simulation.state.particle_q.numpy().reshape(2, -1).copy()

    assert np.array_equal(after[0], before[0])
    np.testing.assert_allclose(second[1], first[1], atol=1e-6)
    assert np.abs(second[0] - first[0]).max() > 0.01


@pytest.mark.parametrize("worlds", [None, [0], [True]])
def test_a_single_world_starts_over(simulate, column, worlds):
    """Newton clears what one grid remembers only for all particles at once."""
    with simulate(column) as simulation:
        simulation.step(2)
        first = simulation.state.particle_q.numpy().copy()
        simulation.reset(worlds)
        simulation.step(1)
        simulation.reset([])
        simulation.step(1)
        second = simulation.state.particle_q.numpy().copy()

    np.testing.assert_allclose(second, first, atol=1e-6)


def test_worlds_on_one_grid_are_refused(simulate, column):
    with pytest.raises(pippin.ConfigError, match=r"particle_worlds .* worlds 0:2; set solver\.separate_worlds = true"):
        simulate(column, worlds=2)


def test_grains_without_a_mass_stay_and_hold_up_those_above(simulate, column):
    """Newton gives their nodes of the grid an infinite mass."""
    hanging = copy.deepcopy(column)
    count = hanging.particle_count
    heights = np.array(hanging.particle_q)[:, 2]
    is_held = heights < np.median(heights)
    for grain in np.flatnonzero(is_held):
        hanging.particle_mass[grain] = 0.0
    with simulate(hanging) as held, simulate(column) as free:
        for simulation in (held, free):
            simulation.step(100)
        places = held.state.particle_q.numpy(), free.state.particle_q.numpy()

    assert places[0].shape == (count, 3)
    np.testing.assert_allclose(places[0][is_held], np.array(hanging.particle_q)[is_held], atol=1e-5)
    assert places[0][~is_held, 2].mean() > places[1][~is_held, 2].mean() + HEIGHT / 2
    assert np.isfinite(places[0]).all()


def test_a_scene_without_particles_is_refused(simulate):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    plate = builder.add_body()
    builder.body_flags[plate] = int(newton.BodyFlags.KINEMATIC)
    builder.add_shape_sphere(plate, radius=0.1)

    with pytest.raises(pippin.ConfigError, match=r"^solver\.type: 'implicit-mpm' moves particles, got 0"):
        simulate(builder)


def test_a_grid_that_is_too_small_is_refused(simulate, column):
    with pytest.raises(
        pippin.ConfigError, match=r"^solver\.grid_type: 'sparse' .* increase Config\.max_active_cell_count"
    ):
        simulate(column, max_active_cell_count=8)


def test_a_dense_grid_needs_particles_that_fill_a_volume(simulate):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverImplicitMPM.register_custom_attributes(builder)
    for position in ([0.0, 0.0, 0.0], [0.1, 0.0, 0.0]):
        builder.add_particle(position, [0.0, 0.0, 0.0], mass=1.0, radius=0.05)

    with pytest.raises(
        pippin.ConfigError, match=r"^solver\.grid_type: 'dense' .* all lie in a plane, .*; add particles"
    ):
        simulate(builder, separate_worlds=True, grid_type="dense")


def test_a_collision_table_is_refused_for_the_grid_has_its_own_colliders(column):
    tables = {
        "scene": {"ground": True},
        "solver": {"type": "implicit-mpm"},
        "collision": {"broad_phase": "sap"},
    }

    with pytest.raises(pippin.ConfigError, match=r"^collision: solver 'implicit-mpm' detects contacts itself"):
        pippin.Simulation(pippin.structure(tables), prototype=column)


def test_a_moved_body_carries_particles_along(simulate, column):
    """A plate below the column, moved up by hand from step to step: the particles above it rise with it."""
    builder = copy.deepcopy(column)
    pose = wp.transform(wp.vec3(0.0, 0.0, 0.05), wp.quat_identity())
    plate = builder.add_body(xform=pose)
    builder.body_flags[plate] = int(newton.BodyFlags.KINEMATIC)
    builder.add_shape_box(plate, hx=0.3, hy=0.3, hz=0.05)
    with simulate(builder, project_outside_colliders=True) as simulation:
        for _ in range(20):
            poses = simulation.state.body_q.numpy().copy()
            poses[0, 2] += 0.005
            simulation.state.body_q.assign(poses)
            simulation.step()

        assert simulation.state.body_q.numpy()[0, 2] == pytest.approx(0.15, abs=1e-6)
        assert simulation.state.particle_q.numpy()[:, 2].min() > 0.19


def test_it_cannot_be_saved_and_says_why(simulate, column, tmp_path):
    with (
        simulate(column) as simulation,
        pytest.raises(pippin.SimulationError, match=r"^save: solver: 'implicit-mpm' lays its grid out anew"),
    ):
        simulation.save(tmp_path / "never.npz")

    assert not (tmp_path / "never.npz").exists()


CONFORMANCE = conformance.Conformance(
    "solver",
    "implicit-mpm",
    config={"separate_worlds": True, "grid_type": "dense"},  # as it must be on the CPU
    expected_failures={
        "allocation": "the solver rebuilds its grid in each substep",
        "checkpoint": "the grid is rebuilt in each substep, and its data cannot be saved",
        "feature_particle_contacts": "grains meet on the grid alone, and a single one passes a wall of others",
        **dict.fromkeys(("relation_rotate", "relation_turn"), "its grid lies along the axes, with cells of 0.1 m"),
        "worlds": "the rheology of all worlds is one system, which is iterated until all worlds have converged",
    },
)


@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
