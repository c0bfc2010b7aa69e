"""The VBD plugin: Newton's options with Newton's defaults, and a solver that obeys them."""

import inspect

import attrs
import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin_solver_vbd import VBDConfig

LEFT_OUT = {
    "collision_pipeline": "an object, made by the host where owns_collision_pipeline says so",
    "particle_external_edge_contact_filtering_map": "indices of edges, which no file knows",
    "particle_external_vertex_contact_filtering_map": "indices of vertices, which no file knows",
} | dict.fromkeys(VBDConfig.replaced_keys, "deprecated in Newton 1.8")
SCHEDULE = {"collision_frequency", "collision_frequency_type"}
"""Newton's mappings from a slot; each of the two slots has two fields here."""

OURS = {
    "owns_collision_pipeline",
    "particle_collision_frequency",
    "particle_collision_frequency_type",
    "particle_rebuild_bvh",
    "rigid_collision_frequency",
    "rigid_collision_frequency_type",
}


def newton_options():
    parameters = inspect.signature(newton.solvers.SolverVBD).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.name != "model"}


@pytest.mark.alone
def test_options_and_defaults_are_those_of_newton():
    theirs, ours = newton_options(), {field.name: field.default for field in attrs.fields(VBDConfig)}

    shared = {name: default for name, default in theirs.items() if name not in LEFT_OUT.keys() | SCHEDULE}
    assert {name: default for name, default in ours.items() if name not in OURS} == shared


def test_what_is_left_out_is_an_option_of_newton():
    assert LEFT_OUT.keys() | SCHEDULE <= newton_options().keys()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("iterations", 0),
        ("iterations", 2.5),
        ("friction_epsilon", 0.0),
        ("dat_conservative_bound_relaxation", 1.0),
        ("particle_self_contact_gap", -0.01),
        ("particle_enable_self_contact", 1),
        ("particle_collision_frequency_type", "none"),
        ("rigid_avbd_gamma", 1.5),
        ("rigid_joint_linear_ke", float("inf")),
        ("deterministic", "run-to-run"),
    ],
)
def test_a_bad_option_is_refused_by_name(option, value):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}: "):
        pippin.structure({"solver": {"type": "vbd", option: value}})


@pytest.mark.parametrize("option", VBDConfig.replaced_keys)
def test_an_option_of_earlier_versions_is_refused_with_what_replaced_it(option):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}: not a key any more; [a-z]+"):
        pippin.structure({"solver": {"type": "vbd", option: 1}})


@pytest.mark.parametrize(
    ("options", "key", "cure"),
    [
        ({"rigid_soft_enable_dat": True}, "rigid_soft_enable_dat", "set owns_collision_pipeline = true"),
        (
            {"rigid_collision_frequency_type": "pre_post_init"},
            "rigid_collision_frequency_type",
            "set owns_collision_pipeline = true",
        ),
        ({"rigid_collision_frequency": 2}, "rigid_collision_frequency", "'rigid_collision_frequency_type' is 'iter"),
        ({"particle_collision_frequency": 2}, "particle_collision_frequency", "is 'iterations'"),
        (
            {"rigid_soft_dat_use_interval_arithmetic": True},
            "rigid_soft_dat_use_interval_arithmetic",
            "needs rigid_soft_enable_dat = true",
        ),
    ],
)
def test_what_the_solver_would_ignore_is_refused(options, key, cure):
    config = pippin.structure({"solver": {"type": "vbd", **options}})

    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{key}: .*{cure}"):
        pippin.Simulation(config)


@pytest.mark.parametrize(
    "options",
    [
        {"rigid_contact_history": True},
        {"rigid_collision_frequency_type": "iterations", "owns_collision_pipeline": True},
    ],
)
def test_what_needs_matched_contacts_is_refused_without(simulate, options, scene):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{next(iter(options))}: .*collision\.contact_matching is"):
        simulate(scene, **options)


