"""The contact sensor over Newton's XPBD, which reports contact forces: weights, friction, and Newton's own sensor."""

import newton
import numpy as np
import orchard
import pytest
import warp as wp
from orchard import testing

DT = 0.002


class XPBD:
    """A solver that comes with Newton itself."""

    coordinates = "maximal"
    supported_observables = newton.solvers.SolverXPBD.SUPPORTED_OBSERVABLES

    @orchard.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverXPBD(model, iterations=10)


@pytest.fixture
def boxes():
    """Two boxes of 2 kg and 3 kg beside each other, their lower faces in the ground plane."""
    builder = newton.ModelBuilder()
    for index, (label, mass) in enumerate((("light", 2.0), ("heavy", 3.0))):
        pose = wp.transform(wp.vec3(float(index), 0.0, 0.1), wp.quat_identity())
        body = builder.add_body(label=label, xform=pose)
        density = mass / 0.2**3
        builder.add_shape_box(
            body, hx=0.1, hy=0.1, hz=0.1, cfg=newton.ModelBuilder.ShapeConfig(density=density, mu=0.8)
        )
    return builder


def simulate(prototype, *, worlds=1, gravity=(0.0, 0.0, -9.81), bodies=(".*",)):
    tables = {
        "simulation": {"device": "cpu", "dt": DT, "capture": "require"},
        "scene": {"worlds": worlds, "gravity": list(gravity), "ground": True},
        "sensors": {"feet": {"type": "contact", "bodies": list(bodies)}},
    }
    return orchard.Simulation(orchard.structure(tables), plugins=[XPBD()], prototype=prototype)


def reading(simulation, name):
    return simulation.sensors["feet"].outputs[name].data.numpy()


def settled(simulation, name):
    """Return the mean of 100 steps after 200: XPBD's contact forces are corrections divided by dt², and flicker."""
    simulation.step(200)
    readings = []
    for _ in range(100):
        simulation.step()
        readings.append(reading(simulation, name).copy())
    return np.mean(readings, axis=0)


@pytest.mark.alone
def test_a_body_at_rest_is_carried_by_its_weight(boxes):
    with simulate(boxes) as simulation:
        force = settled(simulation, "net_force")[0]

    np.testing.assert_allclose(force, [[0.0, 0.0, 2.0 * 9.81], [0.0, 0.0, 3.0 * 9.81]], rtol=1e-3, atol=1e-3)


def test_friction_is_the_tangential_part_of_the_force(boxes):
    """A pull of 4 / 9.81 of the weight lies inside the cone of μ >= 0.8, so friction holds it with m g_x."""
    with simulate(boxes, gravity=(4.0, 0.0, -9.81)) as simulation:
        friction = settled(simulation, "friction_force")[0]
        net = settled(simulation, "net_force")[0]

    np.testing.assert_allclose(friction, [[-8.0, 0.0, 0.0], [-12.0, 0.0, 0.0]], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(net - friction, [[0.0, 0.0, 19.62], [0.0, 0.0, 29.43]], rtol=1e-3, atol=1e-3)


def test_what_touches_nothing_reads_zero(boxes):
    boxes.joint_q[2] = 2.0
    with simulate(boxes) as simulation:
        simulation.step(20)

        assert (reading(simulation, "net_force")[0, 0] == 0.0).all()
        assert (reading(simulation, "net_force")[0, 1] != 0.0).any()


def test_every_world_reads_its_own_contacts(boxes):
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


def test_readings_are_the_bits_of_the_sensor_of_newton_in_a_loop_written_by_hand(boxes):
    with simulate(boxes, worlds=2) as simulation:
        simulation.step(40)
        host = {name: reading(simulation, name).tobytes() for name in ("net_force", "friction_force")}
        model = simulation.model

    solver, pipeline = newton.solvers.SolverXPBD(model, iterations=10), newton.CollisionPipeline(model)
    sensor = newton.sensors.SensorContact(model, sensing_bodies=[0, 1, 2, 3], request_contact_attributes=False)
    contacts, control = pipeline.contacts(), model.control()
    observables = solver.observables(sensor.solver_observable_kinds, contacts=contacts)
    state, following = model.state(), model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    for _ in range(40):
        pipeline.collide(state, contacts)
        solver.step(state, following, control, contacts, DT, observables=observables)
        state, following = following, state
        state.clear_forces()
    sensor.update(state, contacts, observables=observables)

    assert host["net_force"] == sensor.total_force.numpy().tobytes()
    assert host["friction_force"] == sensor.total_force_friction.numpy().tobytes()
    assert any(host["net_force"])


def test_outputs_keep_their_memory_and_say_unit_and_frame(boxes):
    with simulate(boxes) as simulation:
        outputs = simulation.sensors["feet"].outputs
        before = outputs["net_force"].data.ptr
        simulation.step(3)

        assert outputs["net_force"].data.ptr == before
        assert {name: (output.unit, output.frame) for name, output in outputs.items()} == {
            "net_force": ("N", "world"),
            "friction_force": ("N", "world"),
        }


def test_a_body_that_does_not_exist_is_refused_with_the_nearest_one(boxes):
    with pytest.raises(orchard.ConfigError, match=r"sensors\.feet\.bodies: no body matches 'hevy'.*'heavy'"):
        simulate(boxes, bodies=["light", "hevy"])


def test_a_solver_without_contact_forces_is_refused(boxes):
    class Featherstone:
        supported_observables = newton.solvers.SolverFeatherstone.SUPPORTED_OBSERVABLES

        @orchard.hookimpl
        def build_solver(self, model):
            return newton.solvers.SolverFeatherstone(model)

    config = orchard.structure({"sensors": {"feet": {"type": "contact", "bodies": [".*"]}}})

    with pytest.raises(
        orchard.ConfigError,
        match=r"sensors\.feet: needs 'contact_f', which solver 'Featherstone' does not compute; solvers that do:",
    ):
        orchard.Simulation(config, plugins=[Featherstone()], prototype=boxes)


@pytest.mark.parametrize(
    ("field", "options"),
    [("bodies", {"bodies": []}), ("bodies", {"bodies": "foot"}), ("body", {"bodies": ["foot"], "body": "foot"})],
)
def test_values_that_make_no_sense_are_refused_where_they_stand(field, options):
    with pytest.raises(orchard.ConfigError, match=rf"^sensors\.feet\.{field}\b.*: "):
        orchard.structure({"sensors": {"feet": {"type": "contact", **options}}})


CONFORMANCE = testing.Conformance("sensor", "contact")


@testing.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
