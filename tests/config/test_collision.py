"""The `[collision]` table: complete, strict, and in effect."""

import inspect
import re
from importlib import import_module

import attrs
import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.config import BodyPairReductionConfig, CollisionConfig, HydroelasticConfig
from pippin.config.collision import PARTICLE_NUMBERS

NOT_DATA = {
    "narrow_phase": "an object",
    "requires_grad": "follows the model",
    "shape_pairs_filtered": "an array",
    "soft_contact_margin": "deprecated, soft_contact_gap",
}
"""Options of the pipeline that the table leaves out, and why."""

RENAMED = {"sdf_hydroelastic_config": "hydroelastic"}

HYDROELASTIC_NOT_DATA = {
    "margin_contact_area": "deprecated",
    "pressure_data": "a struct",
    "pressure_func": "a function",
}


def pipeline_options():
    return dict(list(inspect.signature(newton.CollisionPipeline.__init__).parameters.items())[2:])


def defaults(cls):
    """Return what a constructor takes where nothing is said, by name."""
    return {parameter.name: parameter.default for parameter in inspect.signature(cls).parameters.values()}


def own_defaults(cls):
    return {field.name: field.default for field in attrs.fields(cls)}


def test_the_table_has_every_option_of_the_pipeline_with_its_default():
    theirs = {RENAMED.get(name, name): option.default for name, option in pipeline_options().items()}
    for name in NOT_DATA:
        del theirs[name]

    own = own_defaults(CollisionConfig)
    assert {own.pop(name) for name in PARTICLE_NUMBERS} == {None}
    assert own == {**theirs, "interval": 1, "verify_buffers": False}  # the host says it once


def test_the_hydroelastic_table_has_every_option_with_its_default():
    theirs = defaults(newton.geometry.HydroelasticSDF.Config)
    for name in HYDROELASTIC_NOT_DATA:
        del theirs[name]

    assert own_defaults(HydroelasticConfig) == theirs


def test_reduction_by_pairs_of_bodies_has_every_option_with_its_default():
    assert own_defaults(BodyPairReductionConfig) == defaults(newton.CollisionPipeline.BodyPairReductionConfig)


def test_an_option_of_earlier_hydroelastics_is_refused_with_its_replacement():
    with pytest.raises(pippin.ConfigError, match=r"^collision\.hydroelastic\.margin_contact_area: not a key any more"):
        pippin.structure({"collision": {"hydroelastic": {"margin_contact_area": 0.01}}})


EXCLUDED = (
    ({"contact_report": True}, "contact_report", "needs contact_matching = 'latest' or 'sticky'"),
    ({"contact_matching_pos_threshold": 0.01}, "contact_matching_pos_threshold", "needs contact_matching"),
    (
        {"contact_matching_normal_dot_threshold": 0.9},
        "contact_matching_normal_dot_threshold",
        "needs contact_matching = 'latest' or 'sticky'; leave it out otherwise, got 0.9",
    ),
    ({"shape_pairs_max": 8}, "shape_pairs_max", "needs broad_phase = 'nxn' or 'sap'"),
    ({"shape_pairs_max": 8, "broad_phase": "explicit"}, "shape_pairs_max", "needs broad_phase = 'nxn' or 'sap'"),
    (
        {"contact_reduction_hashtable_size_factor": 0.5, "reduce_contacts": False},
        "contact_reduction_hashtable_size_factor",
        "needs reduce_contacts = true",
    ),
    ({"body_pair_reduction": {}, "contact_matching": "sticky"}, "body_pair_reduction", "needs contact_matching"),
    (
        {"body_pair_reduction": {}, "hydroelastic": {}},
        "body_pair_reduction",
        "needs [collision.hydroelastic] to be absent; leave it out otherwise, got a table",
    ),
    (
        {"speculative_contact_gap_max": 0.1, "hydroelastic": {}},
        "speculative_contact_gap_max",
        "needs [collision.hydroelastic] to be absent",
    ),
    (
        {"hydroelastic": {"reduce_contacts": False, "anchor_contact": True}},
        "hydroelastic.anchor_contact",
        "needs reduce_contacts = true",
    ),
    (
        {"hydroelastic": {"pre_prune_contacts": False, "contact_buffer_fraction": 0.3}},
        "hydroelastic.contact_buffer_fraction",
        "needs reduce_contacts and pre_prune_contacts",
    ),
)


