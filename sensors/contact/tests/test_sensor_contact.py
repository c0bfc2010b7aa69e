"""The contact sensor over Newton's XPBD, which reports contact forces: weights, friction, and Newton's own sensor."""

import copy

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp

DT = 0.002


class XPBD:
    """A solver that comes with Newton itself."""

    coordinates = "maximal"
    supported_observables = newton.solvers.SolverXPBD.SUPPORTED_OBSERVABLES

    def __init__(self, *, is_weighted=True):
        self.is_weighted = is_weighted

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverXPBD(model, iterations=10, rigid_contact_con_weighting=self.is_weighted)


UNWEIGHTED = XPBD(is_weighted=False)
"""Weighted by the number of contacts, one body of a stack would report another force than the body that it is on."""


@pytest.fixture
def boxes():
    """Two boxes of 2 kg and 3 kg beside each other, their lower faces in the ground plane."""
    builder = newton.ModelBuilder()
    for index, (label, mass) in enumerate((("light", 2.0), ("heavy", 3.0))):
        pose = wp.transform(wp.vec3(float(index), 0.0, 0.1), wp.quat_identity())
        body = builder.add_body(label=label, xform=pose)
        density = mass / 0.2**3
        builder.add_shape_box(
            body,
            hx=0.1,
            hy=0.1,
            hz=0.1,
            cfg=newton.ModelBuilder.ShapeConfig(density=density, mu=0.8),
            label=f"skin_of_{label}",
        )
    return builder


@pytest.fixture
def tower(boxes):
    """The heavy box on the light one."""
    builder = copy.deepcopy(boxes)
    builder.joint_q[7 : 7 + 3] = [0.0, 0.0, 0.3]
    return builder


pytestmark = pytest.mark.simulation(
    dt=DT,
    capture="require",
    ground=True,
    solver=XPBD,
    sensors={"feet": {"type": "contact", "bodies": [".*"]}},
    options="sensors.feet",
)


def reading(simulation, name):
    return simulation.sensors["feet"].outputs[name].data.numpy()


def test_bodies_that_have_no_shape_are_refused(simulate, boxes):
    boxes.add_body(label="ghost", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))

    with pytest.raises(
        pippin.ConfigError, match=r"feet.*bodies: 'gh.\*' matches 'ghost', without a shape that collides"
    ):
        simulate(boxes, bodies=("light", "gh.*"))


def settled(simulation, name):
    """Return the mean of 100 steps after 200: XPBD's contact forces are corrections divided by dt², and flicker."""
    simulation.step(200)
    readings = []
    for _ in range(100):
        simulation.step()
        readings.append(reading(simulation, name).copy())
    return np.mean(readings, axis=0)


@pytest.mark.alone
def test_a_body_at_rest_is_carried_by_its_weight(simulate, boxes):
    with simulate(boxes) as simulation:
        force = settled(simulation, "net_force")[0]

    np.testing.assert_allclose(force, [[0.0, 0.0, 2.0 * 9.81], [0.0, 0.0, 3.0 * 9.81]], rtol=1e-3, atol=1e-3)