def test_a_margin_of_self_contacts_needs_a_gap():
    config = pippin.structure({"solver": {"type": "vbd", "particle_self_contact_margin": 0.01}})

    with pytest.raises(pippin.ConfigError, match=r"^solver\.particle_self_contact_margin: 0\.01, .* half the margin"):
        pippin.Simulation(config)


SIDE, DENSITY = 0.2, 500.0
SEGMENTS, SEGMENT, BENDING, SHEAR = 5, 0.1, 20.0, 1e4
COLUMNS, ROWS, CELL, PARTICLE_MASS, MEMBRANE = 4, 8, 0.05, 0.01, 200.0


def clamp(builder, body):
    """Let nothing move a body."""
    builder.body_mass[body] = builder.body_inv_mass[body] = 0.0
    builder.body_inertia[body] = builder.body_inv_inertia[body] = wp.mat33(0.0)


@pytest.fixture(scope="module")
def scene():
    """Two boxes on top of each other, a cloth that hangs from its upper edge, and a cable clamped at one end."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverVBD.register_custom_attributes(builder)
    for index in range(2):
        pose = wp.transform(wp.vec3(0.0, 0.0, SIDE * (index + 0.5)), wp.quat_identity())
        box = builder.add_body(xform=pose, label=f"box_{index}")
        shape = newton.ModelBuilder.ShapeConfig(density=DENSITY, mu=0.5, ke=1e5, kd=0.0)
        builder.add_shape_box(box, hx=SIDE / 2, hy=SIDE / 2, hz=SIDE / 2, cfg=shape)
    builder.add_cloth_grid(
        pos=wp.vec3(2.0, 0.0, 1.0),
        rot=wp.quat_from_axis_angle(wp.vec3(1.0, 0.0, 0.0), np.pi / 2),
        vel=wp.vec3(0.0),
        dim_x=COLUMNS,
        dim_y=ROWS,
        cell_x=CELL,
        cell_y=CELL,
        mass=PARTICLE_MASS,
        fix_top=True,
        tri_ke=MEMBRANE,
        tri_ka=0.0,
        tri_kd=0.05,
        edge_ke=1e-3,
        particle_radius=0.005,
    )
    rod = newton.Rod.create_straight(
        (0.0, 2.0, 1.0), (1.0, 0.0, 0.0), SEGMENTS * SEGMENT, segment_count=SEGMENTS, radius=0.02
    )
    segments, _ = builder.add_rod(
        rod=rod,
        cfg=newton.ModelBuilder.ShapeConfig(density=1000.0),
        stretch_stiffness=SHEAR,
        bend_stiffness=BENDING,
        bend_damping=1.0,
        label="cable",
    )
    clamp(builder, segments[0])
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


pytestmark = pytest.mark.simulation(dt=0.004, capture="require", ground=True, solver={"type": "vbd"}, options="solver")


@pytest.mark.alone
def test_options_reach_the_solver(simulate, scene):
    schedule = {"particle_collision_frequency": 3, "particle_collision_frequency_type": "iterations"}
    with simulate(scene, iterations=7, friction_epsilon=0.02, **schedule) as simulation:
        solver = simulation.solver

    slot, when = solver.CollisionSlot.SOFT_SELF_CONTACT, solver.CollisionFrequencyType.ITERATIONS
    assert isinstance(solver, newton.solvers.SolverVBD)
    assert (solver.iterations, solver.friction_epsilon) == (7, 0.02)
    assert (solver.collision_frequency[slot], solver.collision_frequency_type[slot]) == (3, when)


def ball_at(x):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_body(xform=wp.transform(wp.vec3(x, 0.0, 0.0)), mass=1.0, inertia=wp.diag(wp.vec3(0.1)), label="ball")
    return builder


@pytest.mark.parametrize(("x", "is_noted"), [(0.5, False), (1000.0, True)])
def test_a_body_whose_fall_is_rounded_is_noted(simulate, x, is_noted):
    """At 1 km, a position has steps of 61 µm; in a substep of 4 ms, gravity moves a body by 157 µm."""
    with simulate(ball_at(x)) as simulation:
        notes = simulation.notes.get("solver", [])

    assert [note.partition(" starts ")[0] for note in notes] == (["body 'ball'"] if is_noted else [])


AXES = np.random.default_rng(0).normal(size=(8, 3))


@pytest.mark.parametrize("kind", ["revolute", "d6", "d6 of two"])
def test_a_hinge_about_any_axis_has_no_spring_of_its_own(simulate, kind):
    """Eight light bodies turn about skew axes by 0.1 rad. A rounding of 1e-7 of the stiffness is 1 N·m/rad."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=(0.0, 0.0, 0.0))
    for index, axis in enumerate((AXES / np.linalg.norm(AXES, axis=1)[:, None]).tolist()):
        body = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(3e-4)), lock_inertia=True)
        if kind == "revolute":
            joint = builder.add_joint_revolute(-1, body, axis=axis)
        else:
            more = [np.cross(axis, (0.0, 0.0, 1.0)).tolist()] if kind == "d6 of two" else []
            axes = [newton.ModelBuilder.JointDofConfig(axis=each) for each in (axis, *more)]
            joint = builder.add_joint_d6(-1, body, angular_axes=axes)
        builder.add_articulation([joint], label=str(index))
        builder.joint_qd[builder.joint_qd_start[joint]] = 1.0
    with simulate(builder, ground=False, rigid_joint_angular_ke=1e7, rigid_joint_linear_ke=1e7) as simulation:
        starts = simulation.model.joint_qd_start.numpy()[:-1]
        simulation.step(25)
        angles = simulation.state.joint_q.numpy()[starts]

    np.testing.assert_allclose(angles, 0.1, atol=1e-3)


