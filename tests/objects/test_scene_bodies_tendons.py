"""Sites and tendons of a scene: their laws, their places, their worlds and errors."""

import numpy as np
import pippin
import pytest

GRAVITY = 9.81
SLIDER = {"type": "prismatic", "axis": [0.0, 0.0, 1.0]}
ROLLER = {"type": "roller", "axis": [0.0, 1.0, 0.0], "radius": 0.2, "position": [0.0, 0.0, 3.0]}


def weight(label, x, mass, **keys):
    shapes = [{"type": "sphere", "radius": 0.05}]
    common = {"type": "body", "label": label, "position": [x, 0.0, 1.0], "shapes": shapes, "joint": SLIDER}
    return {**common, "mass": mass, **keys}


def build(objects, guides, *, solver="xpbd", device="cpu", scene=(), **tendon):
    options = {"type": solver} | ({"iterations": 16} if solver == "xpbd" else {})
    tables = {
        "simulation": {"device": device, "dt": 0.01, "substeps": 8},
        "scene": {"objects": objects, "tendons": [{"label": "rope", "guides": guides, **tendon}], **dict(scene)},
        "solver": options,
    }
    return pippin.Simulation(pippin.structure(tables))


def atwood(middle, *, heavy=2.0, **keys):
    """Return a machine of 1 kg and `heavy` [kg] on both sides of a guide."""
    ends = [{"body": label} for label in ("light", "heavy")]
    return build(
        [weight("light", -0.2, 1.0), weight("heavy", 0.2, heavy)], [ends[0], middle, ends[1]], compliance=1e-6, **keys
    )


def accelerations(simulation, steps=20):
    """Return the mean accelerations of the weights from rest [m/s²]."""
    start = simulation.state.body_q.numpy()[:, 2].copy()
    simulation.step(steps)
    return 2.0 * (simulation.state.body_q.numpy()[:, 2] - start) / simulation.time**2


@pytest.mark.slow
@pytest.mark.first_cases(1)
@pytest.mark.parametrize("friction", [0.0, 0.15])
def test_the_tensions_at_a_fixed_roller_differ_as_euler_says(device, friction):
    ratio = np.exp(friction * np.pi)
    with atwood({**ROLLER, "mu": friction}, device=device) as simulation:
        found = accelerations(simulation)

    expected = GRAVITY * (2.0 - ratio) / (2.0 + ratio)
    assert found == pytest.approx([expected, -expected], rel=0.03)


@pytest.mark.slow
def test_a_roller_of_enough_friction_holds_both_weights():
    with atwood({**ROLLER, "mu": 0.3}) as simulation:  # ln(2) / pi is 0.22
        assert np.abs(accelerations(simulation)).max() < 0.05


@pytest.mark.slow
def test_a_tendon_slides_through_a_pinhole():
    pinhole = {"type": "pinhole", "position": [0.0, 0.0, 30.0]}  # so high that both spans stand upright
    with atwood(pinhole) as simulation:
        found = accelerations(simulation)

    assert found == pytest.approx([GRAVITY / 3, -GRAVITY / 3], rel=0.03)


@pytest.mark.slow
def test_a_span_stretches_by_compliance_times_weight():
    guides = [{"position": [0.0, 0.0, 3.0]}, {"body": "load", "damping": 200.0}]
    with build([weight("load", 0.0, 2.0)], guides, compliance=1e-3) as simulation:
        simulation.step(200)
        height = simulation.state.body_q.numpy()[0, 2]

    assert 1.0 - height == pytest.approx(1e-3 * 2.0 * GRAVITY, rel=0.02)


@pytest.mark.slow
def test_a_longer_rest_length_lets_the_load_fall_so_far():
    guides = [{"position": [0.0, 0.0, 3.0]}, {"body": "load", "rest_length": 2.3}]
    with build([weight("load", 0.0, 2.0)], guides) as simulation:
        simulation.step(200)
        height = simulation.state.body_q.numpy()[0, 2]

    assert height == pytest.approx(0.7, abs=5e-3)


def test_a_guide_at_a_site_has_its_pose():
    sites = [{"label": "hook", "body": "load", "position": [0.3, 0.0, 0.0], "rotation": [0.0, 0.0, 1.0, 0.0]}]
    load = {key: value for key, value in weight("load", 0.0, 2.0).items() if key != "joint"}
    guides = [{"position": [0.2, 0.0, 3.0]}, {"site": "hook", "position": [0.1, 0.0, 0.0]}]
    with build([load], guides, scene={"sites": sites}) as simulation:
        model = simulation.model
        assert model.tendon_guide_body.numpy().tolist() == [-1, 0]
        assert model.tendon_guide_offset.numpy()[1] == pytest.approx([0.2, 0.0, 0.0], abs=1e-6)


@pytest.mark.slow
def test_a_site_of_a_static_object_belongs_to_the_world():
    post = {
        "type": "body", "label": "post", "motion": "static", "position": [1.0, 0.0, 2.0],
        "shapes": [{"type": "box", "size": [0.1, 0.1, 2.0]}],
    }  # fmt: skip
    sites = [{"label": "top", "body": "post", "position": [-1.0, 0.0, 1.0]}]
    guides = [{"site": "top"}, {"body": "load"}]
    with build([post, weight("load", 0.0, 2.0)], guides, scene={"sites": sites}) as simulation:
        assert simulation.model.tendon_guide_offset.numpy()[0] == pytest.approx([0.0, 0.0, 3.0])
        simulation.step(100)
        assert simulation.state.body_q.numpy()[0, 2] == pytest.approx(1.0, abs=5e-3)


