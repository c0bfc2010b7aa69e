"""The Style3D plugin: Newton's options with Newton's defaults, and a solver that obeys them."""

import copy
import dataclasses
import functools

import attrs
import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from newton.solvers import style3d
from pippin_solver_style3d import Style3DConfig
from pippin_solver_style3d.solver import SolverStyle3D


@pytest.mark.alone
def test_options_and_defaults_are_those_of_newton():
    assert attrs.asdict(Style3DConfig()) == dataclasses.asdict(newton.solvers.SolverStyle3D.Config())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("iterations", 0),
        ("iterations", True),
        ("linear_iterations", -1),
        ("drag_spring_stiff", float("nan")),
        ("enable_mouse_dragging", 1),
        ("nonlinear_iterations", 5),
    ],
)
def test_a_bad_option_is_refused_by_name(option, value):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}: "):
        pippin.structure({"solver": {"type": "style3d", option: value}})


DT, COLUMNS, ROWS, CELL, MASS, WARP, RADIUS, HEIGHT = 0.004, 4, 8, 0.05, 0.01, 400.0, 0.01, 0.05


@pytest.fixture(scope="module")
def scene():
    """A cloth that hangs from its upper edge, and a smaller one that falls flat onto the ground."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverStyle3D.register_custom_attributes(builder)
    cloth = {
        "vel": wp.vec3(0.0),
        "cell_x": CELL,
        "cell_y": CELL,
        "mass": MASS,
        "tri_aniso_ke": wp.vec3(WARP, WARP, WARP / 4),
        "edge_aniso_ke": wp.vec3(1e-4),
        "particle_radius": RADIUS,
        "dim_x": COLUMNS,
    }
    upright = wp.quat_from_axis_angle(wp.vec3(1.0, 0.0, 0.0), np.pi / 2)
    style3d.add_cloth_grid(builder, pos=wp.vec3(2.0, 0.0, 1.0), rot=upright, dim_y=ROWS, fix_top=True, **cloth)
    style3d.add_cloth_grid(builder, pos=wp.vec3(0.0, 0.0, HEIGHT), rot=wp.quat_identity(), dim_y=COLUMNS, **cloth)
    return builder


pytestmark = pytest.mark.simulation(dt=DT, capture="require", ground=True, solver={"type": "style3d"}, options="solver")


@pytest.mark.alone
def test_options_reach_the_solver(simulate, scene):
    with simulate(scene, iterations=3, linear_iterations=20) as simulation:
        config = simulation.solver.config

    assert isinstance(simulation.solver, newton.solvers.SolverStyle3D)
    assert (config.iterations, config.linear_iterations) == (3, 20)
    assert SolverStyle3D.supported_observables == simulation.solver.supported_observables


@pytest.mark.slow
def test_cloth_falls_lies_and_hangs_by_the_formulas(simulate, scene):
    """One run for both, as they do not touch.

    - Falling: implicit Euler, with 0.998 of the velocity kept from step to step, to the digits that float32 leaves.
    - Lying: the ground holds the particles at their radius; 1e-3 m is a third of what their weight costs at most.
    - Hanging: what is below a row pulls at it; strain is that over the stiffness along the warp, within 2 %.
    """
    count, fallen = (COLUMNS + 1) * (ROWS + 1), 15
    with simulate(scene) as simulation:
        simulation.step(fallen)
        falling = simulation.state.particle_q.numpy()[count:, 2].copy()
        simulation.step(500 - fallen)
        simulation.raise_errors()
        heights = simulation.state.particle_q.numpy()[:, 2]
        rows = simulation.model.particle_mass.numpy()[:count].reshape(ROWS + 1, COLUMNS + 1).sum(axis=1)

    assert simulation.program.is_captured
    velocity = depth = 0.0
    for _ in range(fallen):
        depth += (velocity + 9.81 * DT) * DT
        velocity = 0.998 * (velocity + 9.81 * DT)
    np.testing.assert_allclose(HEIGHT - falling, depth, rtol=1e-4)
    np.testing.assert_allclose(heights[count:], RADIUS, atol=1e-3)

    loads = np.cumsum(rows)[:ROWS] * 9.81 / (COLUMNS * CELL)
    assert 1.0 - heights[: COLUMNS + 1].mean() == pytest.approx(np.sum(loads) * CELL / WARP, rel=0.02)


def test_cloth_without_attributes_of_style3d_gets_those_of_the_same_cloth_with_them(simulate):
    """Cloth of a scene's objects has `tri_ke`, `tri_ka` and `edge_ke` alone; without the others, all would be NaN.

    With λ = 0, the strip resists with 2 μ. An edge of length e and triangles of area A resist as with 3 e edge_ke / A.
    """
    grid = {"pos": wp.vec3(0.0), "rot": wp.quat_identity(), "vel": wp.vec3(0.0), "dim_x": 3, "dim_y": 2, "mass": MASS}
    grid |= {"cell_x": 0.1, "cell_y": 0.07}
    plain, woven = newton.ModelBuilder(), newton.ModelBuilder()
    newton.solvers.SolverStyle3D.register_custom_attributes(woven)
    plain.add_cloth_grid(**grid, tri_ke=100.0, tri_ka=0.0, edge_ke=2e-4)
    threads = {"tri_aniso_ke": wp.vec3(200.0, 200.0, 100.0), "edge_aniso_ke": wp.vec3(2e-4)}
    style3d.add_cloth_grid(woven, **grid, **threads)

    with simulate(plain) as ours, simulate(woven) as theirs:
        ours.step(5)
        models = [each.model for each in (ours, theirs)]
        found, expected = (each.style3d for each in models)

    assert np.isfinite(ours.state.particle_q.numpy()).all()
    np.testing.assert_allclose(found.tri_aniso_ke.numpy(), expected.tri_aniso_ke.numpy())
    inner = (models[0].edge_indices.numpy()[:, :2] >= 0).all(axis=1)
    np.testing.assert_array_equal(*(model.edge_indices.numpy() for model in models))
    np.testing.assert_allclose(*(each.edge_bending_cot.numpy()[inner] for each in (found, expected)), atol=1e-5)
    lengths = models[0].edge_rest_length.numpy()
    np.testing.assert_allclose(found.edge_rest_area.numpy(), 3.0 * lengths)


@pytest.mark.slow
def test_plain_cloth_hangs_by_its_lame_parameters(simulate, capsys):
    """A strip that is free to narrow resists with 4 μ (μ + λ) / (2 μ + λ): 400 N/m with 150 and 150."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    upright = wp.quat_from_axis_angle(wp.vec3(1.0, 0.0, 0.0), np.pi / 2)
    grid = {"pos": wp.vec3(0.0, 0.0, 1.0), "rot": upright, "vel": wp.vec3(0.0), "dim_x": COLUMNS, "dim_y": ROWS}
    grid |= {"cell_x": CELL, "cell_y": CELL, "mass": MASS, "fix_top": True, "particle_radius": RADIUS}
    builder.add_cloth_grid(**grid, tri_ke=150.0, tri_ka=150.0, edge_ke=0.0)
    with simulate(builder) as simulation:
        simulation.step(500)
        simulation.raise_errors()
        heights = simulation.state.particle_q.numpy()[: COLUMNS + 1, 2]
        rows = simulation.model.particle_mass.numpy().reshape(ROWS + 1, COLUMNS + 1).sum(axis=1)

    loads = np.cumsum(rows)[:ROWS] * 9.81 / (COLUMNS * CELL)
    assert 1.0 - heights.mean() == pytest.approx(np.sum(loads) * CELL / WARP, rel=0.02)
    assert "precompute" not in capsys.readouterr().out


