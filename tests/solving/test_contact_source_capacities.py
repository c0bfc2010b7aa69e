"""Buffers of fixed size: each is made to overflow, and the error says how much there was and which key to raise."""

import json
from pathlib import Path

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin import solving
from pippin.cli import main
from pippin.studies.summary import what_ran


def builder_with_ball(height=0.05):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    body = builder.add_body(xform=wp.transform(wp.vec3(0.0, 0.0, height), wp.quat_identity()), label="ball")
    builder.add_shape_sphere(body, radius=0.1)
    return builder


def particles(count=4):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for index in range(count):
        builder.add_particle(wp.vec3(float(index), 0.0, 0.05), wp.vec3(0.0), mass=0.1, radius=0.1)
    return builder


def pile(count=4):
    """Spheres that overlap each other."""
    builder = builder_with_ball()
    for index in range(1, count):
        place = wp.transform(wp.vec3(0.02 * index, 0.0, 0.05), wp.quat_identity())
        builder.add_shape_sphere(builder.add_body(xform=place, label=f"ball_{index}"), radius=0.1)
    return builder


def terrain(cells=8):
    """A ball on a mesh of triangles."""
    steps = np.linspace(-1.0, 1.0, cells + 1)
    x, y = np.meshgrid(steps, steps, indexing="ij")
    vertices = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3).astype(np.float32)
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    below = np.stack([corner, corner + cells + 1, corner + 1], axis=1)
    above = np.stack([corner + 1, corner + cells + 1, corner + cells + 2], axis=1)
    triangles = np.concatenate([below, above]).astype(np.int32)
    builder = builder_with_ball(height=0.09)
    builder.add_shape_mesh(-1, mesh=newton.Mesh(vertices, triangles.ravel(), compute_inertia=False), label="terrain")
    box = builder.add_body(xform=wp.transform(wp.vec3(0.5, 0.5, 0.09), wp.quat_identity()), label="box")
    builder.add_shape_box(box, hx=0.3, hy=0.3, hz=0.1)
    return builder


OVERFLOWS = {
    "rigid_contact_max": (pile, {"rigid_contact_max": 2}, r"\d+ contacts"),
    "soft_contact_max": (particles, {"soft_contact_max": 3}, "4 soft contacts"),
    "shape_pairs_max": (pile, {"broad_phase": "nxn", "shape_pairs_max": 2}, r"\d+ candidate pairs"),
    "max_triangle_pairs": (terrain, {"max_triangle_pairs": 4}, r"\d+ triangle pairs"),
}


@pytest.mark.parametrize("key", OVERFLOWS)
def test_an_overflowing_buffer_is_named_with_the_number_that_would_fit(key, configure):
    prototype, table, what = OVERFLOWS[key]
    with pippin.Simulation(configure("xpbd", collision=table, scene={"ground": True}), prototype=prototype()) as full:
        full.step()

        with pytest.raises(pippin.SimulationError, match=rf"^collision\.{key}: {what} did not fit into \d+; set it to"):
            full.raise_errors()


@pytest.mark.parametrize("key", ["rigid_contact_max", "soft_contact_max", "shape_pairs_max"])
def test_the_number_that_was_told_is_enough(key, configure):
    prototype, table, _ = OVERFLOWS[key]
    with pippin.Simulation(configure("xpbd", collision=table, scene={"ground": True}), prototype=prototype()) as full:
        full.step()
        with pytest.raises(pippin.SimulationError) as caught:
            full.raise_errors()
    needed = {fault.split(":")[0].removeprefix("collision."): int(fault.split()[-1]) for fault in caught.value.faults}

    with pippin.Simulation(
        configure("xpbd", collision={**table, **needed}, scene={"ground": True}), prototype=prototype()
    ) as enough:
        enough.step()

        enough.raise_errors()