def test_neighbours_have_different_colours(simulate, scene):
    with simulate(scene, worlds=2) as simulation:
        model = simulation.model
        colour = np.empty(model.particle_count, dtype=int)
        for index, group in enumerate(model.particle_color_groups):
            colour[group.numpy()] = index

        triangles = colour[model.tri_indices.numpy()]
        edges = colour[model.edge_indices.numpy()[:, :2]]

    assert all(len(set(corners)) == 3 for corners in triangles.tolist())
    assert (edges[:, 0] != edges[:, 1]).all()
    assert sum(len(group) for group in model.body_color_groups) == model.body_count


@pytest.mark.slow
def test_what_hangs_leans_or_lies_comes_to_rest_where_the_formulas_say(simulate, scene):
    """One run for all three, as they do not touch.

    - The ground bears the weight of the boxes within a percent, and they sink in by less than a millimetre.
    - Cloth: row k of n carries n - k + 1 rows below it; strain is that over 2 μ, for λ = 0. Its edges give way
      more than its middle does: their mean is meant, within 3 %.
    - Cable: joint i carries the n - i segments beyond it, with the moment of their weight; small angles, within 3 %.
    """
    probe = ContactForces()
    with simulate(scene, plugins=[probe]) as simulation:
        simulation.step(1000)
        simulation.raise_errors()
        model, body_q = simulation.model, simulation.state.body_q.numpy()
        heights = simulation.state.particle_q.numpy()[:, 2].reshape(ROWS + 1, COLUMNS + 1)

    assert simulation.program.is_captured
    np.testing.assert_allclose(body_q[:2, 2], [SIDE / 2, 3 * SIDE / 2], atol=1e-3)
    ground = model.shape_label.index("ground_plane")
    assert probe.vertical_on(ground) == pytest.approx(-2 * DENSITY * SIDE**3 * 9.81, rel=0.01)

    row_weight = (COLUMNS + 1) * PARTICLE_MASS * 9.81 / (COLUMNS * CELL)
    stretched = row_weight * CELL / (2 * MEMBRANE) * ROWS * (ROWS + 1) / 2
    assert 1.0 - heights[0].mean() == pytest.approx(stretched, rel=0.03)

    weight = model.body_mass.numpy()[-1] * 9.81
    beyond = SEGMENT * np.arange(SEGMENTS - 1, 0, -1)
    sheared = weight / SHEAR * beyond / SEGMENT
    bent = weight / SEGMENT * beyond**2 / 2 / BENDING * (beyond - SEGMENT / 2)
    assert 1.0 - body_q[-1, 2] == pytest.approx(np.sum(bent + sheared), rel=0.03)


