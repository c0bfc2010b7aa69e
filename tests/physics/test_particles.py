"""Solvers of cloth and grains against formulas, each within the tolerance that checks.toml states."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path

import newton
import numpy as np
import pippin
import pytest
import warp as wp

ROWS = tomllib.loads(Path(__file__).with_name("checks.toml").read_text(encoding="utf-8"))
SOLVERS = [name for name, row in ROWS.items() if "particles" in row]
GRAVITY, DT, STEPS, CELL, MASS, SPEED, STRETCH = 9.81, 0.002, 100, 0.05, 0.01, 0.3, 1.05


def add_net(builder):
    """Add a net of springs."""
    for row in range(6):
        for column in range(6):
            here = builder.add_particle(
                wp.vec3(column * CELL, row * CELL, 0.0), wp.vec3(SPEED, 0.0, 0.0), MASS, radius=CELL / 5
            )
            if column:
                builder.add_spring(here - 1, here, 200.0, 0.0, 0.0)
            if row:
                builder.add_spring(here - 6, here, 200.0, 0.0, 0.0)


def flyer(solver):
    """Return a block of grains, or a cloth or net that is stretched along x, on its way along x."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    getattr(newton.solvers, ROWS[solver]["newton"]).register_custom_attributes(builder)
    grid = {"pos": wp.vec3(0.0), "rot": wp.quat_identity(), "vel": wp.vec3(SPEED, 0.0, 0.0)}
    grid |= {"dim_x": 5, "dim_y": 5, "cell_x": CELL, "cell_y": CELL, "mass": MASS}
    cloth = {**grid, "particle_radius": CELL / 5}  # neighbours do not touch
    if solver == "implicit-mpm":
        builder.add_particle_grid(**grid, dim_z=5, cell_z=CELL, jitter=0.0, radius_mean=CELL / 2)
        return builder
    if solver == "style3d":
        newton.solvers.style3d.add_cloth_grid(builder, **cloth, tri_aniso_ke=wp.vec3(200.0, 200.0, 50.0))
    elif solver == "xpbd":  # it has springs and no triangles
        add_net(builder)
    else:
        builder.add_cloth_grid(**cloth, tri_ke=200.0, tri_ka=200.0, tri_kd=0.0, edge_ke=1e-3)
    builder.particle_q = [wp.vec3(STRETCH * q[0], q[1], q[2]) for q in builder.particle_q]
    return builder


@functools.cache
def flight(solver):
    """Return the centre of mass [m] and the momentum of all particles [kg·m/s], each of shape [step_count + 1, 3]."""
    row = ROWS[solver]
    tables = {"simulation": {"device": "cpu", "dt": DT}, "solver": {"type": solver, **row.get("options", {})}}
    centres, momenta = [], []
    with pippin.Simulation(pippin.structure(tables), prototype=flyer(solver)) as simulation:
        mass = simulation.model.particle_mass.numpy().astype(float)
        for step in range(STEPS + 1):
            simulation.step(min(step, 1))
            centres.append(mass @ simulation.state.particle_q.numpy().astype(float) / mass.sum())
            momenta.append(mass @ simulation.state.particle_qd.numpy().astype(float))
        spread = np.ptp(simulation.state.particle_q.numpy()[:, 0])
    return np.array(centres), np.array(momenta), spread


def assert_within(solver, check, error):
    tolerance = ROWS[solver]["particles"][check]
    assert error <= tolerance, f"{check} of {solver}: error {error:.3g}, tolerance {tolerance:g}"


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_centre_of_particles_falls_by_the_formula(solver):
    """v = k (v + g h) and z from the velocity before k, which is what a solver keeps of it from step to step.

    The error is relative to the depth after 0.2 s.
    """
    kept = ROWS[solver].get("kept", 1.0)
    velocity = depth = 0.0
    for _ in range(STEPS):
        velocity += GRAVITY * DT
        depth += velocity * DT
        velocity *= kept

    centres, _, _ = flight(solver)

    assert_within(solver, "fall", abs((centres[0, 2] - centres[-1, 2]) / depth - 1))


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", SOLVERS)
def test_forces_between_particles_keep_the_momentum(solver):
    """Cloth and net spring back along x, and nothing outside acts. The error is relative to the first momentum."""
    kept = ROWS[solver].get("kept", 1.0)

    _, momenta, spread = flight(solver)

    expected = momenta[0, :2] * kept ** np.arange(STEPS + 1)[:, None]
    assert solver == "implicit-mpm" or spread < 5 * CELL * STRETCH - 1e-4, "the cloth has moved within itself"
    assert_within(solver, "momentum", np.linalg.norm(momenta[:, :2] - expected, axis=1).max() / momenta[0, 0])
