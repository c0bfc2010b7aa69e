"""Events that change the model: from the built values, by world, and known to the solver within the recorded step."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

WORLDS = 100
EVENTS = {
    "mass": {"type": "mass", "when": "reset", "bodies": ["box", "upper"], "scale": [0.5, 1.0], "add": [0.0, 1.0]},
    "com": {"type": "centre-of-mass", "when": "reset", "bodies": ["box"], "x": [-0.01, 0.01]},
    "friction": {"type": "friction", "when": "reset", "range": [0.2, 1.0], "shared": True},
    "gravity": {"type": "gravity", "when": "reset", "z": [-10.0, -9.0]},
}
CHANGED = ("body_mass", "body_inv_mass", "body_inertia", "body_inv_inertia", "body_com", "shape_material_mu")


@pytest.fixture(scope="module")
def varied(floating):
    """Return a simulation with many worlds after many resets."""
    simulation = floating(EVENTS, worlds=WORLDS)
    for _ in range(50):
        simulation.reset()
    return simulation


def of(simulation, name) -> np.ndarray:
    """Return an array of the model by world."""
    values = getattr(simulation.model, name).numpy()
    return values.reshape(simulation.world_count, -1, *values.shape[1:])


def test_masses_stay_in_the_range_around_the_built_ones(varied):
    masses = of(varied, "body_mass")

    assert 0.5 <= masses[:, :2].min() < 0.7
    assert 1.8 < masses[:, :2].max() <= 2.0
    assert len(np.unique(masses[:, :2])) == 2 * WORLDS
    assert (masses[:, 2] == 1.0).all()


def test_inertia_and_inverses_follow_the_mass(varied):
    masses, inertia = of(varied, "body_mass"), of(varied, "body_inertia")

    np.testing.assert_allclose(of(varied, "body_inv_mass"), 1.0 / masses, rtol=1e-6)
    np.testing.assert_allclose(inertia, masses[..., None, None] * 0.1 * np.eye(3), rtol=1e-6)
    np.testing.assert_allclose(
        of(varied, "body_inv_inertia") @ inertia, np.tile(np.eye(3), (WORLDS, 3, 1, 1)), atol=1e-6
    )


def test_centres_of_mass_stay_in_their_range(varied):
    centres = of(varied, "body_com")

    assert np.abs(centres[:, 0, 0]).max() <= 0.01 < 1.1 * np.abs(centres[:, 0, 0]).max()
    assert not centres[:, 0, 1:].any()
    assert not centres[:, 1:].any()


def test_shapes_of_a_world_share_one_friction(varied):
    friction = of(varied, "shape_material_mu")

    assert (friction == friction[:, :1]).all()
    assert 0.2 <= friction.min() < 0.25
    assert 0.95 < friction.max() <= 1.0


HINGE = {"armature": (0.05, "add", [0.0, 0.1]), "friction": (0.02, "scale", [0.5, 2.0])}
HINGE |= {"damping": (0.03, "range", [0.01, 0.1])}
"""Built value of a number of a joint, and how it varies."""
INERTIA, EFFORT, TIME = 0.1, 0.2, 0.05
SPEEDS = {
    "armature": lambda value: EFFORT * TIME / (INERTIA + value),
    "friction": lambda value: (EFFORT - value) * TIME / INERTIA,
    "damping": lambda value: EFFORT / value * (1.0 - np.exp(-value * TIME / INERTIA)),
}
"""Speed of a hinge without a drive that an effort turns from rest."""


def hinged(event, solver="mujoco", **joint):
    builder = newton.ModelBuilder(up_axis="Z")
    body = builder.add_link(label="arm", mass=1.0, inertia=wp.diag(wp.vec3(INERTIA)))
    builder.add_articulation([builder.add_joint_revolute(-1, body, axis=(0.0, 0.0, 1.0), label="hinge", **joint)])
    tables = {
        "simulation": {"device": "cpu", "dt": 0.001, "capture": "require"},
        "scene": {"worlds": 5, "gravity": [0.0, 0.0, 0.0]},
        "solver": {"type": solver},
        "task": {"episode_length": 10.0, "events": {"it": {"type": "joint-parameters", "when": "reset", **event}}},
    }
    return pippin.Simulation(pippin.structure(tables), prototype=builder)


@pytest.mark.parametrize("parameter", HINGE)
def test_a_joint_without_a_drive_turns_by_its_drawn_number(parameter):
    built, key, ends = HINGE[parameter]
    with hinged({"parameter": parameter, key: ends}, **{parameter: built}) as simulation:
        for _ in range(2):
            simulation.reset()
            simulation.control.joint_f.fill_(EFFORT)
            simulation.step(round(TIME / 0.001))
            drawn, speeds = (each.numpy() for each in (of_joint(simulation, parameter), simulation.state.joint_qd))

            np.testing.assert_allclose(speeds, SPEEDS[parameter](drawn), rtol=2e-2)
            lowest, highest = {"add": np.add, "scale": np.multiply, "range": lambda _, end: end}[key](built, ends)
            assert (drawn >= lowest - 1e-6).all()
            assert (drawn <= highest + 1e-6).all()
            assert len(np.unique(drawn)) == 5


def of_joint(simulation, name):
    return getattr(simulation.model, f"joint_{name}")


def test_a_joint_stops_at_its_drawn_limit():
    limits = {"limit_lower": -1.0, "limit_upper": 0.1}
    with hinged({"parameter": "limit_upper", "add": [0.0, 0.1]}, **limits) as simulation:
        simulation.control.joint_f.fill_(EFFORT)
        simulation.step(2000)
        drawn, positions = of_joint(simulation, "limit_upper").numpy(), simulation.state.joint_q.numpy()

    assert (drawn >= 0.1).all()
    assert (drawn <= 0.2).all()
    assert len(np.unique(drawn)) == 5
    np.testing.assert_allclose(positions, drawn, atol=0.01)


@pytest.mark.parametrize(
    ("event", "joint", "fault"),
    [
        (
            {"parameter": "armature", "add": [0.0, 0.1]},
            {"solver": "kamino"},
            "events.it.parameter: the built solver cannot vary the armature of 'hinge'",
        ),
        ({"parameter": "damping", "add": [-1.0, 0.0]}, {}, "events.it.add: the damping can become -1"),
        ({"parameter": "limit_upper"}, {}, "events.it.parameter: 'hinge' has limits in world 0 that .*, or none"),
        (
            {"parameter": "limit_lower", "add": [0.0, 2.0]},
            {"limit_lower": -1.0, "limit_upper": 0.5},
            "events.it.parameter: 'hinge' has limits",
        ),
    ],
)
def test_numbers_that_no_joint_or_solver_can_have_are_refused(event, joint, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        hinged(event, **joint)


def test_joints_whose_group_draws_the_number_are_refused(floating):
    event = {"type": "joint-parameters", "parameter": "armature", "scale": [0.5, 2.0]}
    with pytest.raises(pippin.ConfigError, match=r"events\.it\.parameter: the group 'arm' draws 'armature' itself"):
        floating({"it": event}, actuator={"armature": {"uniform": [0.1, 0.2]}})


@pytest.mark.slow
def test_the_logarithm_of_a_log_uniform_number_is_uniform(floating):
    """By the mean (log a + log b) / 2 and the deviation (log b - log a) / √12, with four standard errors."""
    keys = {"when": "startup", "distribution": "log-uniform"}
    events = {
        "mass": {"type": "mass", "bodies": ["box", "upper"], "scale": [0.1, 10.0], **keys},
        "friction": {"type": "friction", "range": [1e-3, 1.0], **keys},
    }
    with floating(events, worlds=400) as simulation:
        found = {
            "body_mass": (of(simulation, "body_mass")[:, :2], 0.1, 10.0),
            "shape_material_mu": (of(simulation, "shape_material_mu"), 1e-3, 1.0),
        }

    for name, (values, low, high) in found.items():
        logs, spread = np.log(values.ravel()), np.log(high / low) / np.sqrt(12.0)
        assert np.log(low) - 1e-5 <= logs.min() < logs.max() <= np.log(high) + 1e-5, name
        assert logs.mean() == pytest.approx(0.5 * np.log(low * high), abs=4.0 * spread / np.sqrt(len(logs))), name
        assert logs.std() == pytest.approx(spread, rel=4.0 * np.sqrt(0.2 / len(logs))), name


def test_gravity_differs_by_world(varied):
    gravity = varied.model.gravity.numpy()[:WORLDS]

    assert not gravity[:, :2].any()
    assert -10.0 <= gravity[:, 2].min() < -9.9
    assert -9.1 < gravity[:, 2].max() <= -9.0


def test_a_reset_of_one_world_leaves_the_others_bits(floating):
    simulation = floating(EVENTS)
    simulation.reset()
    before = {name: of(simulation, name).copy() for name in CHANGED}

    simulation.reset([2])

    for name, values in before.items():
        is_changed = (of(simulation, name) != values).reshape(4, -1).any(axis=1)
        assert is_changed.tolist() == [False, False, True, False], name


def slider() -> newton.ModelBuilder:
    """Return a body of 1 kg on a rail."""
    builder = newton.ModelBuilder(up_axis="Z")
    body = builder.add_link(label="body", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    builder.add_articulation([builder.add_joint_prismatic(-1, body, axis=(1.0, 0.0, 0.0), label="rail")])
    return builder


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", ["featherstone", "xpbd", "mujoco", "mujoco-native"])
def test_twice_the_mass_halves_the_acceleration_right_after_a_reset_in_the_step(solver):
    """v = F dt / m in one step from rest, whatever the integrator; two control steps of one episode before it."""
    capture = "auto" if solver == "mujoco-native" else "require"
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01, "capture": capture},
        "scene": {"worlds": 2, "gravity": [0.0, 0.0, 0.0]},
        "solver": {"type": solver},
        "actuators": {"motor": {"type": "pd", "joints": ["rail"], "kp": 0.0, "kd": 0.0}},
        "task": {
            "episode_length": 0.02,
            "actions": {"force": {"type": "joint-efforts", "actuator": "motor", "scale": 10.0}},
            "events": {"mass": {"type": "mass", "when": "reset", "range": [2.0, 2.0]}},
        },
    }
    simulation = pippin.Simulation(pippin.structure(tables), prototype=slider())
    simulation.view.rigid_bodies("**").set_masses([1.0, 1.0])  # until the first reset in a step
    speeds = []

    for _ in range(7):
        simulation.task.episodes.action.fill_(0.5)
        simulation.step()
        speeds.append(float(simulation.state.joint_qd.numpy()[1]))

    # A step that ends an episode leaves the world at rest.
    np.testing.assert_allclose(speeds, [0.05, 0.0, 0.025, 0.0, 0.025, 0.0, 0.025], rtol=1e-3)


def test_friction_slows_a_sliding_box():
    """Friction decelerates by at most μ g: the box of larger μ is slower."""
    builder = newton.ModelBuilder(up_axis="Z")
    body = builder.add_body(label="box", xform=wp.transform((0.0, 0.0, 0.1), wp.quat_identity()))
    builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1)
    tables = {
        "simulation": {"device": "cpu", "dt": 0.005, "decimation": 20},
        "scene": {"worlds": 4, "ground": True},
        "solver": {"type": "xpbd"},
        "task": {
            "events": {
                "start": {"type": "root", "velocity": {"x": [1.0, 1.0]}},
                "friction": {"type": "friction", "range": [0.0, 0.4]},
            }
        },
    }
    simulation = pippin.Simulation(pippin.structure(tables), prototype=builder)
    simulation.reset()

    simulation.step()

    model, speeds = simulation.model, simulation.state.joint_qd.numpy().reshape(4, -1)[:, 0]
    order = np.argsort(model.shape_material_mu.numpy()[model.shape_body.numpy() >= 0])
    assert (np.diff(speeds[order]) < -0.01).all()


def test_other_coefficients_and_single_shapes_take_draws_of_their_own():
    builder = newton.ModelBuilder(up_axis="Z")
    body = builder.add_body(label="box", xform=wp.transform((0.0, 0.0, 0.1), wp.quat_identity()))
    for name, place in (("sole", -0.05), ("top", 0.05)):
        pose = wp.transform((0.0, 0.0, place), wp.quat_identity())
        builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.05, xform=pose, label=name)
    events = {
        kind: {"type": "friction", "coefficient": kind, "shapes": ["sole"], "range": [low, 2.0 * low]}
        for kind, low in {"slide": 2.0, "spin": 0.3, "roll": 0.01}.items()
    }
    tables = {"simulation": {"device": "cpu"}, "scene": {"worlds": 3}, "solver": {"type": "mujoco"}}
    with pippin.Simulation(pippin.structure(tables | {"task": {"events": events}}), prototype=builder) as simulation:
        model = simulation.model
        arrays = (model.shape_material_mu, model.shape_material_mu_torsional, model.shape_material_mu_rolling)
        for array, low in zip(arrays, (2.0, 0.3, 0.01), strict=True):
            sole, top = array.numpy().reshape(3, 2).T
            assert ((low <= sole) & (sole <= 2.0 * low)).all()
            assert len(set(sole)) == 3
            assert len(set(top)) == 1


@pytest.mark.parametrize("solver", ["xpbd", "mujoco"])
def test_recorded_events_give_the_bits_of_eager_ones(floating, solver):
    events = {
        **EVENTS,
        "joints": {"type": "joints", "position": [-0.1, 0.1]},
        "root": {"type": "root", "yaw": [-1.0, 1.0]},
        "push": {"type": "push", "period": [0.02, 0.03], "x": [-0.5, 0.5]},
        "gains": {"type": "gains", "when": "reset", "actuator": "arm", "gain": "kp", "scale": [0.5, 2.0]},
        "com": {"type": "centre-of-mass", "when": "interval", "period": [0.02, 0.04], "x": [-0.1, 0.1]},
        "friction": {"type": "friction", "range": [0.2, 1.0]},
    }
    pair = [
        floating(events, solver=solver, simulation={"capture": capture}, episode_length=0.03)
        for capture in ("require", "off")
    ]

    for simulation in pair:
        simulation.step(10)

    for read in (lambda each: each.state.joint_q, lambda each: each.model.body_com, lambda each: each.model.body_mass):
        np.testing.assert_array_equal(*(read(each).numpy() for each in pair))
    assert pair[0].program.is_captured


def test_a_change_at_an_interval_waits_for_its_time(floating):
    event = {"type": "mass", "when": "interval", "period": [0.03, 0.03], "range": [2.0, 3.0]}
    simulation = floating({"mass": event})

    masses = [(simulation.step(), of(simulation, "body_mass").mean())[1] for _ in range(4)]

    assert masses[:2] == [1.0, 1.0]
    assert 2.0 < masses[2] < 3.0
    assert masses[3] == masses[2]


@pytest.mark.slow
def test_a_saved_simulation_keeps_its_masses(floating, tmp_path):
    simulation = floating(EVENTS)
    simulation.reset()
    simulation.step()
    simulation.save(tmp_path / "saved.pippin")

    loaded = pippin.Simulation.load(tmp_path / "saved.pippin", prototype=floating.prototype())

    for each in (simulation, loaded):
        each.reset([1])
        each.step(2)
    np.testing.assert_array_equal(of(loaded, "body_mass"), of(simulation, "body_mass"))
    np.testing.assert_array_equal(loaded.state.joint_q.numpy(), simulation.state.joint_q.numpy())


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        ({"type": "mass", "add": [-2.0, 0.0]}, "events.it.*the mass can become -1, and must be above 0"),
        ({"type": "mass", "range": [1.0, 2.0], "add": [1.0, 2.0]}, "range: stands in place of"),
        ({"type": "mass", "bodies": ["leg"]}, "events.it.bodies: no body matches 'leg'"),
        ({"type": "friction", "bodies": ["upper"]}, "events.it.bodies: no chosen body has a shape that collides"),
        ({"type": "mass", "distribution": "log-uniform", "add": [0.0, 1.0]}, "a number that is added has no logarithm"),
        ({"type": "mass", "distribution": "log-uniform", "range": [0.0, 1.0]}, "above 0, and 'range' begins at 0"),
        ({"type": "friction", "scale": [-1.0, 1.0]}, "events.it.*coefficient of friction can become -1"),
        ({"type": "gravity", "x": [1.0, -1.0]}, r"x: must be a range \[low, high\]"),
    ],
)
def test_bad_input_is_refused_with_its_place(floating, event, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        floating({"it": event})


def test_two_events_for_one_mass_are_refused(floating):
    with pytest.raises(pippin.ConfigError, match=r"events\.two\.bodies: events\.one changes the mass of 'box'"):
        floating({"one": {"type": "mass"}, "two": {"type": "mass", "bodies": ["box"]}})


def test_a_change_that_the_solver_does_not_take_over_is_refused(floating, monkeypatch):
    from pippin_solver_featherstone.solver import SolverFeatherstone

    monkeypatch.setattr(
        SolverFeatherstone, "supported_features", dict.fromkeys(SolverFeatherstone.supported_features, "build")
    )

    with pytest.raises(pippin.ConfigError, match=r"events\.mass: solver .* does not take over BODY_INERTIAL"):
        floating({"mass": {"type": "mass"}})