@pytest.mark.slow
def test_captured_steps_have_the_bits_of_eager_ones_and_a_reset_world_starts_over(simulate, scene):
    """Multipliers are carried from step to step; the positions of a world that starts over agree within a micron."""
    runs = []
    for capture in ("off", "require"):
        with simulate(scene, worlds=2, capture=capture) as simulation:
            simulation.step(20)
            first = by_world(simulation)
            simulation.reset([1])
            simulation.step(20)
            runs.append(by_world(simulation))

    assert runs[0].tobytes() == runs[1].tobytes()
    np.testing.assert_allclose(runs[0][1], first[1], atol=1e-6)
    assert np.abs(runs[0][0] - first[0]).max() > 1e-3


def by_world(simulation):
    bodies, particles = simulation.state.body_q.numpy(), simulation.state.particle_q.numpy()
    return np.concatenate([bodies.reshape(2, -1), particles.reshape(2, -1)], axis=1)


def test_a_cloth_that_falls_onto_itself_stays_apart(simulate):
    """Two sheets, one above the other, with nothing below: the upper one is thrown down and lands on the lower one."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for height, speed in ((1.0, 0.0), (1.03, -0.5)):
        builder.add_cloth_grid(
            pos=wp.vec3(0.0, 0.0, height),
            rot=wp.quat_identity(),
            vel=wp.vec3(0.0, 0.0, speed),
            dim_x=COLUMNS,
            dim_y=COLUMNS,
            cell_x=CELL,
            cell_y=CELL,
            mass=PARTICLE_MASS,
            tri_ke=1e3,
            tri_ka=1e3,
            edge_ke=0.1,
            particle_radius=0.005,
        )
    options = {
        "particle_enable_self_contact": True,
        "particle_self_contact_margin": 0.01,
        "particle_self_contact_gap": 0.01,
        "particle_rebuild_bvh": True,
    }
    with simulate(builder, **options) as simulation:
        simulation.model.soft_contact_ke = 1e4
        simulation.step(50)
        heights = simulation.state.particle_q.numpy()[:, 2].reshape(2, -1)

    assert simulation.program.is_captured
    assert (heights[1] - heights[0]).min() > 0.0
    assert (heights[1] - heights[0]).mean() < 0.03


@pytest.fixture(scope="module")
def stack():
    """Two boxes on top of each other."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverVBD.register_custom_attributes(builder)
    for index in range(2):
        pose = wp.transform(wp.vec3(0.0, 0.0, SIDE * (index + 0.5)), wp.quat_identity())
        box = builder.add_body(xform=pose, label=f"box_{index}")
        shape = newton.ModelBuilder.ShapeConfig(density=DENSITY, mu=0.5, ke=1e5, kd=0.0)
        builder.add_shape_box(box, hx=SIDE / 2, hy=SIDE / 2, hz=SIDE / 2, cfg=shape)
    return builder