@pytest.mark.parametrize(("table", "key", "cure"), EXCLUDED, ids=[key for _, key, _ in EXCLUDED])
def test_a_setting_that_newton_would_ignore_is_refused(table, key, cure):
    with pytest.raises(pippin.ConfigError, match=rf"^collision\.{re.escape(key)}: .*{re.escape(cure)}"):
        pippin.structure({"collision": table})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hydroelastic.buffer_fraction", 0.0),
        ("hydroelastic.buffer_mult_iso", 0),
        ("hydroelastic.mc_edge_clamp_min", 0.6),
        ("body_pair_reduction.cell_size", 0.0),
        ("body_pair_reduction.hashtable_size_factor", -1.0),
    ],
)
def test_a_bad_value_of_a_nested_table_is_refused_by_name(key, value):
    table, name = key.split(".")

    with pytest.raises(pippin.ConfigError, match=rf"^collision\.{table}\.{name}: "):
        pippin.structure({"collision": {table: {name: value}}})


@pytest.mark.parametrize(
    "solver",
    ["mujoco", "mujoco-native", {"type": "kamino", "use_collision_detector": True}],
    ids=["mujoco", "mujoco-native", "kamino"],
)
def test_a_table_that_the_solver_would_ignore_is_refused_before_anything_is_built(solver, configure, monkeypatch):
    """Before the first builder is made, and so before a kernel is compiled."""
    import_module("pippin.assembly.built")  # derives from the builder
    monkeypatch.setattr(newton, "ModelBuilder", None)

    with pytest.raises(pippin.ConfigError, match=r"^collision: solver '[a-z-]+' detects contacts itself"):
        pippin.Simulation(configure(solver, collision={"rigid_contact_max": 8}))


@pytest.fixture
def boxes():
    """Two boxes of a world, one on the other, and a sphere beside them."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for name, position in (("low", (0.0, 0.0, 0.1)), ("high", (0.02, 0.0, 0.3)), ("ball", (1.0, 0.0, 0.1))):
        body = builder.add_body(xform=wp.transform(wp.vec3(*position), wp.quat_identity()), label=name)
        if name == "ball":
            builder.add_shape_sphere(body, radius=0.1)
        else:
            builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1)
    return builder


OPTIONS = (
    {"broad_phase": "nxn"},
    {"broad_phase": "sap"},
    {"broad_phase": "explicit", "reduce_contacts": False},
    {"contact_matching": "latest", "contact_report": True},
    {"contact_matching": "sticky"},
    {"interval": 2},
    {"deterministic": True},
    {"broad_phase": "sap", "speculative_contact_gap_max": 0.02},
)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_contacts_of_every_kind_are_captured_and_carry_the_stack(options, boxes, configure):
    """The stack rests where it was put, within XPBD's penetration at rest, eager and captured alike."""
    ends = {}
    for capture in ("off", "require"):
        config = configure(
            "xpbd", scene={"worlds": 2, "ground": True}, collision=options, capture=capture, substeps=4, dt=0.004
        )
        with pippin.Simulation(config, prototype=boxes) as simulation:
            simulation.step(100)
            simulation.raise_errors()
            ends[capture] = simulation.state.body_q.numpy().copy()

    assert ends["off"].tobytes() == ends["require"].tobytes()
    np.testing.assert_allclose(ends["require"][:3, 2], [0.1, 0.3, 0.1], atol=0.01)


def test_an_interval_counts_detections_within_a_physics_step(boxes, configure):
    """Of 8 substeps, every second, fourth or eighth begins with a detection; each physics step begins with one."""
    for interval, detections in ((1, 8), (2, 4), (4, 2), (7, 2), (8, 1)):
        config = configure(
            "xpbd", scene={"ground": True}, collision={"interval": interval}, substeps=8, decimation=3, capture="off"
        )
        with pippin.Simulation(config, prototype=boxes) as simulation:
            names = [operation.name for operation in simulation.program.operations]

        assert names.count("collide") == 3 * detections


def test_a_reset_world_forgets_its_matched_contacts_and_the_other_keeps_them(boxes, configure):
    config = configure(
        "xpbd", scene={"worlds": 2, "ground": True}, collision={"contact_matching": "sticky"}, substeps=2
    )
    with (
        pippin.Simulation(config, prototype=boxes) as reset,
        pippin.Simulation(config, prototype=boxes) as fresh,
        pippin.Simulation(config, prototype=boxes) as alone,
    ):
        reset.step(30)
        reset.reset([0])
        reset.step(20)
        fresh.step(20)
        alone.step(50)
        ends = [simulation.state.body_q.numpy().reshape(2, -1) for simulation in (reset, fresh, alone)]

    assert ends[0][0].tobytes() == ends[1][0].tobytes(), "the reset world begins anew"
    assert ends[0][1].tobytes() == ends[2][1].tobytes(), "the other one goes on"