def test_convex_shapes_that_a_full_buffer_leaves_out_are_told(configure):
    """Newton stops at a full buffer, and does not count them."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    hull = newton.Mesh.create_box(0.1, 0.1, 0.1)
    for index in range(3):
        body = builder.add_body(xform=wp.transform(wp.vec3(float(index), 0.0, 0.0999), wp.quat_identity()))
        builder.add_shape_convex_hull(body, mesh=hull)
    table = {"rigid_contact_max": 8}
    with pippin.Simulation(configure("xpbd", collision=table, scene={"ground": True}), prototype=builder) as full:
        full.step()

        with pytest.raises(
            pippin.SimulationError, match=r"rigid_contact_max: (8 contacts fill it|\d+ contacts did not)"
        ):
            full.raise_errors()


def test_every_full_buffer_is_named_at_once(configure):
    builder = pile()
    for index in range(4):
        builder.add_particle(wp.vec3(float(index), 0.0, 0.05), wp.vec3(0.0), mass=0.1, radius=0.1)
    table = {"rigid_contact_max": 2, "soft_contact_max": 2}
    with pippin.Simulation(configure("xpbd", collision=table, scene={"ground": True}), prototype=builder) as full:
        full.step()

        with pytest.raises(pippin.SimulationError) as caught:
            full.raise_errors()

    rigid, soft = caught.value.faults
    assert rigid.startswith("collision.rigid_contact_max: ")
    assert soft.startswith("collision.soft_contact_max: ")


def test_contacts_lost_while_they_are_reduced_are_reported(configure):
    """The table that reduces them has room for few: a hundredth of the triangle pairs."""
    table = {"max_triangle_pairs": 64, "contact_reduction_hashtable_size_factor": 0.01}
    with pippin.Simulation(configure("xpbd", collision=table), prototype=terrain()) as simulation:
        simulation.step()

        with pytest.raises(
            pippin.SimulationError,
            match=r"collision\.max_triangle_pairs: contacts of meshes, to be reduced, did not fit .*hashtable_size",
        ):
            simulation.raise_errors()


def test_overflow_is_told_alike_eager_and_captured(configure):
    texts = set()
    for capture in ("off", "require"):
        config = configure("xpbd", collision={"rigid_contact_max": 2}, scene={"ground": True}, capture=capture)
        with pippin.Simulation(config, prototype=pile()) as simulation:
            simulation.step(5)
            with pytest.raises(pippin.SimulationError) as caught:
                simulation.raise_errors()
            texts.add(str(caught.value))

    assert len(texts) == 1


def test_capacities_are_what_was_allocated_not_what_was_asked(configure):
    """Nothing is asked for here; Newton's estimate is in the arrays."""
    with pippin.Simulation(configure("xpbd", scene={"worlds": 3, "ground": True}), prototype=pile()) as simulation:
        allocated = {capacity.field: capacity.allocated for capacity in simulation.capacities}
        pipeline = simulation.contact_source.pipeline

        assert allocated == {
            "collision.rigid_contact_max": len(simulation.contacts.rigid_contact_shape0),
            "collision.shape_pairs_max": len(pipeline.broad_phase_shape_pairs),
        }
        rows = what_ran(simulation)["capacities"]
        assert rows[0] == {
            "field": "collision.rigid_contact_max",
            "holds": "contacts",
            "allocated": allocated["collision.rigid_contact_max"],
        }


def test_mujocos_capacities_are_those_of_its_data(ball, configure):
    config = configure({"type": "mujoco", "njmax": 24, "nconmax": 10}, scene={"worlds": 2, "ground": True})
    with pippin.Simulation(config, prototype=ball()) as simulation:
        allocated = {capacity.field: capacity.allocated for capacity in simulation.capacities}
        data = simulation.solver.mjw_data

    assert allocated["solver.njmax"] == data.njmax == 24
    assert allocated["solver.nconmax"] == len(data.contact.dist) == 20


def test_the_page_of_contacts_has_every_buffer(configure):
    """Of the pipeline, and of each solver that has some; those of hydroelastic contacts exist on CUDA alone."""
    page = Path(__file__).parents[2].joinpath("docs/how-to/contacts.md").read_text(encoding="utf-8")
    builder = terrain()
    builder.add_cloth_grid(
        pos=wp.vec3(0.0, 0.0, 2.0),
        rot=wp.quat_identity(),
        vel=wp.vec3(0.0),
        dim_x=1,
        dim_y=1,
        cell_x=0.1,
        cell_y=0.1,
        mass=0.1,
    )
    vbd = {"type": "vbd", "particle_enable_self_contact": True}
    buffers = []
    for solver, prototype in (("mujoco", pile()), ("steel", pile()), ("kamino", pile()), (vbd, builder)):
        with pippin.Simulation(configure(solver), prototype=prototype) as simulation:
            buffers += [capacity.field for capacity in simulation.capacities]

    assert len(set(buffers)) > 10
    assert [field for field in buffers if f"`{field}`" not in page] == []


def test_the_pipeline_of_a_plugin_is_watched_as_well(configure):
    class Few:
        @pippin.hookimpl
        def initialize_contacts(self, model):
            pipeline = newton.CollisionPipeline(model, rigid_contact_max=2)
            return solving.ContactSource(contacts=pipeline.contacts(), pipeline=pipeline)

    with pippin.Simulation(configure("xpbd", scene={"ground": True}), [Few()], prototype=pile()) as simulation:
        simulation.step()

        with pytest.raises(pippin.SimulationError, match=r"contacts did not fit into 2"):
            simulation.raise_errors()


def test_a_run_writes_capacities_into_its_summary(tmp_path, monkeypatch):
    from click.testing import CliRunner

    (tmp_path / "ball.xml").write_text(
        '<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    (tmp_path / "ball.toml").write_text(
        '[simulation]\ndevice = "cpu"\n[scene]\nground = true\n[[scene.assets]]\npath = "ball.xml"\n'
        '[solver]\ntype = "xpbd"\n[collision]\nrigid_contact_max = 7\n'
    )
    folder = tmp_path / "run"

    result = CliRunner().invoke(main, ["run", str(tmp_path / "ball.toml"), "--steps", "2", "--out", str(folder)])

    assert result.exit_code == 0, result.output
    rows = json.loads(Path(folder / "summary.json").read_text())["capacities"]
    assert {"field": "collision.rigid_contact_max", "holds": "contacts", "allocated": 7} in rows