def test_friction_is_the_tangential_part_of_the_force(simulate, boxes):
    """A pull of 4 / 9.81 of the weight lies inside the cone of μ >= 0.8, so friction holds it with m g_x."""
    with simulate(boxes, gravity=(4.0, 0.0, -9.81)) as simulation:
        friction = settled(simulation, "friction_force")[0]
        net = settled(simulation, "net_force")[0]

    np.testing.assert_allclose(friction, [[-8.0, 0.0, 0.0], [-12.0, 0.0, 0.0]], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(net - friction, [[0.0, 0.0, 19.62], [0.0, 0.0, 29.43]], rtol=1e-3, atol=1e-3)


def test_what_touches_nothing_reads_zero(simulate, boxes):
    boxes.joint_q[2] = 2.0
    with simulate(boxes) as simulation:
        simulation.step(20)

        assert (reading(simulation, "net_force")[0, 0] == 0.0).all()
        assert (reading(simulation, "net_force")[0, 1] != 0.0).any()


def test_every_world_reads_its_own_contacts(simulate, boxes):
    """10 N more press on the heavy box of the middle world, and on no other."""
    with simulate(boxes, worlds=3, bodies=["heavy"]) as simulation:
        forces = np.zeros((6, 6), dtype=np.float32)
        forces[3, 2] = -10.0
        readings = []
        for _ in range(300):
            simulation.state.body_f.assign(forces)
            simulation.step()
            readings.append(reading(simulation, "net_force").copy())

        force = np.mean(readings[200:], axis=0)

    assert force.shape == (3, 1, 3)
    np.testing.assert_allclose(force[:, 0, 2], [29.43, 39.43, 29.43], rtol=1e-3)


def test_readings_are_the_bits_of_the_sensors_of_newton_in_a_loop_written_by_hand(tower):
    """Without partners, with a body as one, and with a shape that no world owns."""
    partners = {"total": [], "bodies": ["light"], "shapes": ["ground_plane"]}
    tables = {
        "simulation": {"device": "cpu", "dt": DT, "capture": "require"},
        "scene": {"worlds": 2, "ground": True},
        "sensors": {name: {"type": "contact", "bodies": [".*"], "partners": who} for name, who in partners.items()},
    }
    with pippin.Simulation(pippin.structure(tables), plugins=[XPBD()], prototype=tower) as simulation:
        simulation.step(40)
        model = simulation.model
        names = ("net_force", "friction_force", "force_matrix", "friction_matrix")
        host = {
            label: [sensor[name].numpy().tobytes() for name in names if name in sensor.outputs]
            for label, sensor in simulation.sensors.items()
        }

    solver, pipeline = XPBD().build_solver(model), newton.CollisionPipeline(model)
    options = {"sensing_bodies": [0, 1, 2, 3], "request_contact_attributes": False}
    counterparts = {"total": {}, "bodies": {"counterpart_bodies": [0, 2]}, "shapes": {"counterpart_shapes": [4]}}
    sensors = {label: newton.sensors.SensorContact(model, **options, **who) for label, who in counterparts.items()}
    contacts, control = pipeline.contacts(), model.control()
    observables = solver.observables(sensors["total"].solver_observable_kinds, contacts=contacts)
    state, following = model.state(), model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    for _ in range(40):
        pipeline.collide(state, contacts)
        solver.step(state, following, control, contacts, DT, observables=observables)
        state, following = following, state
        state.clear_forces()

    for label, sensor in sensors.items():
        sensor.update(state, contacts, observables=observables)
        arrays = [sensor.total_force, sensor.total_force_friction, sensor.force_matrix, sensor.force_matrix_friction]
        assert host[label] == [array.numpy().tobytes() for array in arrays if array is not None]
        assert all(any(forces) for forces in host[label][::2])


def test_a_force_matrix_tells_who_carries_whom(simulate, tower):
    """On the light box the heavy one presses with its weight; the ground carries both. Nobody else is asked for."""
    partners = ["ground_plane", "heavy"]
    with simulate(tower, worlds=2, bodies=["light"], partners=partners, solver=UNWEIGHTED) as simulation:
        simulation.step(200)
        readings = []
        for _ in range(100):
            simulation.step()
            readings.append(reading(simulation, "force_matrix").copy())
        matrix = np.mean(readings, axis=0)

        assert matrix.shape == (2, 1, 2, 3)
        assert simulation.sensors["feet"].partners == ("heavy", "ground_plane")
        expected = [[0.0, 0.0, -3.0 * 9.81], [0.0, 0.0, 5.0 * 9.81]]
        np.testing.assert_allclose(matrix[:, 0], [expected, expected], rtol=2e-3, atol=2e-2)
        sums = reading(simulation, "force_matrix").sum(axis=2)
        np.testing.assert_allclose(sums, reading(simulation, "net_force"), rtol=1e-5, atol=1e-4)


def test_partners_alone_may_count(simulate, tower):
    """The light box stands on the ground, which carries both, and the heavy one presses on it."""
    keys = {"worlds": 2, "bodies": ["light"], "partners": ["ground_plane"], "history": 2, "solver": UNWEIGHTED}
    with simulate(tower, counted="partners", **keys) as simulation:
        simulation.step(200)
        names = ("net_force", "force_matrix", "friction_force", "friction_matrix", "force_matrix_history")
        found = {name: [] for name in names}
        for _ in range(100):
            simulation.step()
            for name, values in found.items():
                values.append(reading(simulation, name).copy())

    np.testing.assert_allclose(np.mean(found["net_force"], axis=0)[:, 0, 2], 5.0 * 9.81, rtol=2e-3)
    np.testing.assert_array_equal(found["net_force"], np.array(found["force_matrix"])[..., 0, :])
    np.testing.assert_array_equal(found["friction_force"], np.array(found["friction_matrix"])[..., 0, :])
    latest = np.stack(found["force_matrix"][:-3:-1], axis=2)
    np.testing.assert_array_equal(found["force_matrix_history"][-1], latest)


def test_shapes_can_be_sensed_in_place_of_bodies(simulate, boxes):
    with simulate(boxes, sensors={"feet": {"type": "contact", "shapes": ["skin_of_heavy"]}}) as simulation:
        assert simulation.sensors["feet"].outputs["net_force"].labels == ("skin_of_heavy",)
        np.testing.assert_allclose(settled(simulation, "net_force")[0], [[0.0, 0.0, 29.43]], rtol=1e-3, atol=1e-3)


def test_air_and_contact_times_are_those_of_the_fall_and_of_the_rest(simulate, boxes):
    """A fall of 0.05 m takes √(2 h / g) = 0.101 s; the last reading in the air is up to two steps before its end."""
    boxes.joint_q[2] = 0.15
    with simulate(boxes, bodies=["light"]) as simulation:
        times = {name: [] for name in ("in_contact", "air_time", "contact_time", "last_air_time", "last_contact_time")}
        for _ in range(80):
            simulation.step()
            for name, values in times.items():
                values.append(reading(simulation, name)[0, 0].copy())
    landing = times["in_contact"].index(True)

    assert times["air_time"][landing - 1] == pytest.approx(np.sqrt(2 * 0.05 / 9.81), abs=2 * DT)
    assert times["last_air_time"][landing] == times["air_time"][landing - 1]
    assert times["air_time"][landing] == 0.0
    assert times["contact_time"][: landing + 1] == [0.0] * landing + [pytest.approx(DT)]
    for step in range(1, 80):
        here, other = ("contact_time", "air_time") if times["in_contact"][step] else ("air_time", "contact_time")
        assert times[here][step] == pytest.approx(times[here][step - 1] + DT)
        assert times[other][step] == 0.0
        ended = times[other][step - 1]
        before = times[f"last_{other}"][step - 1]
        assert times[f"last_{other}"][step] == (ended if ended else before)


def test_times_go_on_after_a_week(simulate, boxes):
    """A sum of float32 would stand still: a reading every 2 ms is less than half of its last digit."""
    boxes.joint_q[2] = 5.0
    with simulate(boxes, bodies=["light"]) as simulation:
        arrays = simulation.sensors["feet"].state_arrays()
        simulation.step(1)
        arrays["lasting"].fill_(7 * 86400.0)
        simulation.step(100)

        assert reading(simulation, "air_time")[0, 0] == pytest.approx(7 * 86400.0 + 100 * DT, abs=0.04)


def test_there_is_contact_above_the_threshold_alone(simulate, boxes):
    """Of 19.6 N and 29.4 N one is above 25 N; forces of XPBD flicker, and half of the time is more than enough."""
    with simulate(boxes, threshold=25.0) as simulation:
        simulation.step(200)
        found = []
        for _ in range(50):
            simulation.step()
            norms = np.linalg.norm(reading(simulation, "net_force"), axis=2)
            np.testing.assert_array_equal(reading(simulation, "in_contact"), norms > 25.0)
            found.append(reading(simulation, "in_contact")[0].copy())

    assert list(np.mean(found, axis=0) > 0.5) == [False, True]


def test_history_holds_the_latest_readings_the_newest_first(simulate, boxes):
    with simulate(boxes, worlds=2, history=3) as simulation:
        readings = []
        for _ in range(5):
            simulation.step()
            readings.append(reading(simulation, "net_force").copy())

        assert reading(simulation, "net_force_history").shape == (2, 2, 3, 3)
        np.testing.assert_array_equal(reading(simulation, "net_force_history"), np.stack(readings[:1:-1], axis=2))
        assert np.any(readings[-1] != readings[-2])


def test_a_reset_clears_its_worlds_and_leaves_the_others_as_they_are(simulate, tower):
    with simulate(tower, worlds=2, history=2, partners=["heavy", "ground_plane"]) as simulation:
        simulation.step(30)
        names = list(simulation.sensors["feet"].outputs)
        kept = {name: reading(simulation, name)[1].copy() for name in names}
        assert all(np.any(kept[name]) for name in ("net_force", "force_matrix", "contact_time", "net_force_history"))
        simulation.reset([0])

        for name in names:
            assert not np.any(reading(simulation, name)[0])
            np.testing.assert_array_equal(reading(simulation, name)[1], kept[name])
        simulation.step()
        np.testing.assert_array_equal(reading(simulation, "net_force_history")[0, :, 1], 0.0)
        assert np.any(reading(simulation, "net_force")[0])


def test_times_count_from_a_reset_between_two_readings(simulate, boxes):
    """With a reading every 4 steps, a world that is reset after 6 has been in the air for 2 at the next one."""
    boxes.joint_q[2] = 5.0
    with simulate(boxes, worlds=2, bodies=["light"], period=4 * DT) as simulation:
        simulation.step(6)
        simulation.reset([1])
        simulation.step(2)
        np.testing.assert_allclose(reading(simulation, "air_time")[:, 0], [8 * DT, 2 * DT], rtol=1e-5)
        simulation.step(4)
        np.testing.assert_allclose(reading(simulation, "air_time")[:, 0], [12 * DT, 6 * DT], rtol=1e-5)


def test_partners_are_found_in_worlds_that_differ(boxes, tower):
    """In the second world a third body comes before the two; its light box lies beside the heavy one."""
    other = newton.ModelBuilder()
    other.add_body(
        label="far",
        xform=wp.transform(wp.vec3(0.0, 9.0, 0.0), wp.quat_identity()),
        mass=1.0,
        inertia=wp.diag(wp.vec3(0.1)),
    )
    other.add_builder(boxes)
    tables = {
        "simulation": {"device": "cpu", "dt": DT, "capture": "require"},
        "scene": {"worlds": 2, "ground": True},
        "sensors": {"feet": {"type": "contact", "bodies": ["heavy"], "partners": ["light"]}},
    }
    prototypes = [(tower, 1), (other, 1)]
    with pippin.Simulation(pippin.structure(tables), plugins=[UNWEIGHTED], prototype=prototypes) as simulation:
        matrix = settled(simulation, "force_matrix")[:, 0, 0]

    np.testing.assert_allclose(matrix, [[0.0, 0.0, 29.43], [0.0, 0.0, 0.0]], rtol=2e-3, atol=2e-2)


def test_outputs_keep_their_memory_and_say_unit_and_frame(simulate, boxes):
    with simulate(boxes) as simulation:
        outputs = simulation.sensors["feet"].outputs
        before = outputs["net_force"].data.ptr
        simulation.step(3)

        assert outputs["net_force"].data.ptr == before
        assert {name: (output.unit, output.frame) for name, output in outputs.items()} == {
            **dict.fromkeys(("net_force", "friction_force"), ("N", "world")),
            "in_contact": ("1", "none"),
            **dict.fromkeys(("air_time", "contact_time", "last_air_time", "last_contact_time"), ("s", "none")),
        }


def test_a_body_that_does_not_exist_is_refused_with_the_nearest_one(simulate, boxes):
    with pytest.raises(pippin.ConfigError, match=r"sensors\.feet\.bodies: no body matches 'hevy'.*'heavy'"):
        simulate(boxes, bodies=["light", "hevy"])


def test_a_partner_that_does_not_exist_is_refused_with_the_nearest_one(simulate, boxes):
    with pytest.raises(
        pippin.ConfigError, match=r"sensors\.feet\.partners: no partner matches 'ground'.*'ground_plane'"
    ) as refused:
        simulate(boxes, partners=["ground", "heavi"])
    assert len(refused.value.faults) == 2


def test_a_shape_that_does_not_exist_is_refused_with_the_nearest_one(simulate, boxes):
    with pytest.raises(pippin.ConfigError, match=r"sensors\.feet\.shapes: no shape matches 'skin'.*skin_of_heavy"):
        simulate(boxes, sensors={"feet": {"type": "contact", "shapes": ["skin"]}})


def test_a_solver_without_contact_forces_is_refused(boxes):
    class Featherstone:
        supported_observables = newton.solvers.SolverFeatherstone.SUPPORTED_OBSERVABLES

        @pippin.hookimpl
        def build_solver(self, model):
            return newton.solvers.SolverFeatherstone(model)

    config = pippin.structure({"sensors": {"feet": {"type": "contact", "bodies": [".*"]}}})

    with pytest.raises(
        pippin.ConfigError,
        match=r"sensors\.feet: needs 'contact_f', which solver 'Featherstone' does not compute; solvers that do:",
    ):
        pippin.Simulation(config, plugins=[Featherstone()], prototype=boxes)


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("bodies", {"bodies": []}),
        ("bodies", {"shapes": ["skin"], "bodies": ["foot"]}),
        ("threshold", {"bodies": ["foot"], "threshold": -1.0}),
        ("history", {"bodies": ["foot"], "history": -1}),
        ("history", {"bodies": ["foot"], "history": 2.0}),
        ("bodies", {"bodies": "foot"}),
        ("body", {"bodies": ["foot"], "body": "foot"}),
    ],
)
def test_values_that_make_no_sense_are_refused_where_they_stand(field, options):
    with pytest.raises(pippin.ConfigError, match=rf"^sensors\.feet\.{field}\b.*: "):
        pippin.structure({"sensors": {"feet": {"type": "contact", **options}}})


def test_a_note_says_that_contacts_with_particles_count_nowhere(boxes):
    settings = {"type": "contact", "bodies": [".*"]}
    tables = {"simulation": {"device": "cpu", "dt": DT}, "scene": {"ground": True}, "sensors": {"touch": settings}}
    found = []
    for has_particle in (False, True):
        builder = copy.deepcopy(boxes)
        if has_particle:
            builder.add_particle(wp.vec3(0.0, 0.0, 5.0), wp.vec3(), 0.1)
        with pippin.Simulation(pippin.structure(tables), plugins={"solver": XPBD()}, prototype=builder) as simulation:
            found.append(simulation.sensors["touch"].notes)

    assert found[0] == ()
    assert "contacts with particles count nowhere" in found[1][0]


CONFORMANCE = conformance.Conformance("sensor", "contact", config={"bodies": [".*"]})


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