def test_matched_contacts_survive_a_checkpoint(boxes, configure, tmp_path):
    config = configure(
        "xpbd", scene={"worlds": 2, "ground": True}, collision={"contact_matching": "sticky"}, substeps=2
    )
    with pippin.Simulation(config, prototype=boxes) as whole:
        whole.step(30)
        whole.save(tmp_path / "stack.npz")
        whole.step(30)
        expected = whole.state.body_q.numpy().copy()

    with pippin.Simulation.load(tmp_path / "stack.npz", prototype=boxes) as resumed:
        resumed.step(30)

        assert resumed.state.body_q.numpy().tobytes() == expected.tobytes()


@pytest.mark.slow
def test_contacts_are_reduced_by_pairs_of_bodies_for_a_solver_that_takes_them(configure):
    """A body of two boxes side by side rests on eight contacts of two shapes; four corners carry it as well."""
    counts = {}
    for name, table in (("all", {}), ("few", {"body_pair_reduction": {"cell_size": 2.0}})):
        config = configure(
            {"type": "steel", "articulation_constraint_max": 64}, scene={"ground": True}, collision=table, capture="off"
        )
        with pippin.Simulation(config, prototype=double_box()) as simulation:
            simulation.step(20)
            simulation.raise_errors()
            counts[name] = int(simulation.contacts.rigid_contact_count.numpy()[0])
            height = float(simulation.state.body_q.numpy()[0, 2])

        assert height == pytest.approx(0.1, abs=2e-3)

    assert counts["few"] < counts["all"] == 8


def double_box():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverSteel.register_custom_attributes(builder)
    body = builder.add_body(xform=wp.transform(wp.vec3(0.0, 0.0, 0.1), wp.quat_identity()), label="double")
    for side in (-0.1, 0.1):
        place = wp.transform(wp.vec3(side, 0.0, 0.0), wp.quat_identity())
        builder.add_shape_box(body, xform=place, hx=0.1, hy=0.1, hz=0.1)
    return builder


def test_reduced_contacts_are_refused_for_a_solver_that_needs_all(boxes, configure):
    config = configure("xpbd", scene={"ground": True}, collision={"body_pair_reduction": {}})

    with pytest.raises(pippin.ConfigError, match=r"^collision\.body_pair_reduction: solver 'xpbd' needs every contact"):
        pippin.Simulation(config, prototype=boxes)


def test_hydroelastic_settings_without_hydroelastic_shapes_are_refused(boxes, configure):
    config = configure("xpbd", scene={"ground": True}, collision={"hydroelastic": {"grid_size": 1024}})

    with pytest.raises(pippin.ConfigError, match=r"^collision\.hydroelastic: no two shapes .* are hydroelastic"):
        pippin.Simulation(config, prototype=boxes)


def test_hydroelastic_shapes_are_refused_on_the_cpu_with_the_shape_and_the_device(boxes, configure):
    config = configure("xpbd", collision={"hydroelastic": {}})
    boxes.default_shape_cfg.configure_sdf(max_resolution=32, is_hydroelastic=True)
    boxes.add_shape_box(0, hx=0.1, hy=0.1, hz=0.1, label="soft")

    with pytest.raises(
        pippin.ConfigError, match=r"^scene\.shapes\.is_hydroelastic: shape 'soft' .* needs CUDA, .* device is 'cpu'"
    ):
        pippin.Simulation(config, prototype=boxes)


@pytest.mark.skipif(not wp.is_cuda_available(), reason="signed distance fields need CUDA")
def test_hydroelastic_boxes_rest_on_each_other(configure):
    """Two boxes of 0.2 m, pressed together by gravity; each sinks in by far less than a centimetre."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.default_shape_cfg.configure_sdf(max_resolution=32, is_hydroelastic=True)
    builder.add_shape_box(-1, xform=wp.transform(wp.vec3(0.0, 0.0, -0.1), wp.quat_identity()), hx=0.5, hy=0.5, hz=0.1)
    body = builder.add_body(xform=wp.transform(wp.vec3(0.0, 0.0, 0.1), wp.quat_identity()), label="box")
    builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1)
    config = configure(
        {"type": "mujoco", "use_mujoco_contacts": False}, collision={"hydroelastic": {}}, device="cuda:0"
    )
    with pippin.Simulation(config, prototype=builder) as simulation:
        simulation.step(200)
        simulation.raise_errors()

        assert simulation.state.body_q.numpy()[0, 2] == pytest.approx(0.1, abs=0.005)


def test_what_newton_refuses_of_the_table_is_named_as_the_table(boxes, configure):
    """Contact ids of matched contacts have 20 bits."""
    config = configure("xpbd", collision={"contact_matching": "latest", "max_triangle_pairs": 2**21})
    boxes.add_shape_mesh(0, mesh=newton.Mesh.create_box(0.1, 0.1, 0.1, compute_inertia=False))

    with pytest.raises(pippin.ConfigError, match=r"^collision: newton refused it for this model: ") as caught:
        pippin.Simulation(config, prototype=boxes)

    assert isinstance(caught.value.__cause__, ValueError)


def test_what_newton_refuses_of_the_solver_is_named_as_the_solver(ball, configure):
    """MuJoCo's speculative contacts need an integrator of its own."""
    config = configure(
        {
            "type": "mujoco",
            "use_mujoco_contacts": False,
            "use_speculative_contacts": True,
            "integrator": "rk4",
        }
    )

    with pytest.raises(pippin.ConfigError, match=r"^solver: refused this model or these settings: .*") as caught:
        pippin.Simulation(config, prototype=ball())

    assert isinstance(caught.value.__cause__, ValueError)


