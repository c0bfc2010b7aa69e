"""The `[collision]` table: complete, strict, and in effect."""

import inspect

import attrs
import newton
import numpy as np
import orchard
import pytest
import warp as wp
from orchard.config import CollisionConfig

NOT_DATA = {
    "body_pair_reduction": "a configuration of its own",
    "narrow_phase": "an object",
    "requires_grad": "follows the model",
    "sdf_hydroelastic_config": "a configuration of its own",
    "shape_pairs_filtered": "an array",
    "soft_contact_margin": "deprecated, soft_contact_gap",
}
"""Options of the pipeline that the table leaves out, and why."""


def pipeline_options():
    return dict(list(inspect.signature(newton.CollisionPipeline.__init__).parameters.items())[2:])


def test_the_table_has_every_option_of_the_pipeline_that_is_plain_data():
    fields = {field.name for field in attrs.fields(CollisionConfig)}

    assert fields - {"interval"} == pipeline_options().keys() - NOT_DATA.keys()


def test_every_default_is_that_of_newton():
    options = pipeline_options()
    for field in attrs.fields(CollisionConfig):
        if field.name != "interval":
            assert field.default == options[field.name].default, field.name


def test_a_report_without_matching_is_refused():
    with pytest.raises(orchard.ConfigError, match=r"collision.contact_report.*needs contact_matching = 'latest'"):
        orchard.structure({"collision": {"contact_report": True}})


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
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_contacts_of_every_kind_are_captured_and_carry_the_stack(options, boxes, configure):
    """The stack rests where it was put, within XPBD's penetration at rest, eager and captured alike."""
    ends = {}
    for capture in ("off", "require"):
        config = configure(
            "xpbd", scene={"worlds": 2, "ground": True}, collision=options, capture=capture, substeps=4, dt=0.004
        )
        with orchard.Simulation(config, prototype=boxes) as simulation:
            simulation.step(100)
            simulation.check()
            ends[capture] = simulation.state.body_q.numpy().copy()

    assert ends["off"].tobytes() == ends["require"].tobytes()
    np.testing.assert_allclose(ends["require"][:3, 2], [0.1, 0.3, 0.1], atol=0.01)


def test_an_interval_counts_detections_within_a_physics_step(boxes, configure):
    """Of 8 substeps, every second, fourth or eighth begins with a detection; each physics step begins with one."""
    for interval, detections in ((1, 8), (2, 4), (4, 2), (7, 2), (8, 1)):
        config = configure(
            "xpbd", scene={"ground": True}, collision={"interval": interval}, substeps=8, decimation=3, capture="off"
        )
        with orchard.Simulation(config, prototype=boxes) as simulation:
            names = [operation.name for operation in simulation.program.operations]

        assert names.count("collide") == 3 * detections


def test_a_reset_world_forgets_its_matched_contacts_and_the_other_keeps_them(boxes, configure):
    config = configure(
        "xpbd", scene={"worlds": 2, "ground": True}, collision={"contact_matching": "sticky"}, substeps=2
    )
    with (
        orchard.Simulation(config, prototype=boxes) as reset,
        orchard.Simulation(config, prototype=boxes) as fresh,
        orchard.Simulation(config, prototype=boxes) as alone,
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
    with orchard.Simulation(config, prototype=boxes) as whole:
        whole.step(30)
        whole.save(tmp_path / "stack.npz")
        whole.step(30)
        expected = whole.state.body_q.numpy().copy()

    with orchard.Simulation.load(tmp_path / "stack.npz", prototype=boxes) as resumed:
        resumed.step(30)

        assert resumed.state.body_q.numpy().tobytes() == expected.tobytes()