def test_a_sensor_measures_at_a_site_of_the_scene():
    tables = {
        "simulation": {"device": "cpu", "dt": 0.001},
        "solver": {"type": "mujoco"},
        "scene": {
            "gravity": [0.0, 0.0, 0.0],
            "objects": [{**weight("wheel", 0.0, 1.0), "joint": {**SLIDER, "type": "revolute", "velocity": 4.0}}],
            "sites": [{"label": "rim", "body": "wheel", "position": [0.5, 0.0, 0.0]}],
        },
        "sensors": {"imu": {"type": "imu", "site": "rim"}},
    }
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        simulation.step(10)
        force = simulation.sensors["imu"].outputs["linear_acceleration"].data.numpy()

    assert force.ravel() == pytest.approx([-(4.0**2) * 0.5, 0.0, 0.0], abs=1e-3)


@pytest.mark.slow
def test_a_reset_world_repeats_its_run():
    with atwood({**ROLLER, "mu": 0.1}, scene={"worlds": 2}) as simulation:
        simulation.step(10)
        first = simulation.state.body_q.numpy().copy()
        simulation.step(5)
        simulation.reset([True, False])
        simulation.step(10)
        second = simulation.state.body_q.numpy()

    np.testing.assert_array_equal(first[:2], second[:2])
    assert np.abs(first[2:] - second[2:]).max() > 0.03


def test_a_world_without_a_body_of_a_tendon_lacks_the_tendon():
    objects = [weight("load", 0.0, 1.0), weight("extra", 1.0, 1.0, worlds=[1])]
    sites = [{"label": "hook", "body": "extra"}]
    guides = [{"position": [1.0, 0.0, 3.0]}, {"site": "hook"}]
    with build(objects, guides, scene={"sites": sites, "worlds": 3}) as simulation:
        assert simulation.model.tendon_world.numpy().tolist() == [1]
        assert simulation.model.shape_label.count("hook") == 1


@pytest.mark.parametrize("solver", ["mujoco", "featherstone", "semi-implicit"])
def test_a_solver_without_tendons_refuses_them(solver):
    with pytest.raises(pippin.ConfigError, match="tendons"):
        atwood(ROLLER, solver=solver)


LOAD = [{"position": [0.0, 0.0, 3.0]}, {"body": "load"}]


@pytest.mark.parametrize(
    ("guides", "reason"),
    [
        ([LOAD[0], {"body": "lode"}], r"tendons\[0\]\.guides\[1\]\.body: no body 'lode'.*'load'"),
        ([LOAD[0], {"site": "hook"}], r"tendons\[0\]\.guides\[1\]\.site: no site 'hook'; add it to scene\.sites"),
        ([LOAD[0], {"site": "hook", "body": "load"}], r"guides\.1\.site: needs no 'body'"),
        ([{"damping": 1.0}, LOAD[1]], "'damping' stands in the first guide"),
        ([{"type": "pinhole"}, LOAD[1]], "guide 0 is an end of the tendon"),
        ([LOAD[0], {"type": "roller"}, LOAD[1]], r"guides\.1\.radius: is required"),
        ([LOAD[0], {"type": "pinhole", "radius": 0.1}, LOAD[1]], r"guides\.1\.radius: needs type = 'roller'"),
        ([LOAD[0], {"mu": 0.1}, LOAD[1]], r"guides\.1\.mu: needs a pinhole or a roller"),
        ([LOAD[0], {**ROLLER, "orientation": 2}, LOAD[1]], "orientation"),
        ([LOAD[0], {**ROLLER, "is_dynamic": True}, {**ROLLER, "is_dynamic": True}, LOAD[1]], "'is_dynamic' of guide 2"),
        ([LOAD[0], ROLLER, LOAD[1]], "compliance: of the span before guide 1 is 0"),
        ([LOAD[0], {**ROLLER, "compliance": 1e-6}, LOAD[1]], "compliance: of the span before guide 2 is 0"),
        ([LOAD[0]], "guides"),
    ],
)
def test_a_wrong_route_is_refused_with_its_place(guides, reason):
    with pytest.raises(pippin.ConfigError, match=reason):
        build([weight("load", 0.0, 1.0)], guides)


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        ({"sites": [{"label": "a"}, {"label": "a"}]}, r"sites\[1\]\.label: 'a' is the label of another one"),
        ({"sites": [{"label": "a", "body": "lode"}]}, r"sites\[0\]\.body: no body 'lode'.*'load'"),
        ({"tendons": [{"label": "a", "guides": LOAD}] * 2}, r"tendons\[1\]\.label: 'a' is the label of another one"),
    ],
)
def test_equal_labels_and_unknown_bodies_are_refused(scene, reason):
    with pytest.raises(pippin.ConfigError, match=reason):
        build([weight("load", 0.0, 1.0)], LOAD, scene=scene)