def test_a_fast_body_is_seen_before_it_passes_a_thin_wall(configure):
    """A sphere moves 0.5 m per step at a wall of 0.02 m; only where contacts are speculative, some is detected."""
    counts = {}
    for name, table in (("present", {}), ("speculative", {"speculative_contact_gap_max": 1.0})):
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        builder.add_shape_box(-1, hx=0.01, hy=1.0, hz=1.0, label="wall")
        body = builder.add_body(xform=wp.transform(wp.vec3(-0.3, 0.0, 0.0), wp.quat_identity()), label="bullet")
        builder.add_shape_sphere(body, radius=0.05)
        config = configure("xpbd", collision=table, dt=0.005, capture="off")
        with pippin.Simulation(config, prototype=builder) as simulation:
            simulation.state.body_qd.assign(np.array([[100.0, 0, 0, 0, 0, 0]], dtype=np.float32))
            simulation.step()
            counts[name] = int(simulation.contacts.rigid_contact_count.numpy()[0])

    assert counts["present"] == 0
    assert counts["speculative"] > 0


def test_every_number_of_contacts_of_particles_is_a_key():
    model = newton.Model(device="cpu")
    theirs = {name for name in vars(model) if re.match(r"(soft_contact|particle)_(k|mu|res|coh|adh)", name)}

    assert set(PARTICLE_NUMBERS) == theirs


GRAINS = {"type": "granular", "label": "bed", "size": [0.1, 0.1, 0.1], "density": 1000.0, "spacing": 0.05}


def grains(solver, **collision):
    solver = {"type": solver} if isinstance(solver, str) else solver
    scene = {"objects": [GRAINS], "ground": True}
    return pippin.structure({"solver": solver, "scene": scene, "collision": collision, "simulation": {"device": "cpu"}})


def test_numbers_of_particles_reach_the_model_also_after_a_resume(tmp_path):
    with pippin.Simulation(grains("xpbd", soft_contact_mu=0.3, particle_adhesion=0.01)) as simulation:
        simulation.step()
        simulation.save(tmp_path / "bed.npz")
    with pippin.Simulation.load(tmp_path / "bed.npz") as resumed:
        found = (resumed.model.soft_contact_mu, resumed.model.particle_adhesion)

    assert found == (0.3, 0.01)


@pytest.mark.parametrize(
    ("solver", "key"),
    [
        ("xpbd", "soft_contact_ke"),
        ("xpbd", "soft_contact_restitution"),
        ("vbd", "soft_contact_kf"),
        ("vbd", "particle_mu"),
        ("featherstone", "particle_ke"),
        ({"type": "xpbd", "disable_particle_contacts": True}, "particle_cohesion"),
    ],
)
def test_a_number_that_the_solver_does_not_read_is_refused_by_its_key(solver, key):
    """Also one that Newton has by default: the solver would have none."""
    default = {"ke": 1000.0, "kf": 1000.0, "mu": 0.5}.get(key.rpartition("_")[2], 0.0)

    with pytest.raises(pippin.ConfigError, match=rf"does not support \w+ \(.*\), used by collision\.{key};"):
        pippin.Simulation(grains(solver, **{key: default}))


def test_numbers_of_contacts_of_particles_need_particles(boxes, configure):
    config = configure("xpbd", collision={"soft_contact_mu": 0.3})

    with pytest.raises(pippin.ConfigError, match=r"^collision\.soft_contact_mu: 0\.3, but the scene has no particles"):
        pippin.Simulation(config, prototype=boxes)