def test_a_bending_edge_without_triangles_is_refused(simulate):
    builder = newton.ModelBuilder()
    for place in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, 0.0)):
        builder.add_particle(wp.vec3(*place), wp.vec3(0.0), mass=MASS)
    builder.add_edge(0, 1, 2, 3, edge_ke=1.0)

    with pytest.raises(
        pippin.ConfigError, match=r"^solver\.type: .style3d. bends cloth between triangles alone, .* 2 and 3"
    ):
        simulate(builder)


def test_several_worlds_are_refused_for_their_cloths_would_collide(simulate, scene):
    with pytest.raises(pippin.ConfigError, match=r"'style3d' does not support particle_worlds .* use one world"):
        simulate(scene, worlds=2)


def test_a_scene_without_cloth_is_refused():
    def sand(builder):
        builder.add_particle((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 1.0)

    with pytest.raises(
        pippin.ConfigError, match=r"'style3d' moves cloth, and there is none; add a cloth, or choose 'vbd'"
    ):
        conformance.Conformance("solver", "style3d", prototype=sand).subject.build(world_count=1)


@pytest.mark.slow
def test_a_cloth_follows_a_plate_that_is_moved_by_hand(simulate, scene):
    """The falling cloth lands on a plate below it, which then sinks by 2 cm; bodies stay where the user puts them."""
    prototype = copy.deepcopy(scene)
    plate = prototype.add_body(xform=wp.transform(wp.vec3(0.1, 0.1, 0.02), wp.quat_identity()), label="plate")
    prototype.body_flags[plate] = int(newton.BodyFlags.KINEMATIC)
    prototype.add_shape_box(plate, hx=0.3, hy=0.3, hz=0.01)
    with simulate(prototype, ground=False) as simulation:
        simulation.step(100)
        for _ in range(100):
            poses = simulation.state.body_q.numpy().copy()
            poses[0, 2] -= 0.0002
            simulation.state.body_q.assign(poses)
            simulation.step()
        simulation.step(100)
        cloth = simulation.state.particle_q.numpy()[(COLUMNS + 1) * (ROWS + 1) :, 2]

        assert simulation.state.body_q.numpy()[0, 2] == pytest.approx(0.0, abs=1e-5)

    np.testing.assert_allclose(cloth, 0.01 + RADIUS, atol=1e-3)


def cloth(builder, x=0.0):
    """A small cloth, flat and on its way along x."""
    newton.solvers.style3d.add_cloth_grid(
        builder,
        pos=wp.vec3(x, 0.0, 0.5),
        rot=wp.quat_identity(),
        vel=wp.vec3(0.3, 0.0, 0.0),
        dim_x=3,
        dim_y=3,
        cell_x=0.05,
        cell_y=0.05,
        mass=0.01,
        tri_aniso_ke=wp.vec3(400.0, 400.0, 100.0),
        edge_aniso_ke=wp.vec3(1e-4),
        particle_radius=0.01,
    )


CONFORMANCE = conformance.Conformance(
    "solver",
    "style3d",
    prototype=cloth,
    beside=functools.partial(cloth, x=3.0),
    world_count=1,
    expected_failures={
        "free_fall": "the solver keeps 0.998 of every velocity from substep to substep",
        "feature_face_contacts": "one triangle, held at all corners, holds no other one; a cloth of cells does:"
        " tests/support/test_used_features_matter.py",
        "feature_soft_contact_friction": "with steps of 1 ms, 0.998 of each substep slows a particle as friction does",
        "worlds": "the solver supports only one world, because the cloths of all worlds would collide",
    },
)


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