@pytest.mark.parametrize(
    ("options", "collision"),
    [
        ({}, {"rigid_contact_max": 64}),
        ({"rigid_collision_frequency_type": "pre_post_init"}, {"broad_phase": "sap", "rigid_contact_max": 64}),
        (
            {"rigid_collision_frequency_type": "iterations", "rigid_collision_frequency": 5},
            {"contact_matching": "latest", "rigid_contact_max": 64},
        ),
    ],
    ids=["auto", "pre_post_init", "iterations"],
)
def test_a_stack_rests_on_contacts_that_the_solver_detects_itself(simulate, options, collision, stack):
    """The table makes the pipeline, the host reads its contacts, and the ground bears the weight of both boxes."""
    probe = ContactForces()
    with simulate(stack, [probe], collision=collision, owns_collision_pipeline=True, **options) as simulation:
        simulation.step(300)
        simulation.raise_errors()
        names = {operation.name for operation in simulation.program.operations}
        heights = simulation.state.body_q.numpy()[:, 2]
        ground = simulation.model.shape_label.index("ground_plane")

    assert simulation.program.is_captured
    assert "collide" not in names, "the solver detects, not the host"
    assert simulation.contacts is simulation.solver.contacts
    assert simulation.contacts.rigid_contact_max == 64
    assert int(simulation.contacts.rigid_contact_count.numpy()[0]) >= 8
    np.testing.assert_allclose(heights, [SIDE / 2, 3 * SIDE / 2], atol=1e-3)
    assert probe.vertical_on(ground) == pytest.approx(-2 * DENSITY * SIDE**3 * 9.81, rel=0.01)


def test_an_interval_beside_a_pipeline_of_the_solvers_own_is_refused(simulate, stack):
    with pytest.raises(pippin.ConfigError, match=r"^collision\.interval: 2, but the solver detects contacts within"):
        simulate(stack, collision={"interval": 2}, owns_collision_pipeline=True)


@pytest.mark.parametrize("is_own", [False, True], ids=["host", "solver"])
def test_contacts_that_do_not_fit_are_reported_whoever_detects_them(simulate, is_own, stack):
    with simulate(stack, collision={"rigid_contact_max": 5}, owns_collision_pipeline=is_own) as simulation:
        simulation.step(5)

        with pytest.raises(
            pippin.SimulationError, match=r"^collision\.rigid_contact_max: 8 contacts did not fit into 5"
        ):
            simulation.raise_errors()


def test_more_contacts_than_a_body_has_room_for_are_reported(simulate, stack):
    """The lower box has four contacts with the ground and four or five with the upper box."""
    with simulate(stack, rigid_body_contact_buffer_size=5) as simulation:
        simulation.step(5)

        with pytest.raises(
            pippin.SimulationError,
            match=r"^solver\.rigid_body_contact_buffer_size: [89] contacts of one body did not fit into 5; set",
        ):
            simulation.raise_errors()


@pytest.mark.parametrize("owns_pipeline", [False, True])
def test_more_self_contacts_than_a_vertex_and_an_edge_have_room_for_are_reported(simulate, owns_pipeline):
    """The buffers come in steps of what one thread group takes; a patch of sheets fills the smallest."""
    options = {
        "owns_collision_pipeline": owns_pipeline,
        "particle_enable_self_contact": True,
        "particle_self_contact_margin": 0.05,
        "particle_self_contact_gap": 0.05,
        "particle_vertex_contact_buffer_size": 1,
        "particle_edge_contact_buffer_size": 1,
    }
    with simulate(sheets((1.0, 1.01, 1.02)), **options) as simulation:
        simulation.step(2)

        with pytest.raises(pippin.SimulationError) as caught:
            simulation.raise_errors()

    vertex, edge = str(caught.value).splitlines()
    assert vertex.startswith("solver.particle_vertex_contact_buffer_size: ")
    assert edge.startswith("solver.particle_edge_contact_buffer_size: ")


def sheets(heights):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for height in heights:
        builder.add_cloth_grid(
            pos=wp.vec3(0.0, 0.0, height),
            rot=wp.quat_identity(),
            vel=wp.vec3(0.0),
            dim_x=2,
            dim_y=2,
            cell_x=CELL / 5,
            cell_y=CELL / 5,
            mass=PARTICLE_MASS,
            tri_ke=1e3,
            tri_ka=1e3,
            edge_ke=0.1,
            particle_radius=0.001,
        )
    return builder


CONFORMANCE = conformance.Conformance("solver", "vbd")


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
