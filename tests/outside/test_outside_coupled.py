"""A solver made of two others, named in its table: bodies in sand, each of which acts on the other one."""

import attrs
import jsonschema
import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin import conformance
from pippin.catalog.entries import Catalog
from pippin.config.schema import json_schema

SAND = {"type": "implicit-mpm", "voxel_size": 0.1, "air_drag": 0.0}


@pytest.fixture(scope="module", autouse=True)
def plugin(install_outside):
    """Install the plugin for the tests of this file."""
    with install_outside("pippin-solver-coupled"):
        yield


def box_and_sand(box, low, cells, density=1000.0):
    """Return a cube of 0.2 m with its centre at `box` [m], and sand in cells of 0.05 m above the corner `low`."""
    builder = newton.ModelBuilder(up_axis="Z")
    newton.solvers.SolverImplicitMPM.register_custom_attributes(builder)
    body = builder.add_body(xform=wp.transform(box, wp.quat_identity()), label="box")
    shape = newton.ModelBuilder.ShapeConfig(density=density)
    builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1, cfg=shape)
    (x, y, z), cell = low, 0.05
    builder.add_particle_grid(
        pos=wp.vec3(x + cell / 2, y + cell / 2, z + cell / 2),
        rot=wp.quat_identity(),
        vel=wp.vec3(0.0),
        **dict(zip(("dim_x", "dim_y", "dim_z"), cells, strict=True)),
        **dict.fromkeys(("cell_x", "cell_y", "cell_z"), cell),
        mass=1000.0 * cell**3,
        jitter=0.0,
        radius_mean=cell / 2,
    )
    return builder


SOLVER = {"type": "coupled", "rigid": {"type": "xpbd"}, "particles": SAND}
pytestmark = [pytest.mark.required, pytest.mark.simulation(dt=0.01, solver=SOLVER, options="solver")]


def test_what_a_body_loses_in_momentum_the_sand_gets(simulate):
    """Without gravity and ground, a cube at 1 m/s runs into as much sand at rest; single precision in 40 steps."""
    prototype = box_and_sand((-0.22, 0.0, 0.0), (-0.1, -0.1, -0.1), (4, 4, 4))
    prototype.joint_qd[0] = 1.0
    with simulate(prototype, gravity=0.0) as simulation:
        simulation.step(40)
        speed, speeds = simulation.state.body_qd.numpy()[0, :3], simulation.state.particle_qd.numpy()
        masses = simulation.model.particle_mass.numpy()

    of_sand = masses @ speeds
    assert of_sand[0] > 1.0, "the cube pushes the sand"
    np.testing.assert_allclose(8.0 * speed + of_sand, [8.0, 0.0, 0.0], atol=1e-4)


def test_sand_carries_a_light_body(simulate):
    """A fall lasts 0.2 s to the ground; carried, the cube bobs by the impulse of a step, 0.1 m/s, and stays above."""
    prototype = box_and_sand((0.0, 0.0, 0.22), (-0.2, -0.2, 0.0), (8, 8, 2), density=300.0)
    with simulate(prototype, ground=True) as simulation:
        simulation.step(20)
        early = simulation.state.body_q.numpy()[0, 2]
        simulation.step(20)
        late, speed = simulation.state.body_q.numpy()[0, 2], simulation.state.body_qd.numpy()[0, 2]

    assert late > 0.19, "its lower side is 0.1 m below"
    assert abs(late - early) < 0.005
    assert abs(speed) < 0.15


def test_a_reset_forgets_the_strain_of_the_sand():
    """The kit's own scene, with some sand beside it, which the solver cannot do without."""

    def sand(builder):
        cells = dict.fromkeys(("dim_x", "dim_y", "dim_z"), 2) | dict.fromkeys(("cell_x", "cell_y", "cell_z"), 0.05)
        still = {"rot": wp.quat_identity(), "vel": wp.vec3(0.0)}
        builder.add_particle_grid(pos=wp.vec3(20.0, 20.0, 0.1), mass=0.1, jitter=0.0, **still, **cells)

    solvers = {"rigid": {"type": "xpbd"}, "particles": {**SAND, "grid_type": "dense"}}
    kit = conformance.Conformance("solver", "coupled", config=solvers, beside=sand, world_count=1)

    result = kit.run("reset")

    assert result.outcome == "passed", result.reason


def test_a_fault_inside_names_the_inner_table(simulate):
    prototype = box_and_sand((0.0, 0.0, 0.5), (-0.1, -0.1, 0.0), (2, 2, 2))

    with pytest.raises(pippin.ConfigError, match=r"solver\.particles\.voxel_siz: .*voxel_size"):
        simulate(prototype, particles={**SAND, "voxel_siz": 0.1})
    with pytest.raises(pippin.ConfigError, match=r"^solver\.rigid\.type: 'vbd' takes its steps in a way of its own"):
        simulate(prototype, rigid={"type": "vbd"})
    with pytest.raises(pippin.ConfigError, match=r"^solver\.rigid\.contact_warmstart: True, but collision"):
        simulate(prototype, rigid={"type": "steel", "contact_warmstart": True})


def test_an_editor_knows_the_keys_of_the_inner_tables():
    installed = Catalog.installed()
    entries = tuple(installed.find("solver", name) for name in ("coupled", "implicit-mpm", "xpbd"))
    schema, _ = json_schema(attrs.evolve(installed, entries=entries))
    inner = {"rigid": {"type": "xpbd", "iterations": "many"}, "particles": SAND}

    (fault,) = jsonschema.Draft7Validator(schema).iter_errors({"solver": {"type": "coupled", **inner}})

    assert list(fault.absolute_path) == ["solver", "rigid", "iterations"]
