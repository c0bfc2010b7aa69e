"""Frame transforms of bodies at known poses, and of a chain that moves; Newton's own sensor beside them."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp

QUARTER = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), wp.radians(90.0))
"""A quarter turn about z: the x axis of what is turned points along y."""


class Featherstone:
    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)


@pytest.fixture
def boxes():
    """Three free bodies: a base at (1, 0, 1) with a quarter turn, and two feet, 2 m and 3 m along y."""
    builder = newton.ModelBuilder()
    for label, place, turn in (
        ("base", (1.0, 0.0, 1.0), QUARTER),
        ("left_foot", (1.0, 2.0, 1.0), wp.quat_identity()),
        ("right_foot", (1.0, 3.0, 1.0), QUARTER),
    ):
        body = builder.add_body(label=label, xform=wp.transform(place, turn), mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
        builder.joint_qd[6 * body + 5] = 4.0 * body  # spins, each in its own way
        builder.joint_qd[6 * body] = 0.5 * body
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.005,
    capture="require",
    solver=Featherstone,
    sensors={"feet": {"type": "frame-transform"}},
    options="sensors.feet",
)


def reading(simulation, name, sensor="feet"):
    return simulation.sensors[sensor][name].numpy()


def poses(simulation, sensor):
    """Return the transforms of a world's targets, as Warp has them."""
    return [wp.transform(*values) for values in reading(simulation, "transform", sensor)[0]]


@pytest.mark.alone
def test_poses_are_given_in_the_frame_of_the_reference(simulate, boxes):
    """The base's x axis points along the world's y, on which the feet stand. Valid before the first step."""
    with simulate(boxes, body=".*_foot", reference={"body": "base"}) as simulation:
        half = np.sqrt(0.5)
        np.testing.assert_allclose(reading(simulation, "position")[0], [[2.0, 0.0, 0.0], [3.0, 0.0, 0.0]], atol=1e-6)
        np.testing.assert_allclose(
            reading(simulation, "orientation")[0], [[0.0, 0.0, -half, half], [0.0, 0.0, 0.0, 1.0]], atol=1e-6
        )


def test_poses_are_the_world_s_where_there_is_no_reference(simulate, boxes):
    with simulate(boxes, body="base") as simulation:
        simulation.step(5)

        np.testing.assert_array_equal(reading(simulation, "transform")[0, 0], simulation.state.body_q.numpy()[0])
        assert simulation.sensors["feet"].outputs["position"].frame == "world"


def test_sites_on_both_sides_count(simulate, boxes):
    """1 m above the foot, from 1 m along the base's x axis, whose z axis is turned onto the base's x."""
    turn = wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), wp.radians(90.0))
    reference = {"body": "base", "position": [1.0, 0.0, 0.0], "rotation": list(turn)}
    with simulate(boxes, body="left_foot", position=[0.0, 0.0, 1.0], reference=reference) as simulation:
        np.testing.assert_allclose(reading(simulation, "position")[0, 0], [-1.0, 0.0, 1.0], atol=1e-6)


def test_transforms_are_the_bits_of_the_sensor_of_newton(simulate, boxes):
    with simulate(boxes, worlds=2, body=".*_foot", reference={"body": "base"}) as simulation:
        model = simulation.model
        sites = {name: [i for i, label in enumerate(model.shape_label) if name in label] for name in ("site", "ref")}
        references = np.repeat(sites["ref"], 2).tolist()
        sensor = newton.sensors.SensorFrameTransform(model, sites["site"], references)
        simulation.step(20)
        sensor.update(simulation.state)

        assert reading(simulation, "transform").tobytes() == sensor.transforms.numpy().tobytes()
        assert len(set(reading(simulation, "position")[..., 0].ravel())) > 1


def test_transforms_compose(simulate, boxes):
    """World to base and base to foot make world to foot, while all of them fly and spin."""
    sensors = {
        "base": {"type": "frame-transform", "body": "base"},
        "feet_in_base": {"type": "frame-transform", "body": ".*_foot", "reference": {"body": "base"}},
        "feet": {"type": "frame-transform", "body": ".*_foot"},
    }
    with simulate(boxes, sensors=sensors) as simulation:
        simulation.step(40)
        base = poses(simulation, "base")[0]

        composed = [wp.transform_multiply(base, foot) for foot in poses(simulation, "feet_in_base")]
        np.testing.assert_allclose(composed, poses(simulation, "feet"), atol=1e-6)


def test_a_reset_measures_the_masked_worlds_anew_and_leaves_the_others(simulate, boxes):
    with simulate(boxes, worlds=3, body=".*_foot") as simulation:
        start = reading(simulation, "position").copy()
        simulation.step(10)
        flown = reading(simulation, "position").copy()
        simulation.reset([1])

        assert reading(simulation, "position").shape == (3, 2, 3)
        np.testing.assert_array_equal(reading(simulation, "position"), np.stack([flown[0], start[1], flown[2]]))
        assert (np.abs(flown - start).max(axis=(1, 2)) > 1e-3).all()


def test_recorded_and_eager_steps_and_a_checkpoint_read_the_same_bits(simulate, boxes, tmp_path):
    options = {"body": ".*_foot", "reference": {"body": "base"}, "period": 0.01}
    with simulate(boxes, **options) as simulation:
        simulation.step(5)
        simulation.save(tmp_path / "run")
        recorded = reading(simulation, "transform").tobytes()
    with simulate(boxes, capture="off", **options) as simulation:
        simulation.step(5)
        assert reading(simulation, "transform").tobytes() == recorded
    with pippin.Simulation.load(tmp_path / "run", [Featherstone()], boxes) as resumed:
        assert reading(resumed, "transform").tobytes() == recorded


def test_worlds_may_differ_but_the_reference_must_be_where_the_targets_are(simulate, boxes):
    other = newton.ModelBuilder()
    other.add_body(label="left_foot", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    lonely = newton.ModelBuilder()
    lonely.add_body(label="drone", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    worlds = {"body": "left_foot", "reference": {"body": "base"}, "worlds": 2}
    with simulate([(lonely, 1), (boxes, 1)], **worlds) as simulation:
        assert simulation.sensors["feet"].worlds.tolist() == [1]

    with pytest.raises(pippin.ConfigError, match=r"^sensors\.feet\.reference\.body: no body matches 'base'"):
        simulate([(other, 1), (boxes, 1)], **worlds)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        (r"body: no body matches 'left_fot'.*'left_foot'", {"body": "left_fot"}),
        (r"reference\.body: no body matches 'bas'.*'base'", {"reference": {"body": "bas"}}),
        (r"reference\.body: '.*_foot' matches 2 bodies, left_foot, right_foot", {"reference": {"body": ".*_foot"}}),
        (r"reference: exactly one of body, site must be given: none", {"reference": {"position": [0.0, 0.0, 1.0]}}),
        (r"reference\.position\.1: ", {"reference": {"body": "base", "position": [0.0, float("nan"), 0.0]}}),
        (r"reference\.rotation: ", {"reference": {"body": "base", "rotation": [0.0, 0.0, 0.0, 0.0]}}),
        (r"references: unknown key; did you mean 'reference'", {"references": "base"}),
    ],
)
def test_values_that_make_no_sense_are_refused_where_they_stand(simulate, boxes, message, options):
    with pytest.raises(pippin.ConfigError, match=rf"^sensors\.feet\.{message}"):
        simulate(boxes, **{"body": "left_foot", **options})


CONFORMANCE = conformance.Conformance(
    "sensor", "frame-transform", config={"body": "link_.*", "reference": {"body": "ball"}}
)


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
