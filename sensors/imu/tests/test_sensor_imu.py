"""The IMU on free bodies whose accelerations are known exactly: a solver of them is made here."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp

GRAVITY = 9.81
TURN = wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), wp.radians(90.0))
"""A quarter turn about y: the z axis of what is turned points along x."""


@wp.kernel
def accelerate(
    body_q: wp.array[wp.transform],
    body_f: wp.array[wp.spatial_vector],
    inverse_mass: wp.array[float],
    inverse_inertia: wp.array[wp.mat33],
    body_world: wp.array[int],
    gravity: wp.array[wp.vec3],
    body_qdd: wp.array[wp.spatial_vector],
):
    """Newton and Euler for a body whose moments of inertia are all the same: f / m + g, and τ / I."""
    i = wp.tid()
    turn = wp.transform_get_rotation(body_q[i])
    torque = wp.quat_rotate_inv(turn, wp.spatial_bottom(body_f[i]))
    body_qdd[i] = wp.spatial_vector(
        wp.spatial_top(body_f[i]) * inverse_mass[i] + gravity[body_world[i]],
        wp.quat_rotate(turn, inverse_inertia[i] * torque),
    )


class SolverFreeBodies(newton.solvers.SolverBase):
    """Free rigid bodies under gravity and external forces, and the acceleration of each."""

    SUPPORTED_OBSERVABLES = frozenset({"body_qdd"})

    def step(self, state_in, state_out, control, contacts, dt, *, observables=None):
        self.validate_observables(observables, contacts)
        self.integrate_bodies(self.model, state_in, state_out, dt)
        if observables is not None and observables.is_requested("body_qdd"):
            model = self.model
            inputs = [state_in.body_q, state_in.body_f, model.body_inv_mass, model.body_inv_inertia]
            inputs += [model.body_world, model.gravity]
            wp.launch(accelerate, model.body_count, inputs, [observables.body_qdd], device=model.device)


class FreeBodies:
    coordinates = "maximal"
    supported_observables = SolverFreeBodies.SUPPORTED_OBSERVABLES

    @pippin.hookimpl
    def build_solver(self, model):
        return SolverFreeBodies(model)


@pytest.fixture
def bodies():
    """Return a function that builds free bodies of 2 kg, with the same orientation and spin [rad/s]."""

    def build(*labels, rotation=None, spin=(0.0, 0.0, 0.0)):
        builder = newton.ModelBuilder()
        for index, label in enumerate(labels):
            pose = wp.transform(wp.vec3(float(index), 0.0, 1.0), rotation or wp.quat_identity())
            builder.add_body(label=label, xform=pose, mass=2.0, inertia=wp.diag(wp.vec3(0.1)))
            builder.joint_qd[-3:] = spin
        return builder

    return build


pytestmark = pytest.mark.simulation(
    dt=0.001,
    capture="require",
    gravity=-GRAVITY,
    solver=FreeBodies,
    sensors={"imu": {"type": "imu"}},
    options="sensors.imu",
)


def hold(simulation, count=3):
    """Step while a force carries the weight of every body."""
    for _ in range(count):
        simulation.state.body_f.assign(
            np.tile(np.float32([0.0, 0.0, 2.0 * GRAVITY, 0.0, 0.0, 0.0]), (simulation.model.body_count, 1))
        )
        simulation.step()


def reading(simulation, name):
    return simulation.sensors["imu"].outputs[name].data.numpy()


@pytest.mark.alone
def test_free_fall_reads_zero(simulate, bodies):
    with simulate(bodies("box"), body="box") as simulation:
        simulation.step(10)

        np.testing.assert_allclose(reading(simulation, "linear_acceleration"), 0.0, atol=1e-6)
        np.testing.assert_allclose(reading(simulation, "angular_velocity"), 0.0, atol=1e-6)


def test_rest_reads_gravity_upwards(simulate, bodies):
    with simulate(bodies("box"), body="box") as simulation:
        hold(simulation)

        np.testing.assert_allclose(reading(simulation, "linear_acceleration")[0, 0], [0.0, 0.0, GRAVITY], atol=1e-5)


@pytest.mark.parametrize("turned", ["body", "site"])
def test_rest_reads_gravity_in_the_frame_of_the_site(simulate, bodies, turned):
    """Its z axis points along the world's x, so up is along its own -x."""
    rotation = {"rotation": list(TURN)} if turned == "site" else {}
    prototype = bodies("box", rotation=TURN if turned == "body" else None)
    with simulate(prototype, body="box", **rotation) as simulation:
        hold(simulation)

        np.testing.assert_allclose(reading(simulation, "linear_acceleration")[0, 0], [-GRAVITY, 0.0, 0.0], atol=1e-5)


def test_angular_velocity_is_given_in_the_frame_of_the_site(simulate, bodies):
    """A spin of 3 rad/s about the world's x is one about the site's z. The quarter turn is a float's, 4e-6 off."""
    with simulate(bodies("box", spin=(3.0, 0.0, 0.0)), body="box", rotation=list(TURN)) as simulation:
        simulation.step(12)

        np.testing.assert_allclose(reading(simulation, "angular_velocity")[0, 0], [0.0, 0.0, 3.0], atol=5e-5)


def test_a_site_beside_the_axis_feels_the_spin(simulate, bodies):
    """Centripetal acceleration ω² r towards the axis."""
    prototype = bodies("box", spin=(0.0, 0.0, 3.0))
    with simulate(prototype, gravity=0.0, body="box", position=[0.2, 0.0, 0.0]) as simulation:
        simulation.step(5)

        np.testing.assert_allclose(
            reading(simulation, "linear_acceleration")[0, 0], [-(3.0**2) * 0.2, 0.0, 0.0], atol=1e-5
        )


def test_a_site_beside_the_axis_feels_the_spin_grow(simulate, bodies):
    """Tangential acceleration r τ / I; the spin of one step, ω = dt τ / I, adds ω² r = 2e-5 towards the axis."""
    with simulate(bodies("box"), gravity=0.0, body="box", position=[0.2, 0.0, 0.0]) as simulation:
        simulation.state.body_f.assign(np.float32([[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]))
        simulation.step()

        np.testing.assert_allclose(
            reading(simulation, "linear_acceleration")[0, 0], [0.0, 1.0 / 0.1 * 0.2, 0.0], atol=5e-5
        )


def test_bodies_that_match_are_stacked_for_every_world(simulate, bodies):
    """A force on one body of one world is read there and nowhere else."""
    with simulate(bodies("left_foot", "torso", "right_foot"), worlds=3, gravity=0.0, body=".*_foot") as simulation:
        forces = np.zeros((9, 6), dtype=np.float32)
        forces[3 + 2, 0] = 4.0
        simulation.state.body_f.assign(forces)
        simulation.step()

        acceleration = reading(simulation, "linear_acceleration")
        assert acceleration.shape == (3, 2, 3)
        np.testing.assert_allclose(acceleration[1, 1], [2.0, 0.0, 0.0], atol=1e-6)
        acceleration[1, 1] = 0.0
        np.testing.assert_array_equal(acceleration, 0.0)


def test_outputs_keep_their_memory_and_say_unit_and_frame(simulate, bodies):
    with simulate(bodies("box"), body="box") as simulation:
        outputs = simulation.sensors["imu"].outputs
        before = outputs["linear_acceleration"].data.ptr
        hold(simulation)

        assert outputs["linear_acceleration"].data.ptr == before
        assert {name: (output.unit, output.frame) for name, output in outputs.items()} == {
            "linear_acceleration": ("m/s²", "site"),
            "angular_velocity": ("rad/s", "site"),
            "orientation": ("1", "world"),
        }


SOURCES = pytest.mark.parametrize("source", ["solver", "finite-difference"])


@SOURCES
def test_readings_are_those_of_the_sensor_of_newton(simulate, bodies, source):
    """Differences are the mean over a step: here 0.01 m/s² off its end."""
    options = {"body": "box", "position": [0.2, 0.1, 0.0], "rotation": list(TURN), "source": source}
    with simulate(bodies("box", spin=(0.3, 1.0, -2.0)), **options) as simulation:
        push = np.float32([[1.0, 2.0, 3.0, 1.0, -1.0, 0.5]])
        for _ in range(5):
            simulation.state.body_f.assign(push)
            simulation.step()
        model, state = simulation.model, simulation.state
        sensor = newton.sensors.SensorIMU(model, sites="*/site", request_state_attributes=False)
        observables = simulation.solver.observables(sensor.solver_observable_kinds)
        state.body_f.assign(push)
        wp.launch(
            accelerate,
            1,
            [state.body_q, state.body_f, model.body_inv_mass, model.body_inv_inertia, model.body_world, model.gravity],
            [observables.body_qdd],
        )
        sensor.update(state, observables=observables)
        read = [reading(simulation, name)[0] for name in ("linear_acceleration", "angular_velocity")]

    np.testing.assert_allclose(read[0], sensor.accelerometer.numpy(), atol=1e-5 if source == "solver" else 0.01)
    np.testing.assert_array_equal(read[1], sensor.gyroscope.numpy())


def test_orientation_is_that_of_the_site_in_the_world(simulate, bodies):
    """A body turned by 90 degrees about y, a site by 90 degrees about its z: x of the site is the body's y."""
    turned = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), wp.radians(90.0))
    with simulate(bodies("box", rotation=TURN), body="box", rotation=list(turned)) as simulation:
        for _ in range(2):
            orientation = wp.quat(*map(float, reading(simulation, "orientation")[0, 0]))

            np.testing.assert_allclose(wp.quat_rotate(orientation, wp.vec3(1.0, 0.0, 0.0)), [0.0, 1.0, 0.0], atol=1e-6)
            np.testing.assert_allclose(wp.quat_rotate(orientation, wp.vec3(0.0, 1.0, 0.0)), [0.0, 0.0, 1.0], atol=1e-6)
            hold(simulation, 1)


@SOURCES
def test_a_reset_keeps_no_acceleration_and_measures_the_rest_anew(simulate, bodies, source):
    """World 1 goes on: it keeps its reading. The first reading of world 0 is that of its first step."""
    with simulate(bodies("box", spin=(0.0, 0.0, 3.0)), worlds=2, body="box", source=source) as simulation:
        hold(simulation, 20)
        kept = {name: reading(simulation, name)[1].copy() for name in simulation.sensors["imu"].outputs}
        simulation.reset([0])

        np.testing.assert_array_equal(reading(simulation, "linear_acceleration")[0, 0], 0.0)
        np.testing.assert_allclose(reading(simulation, "angular_velocity")[0, 0], [0.0, 0.0, 3.0], atol=1e-6)
        np.testing.assert_array_equal(reading(simulation, "orientation")[0, 0], [0.0, 0.0, 0.0, 1.0])
        for name, values in kept.items():
            np.testing.assert_array_equal(reading(simulation, name)[1], values)
        hold(simulation, 1)
        up = np.broadcast_to([0.0, 0.0, GRAVITY], (2, 3))
        np.testing.assert_allclose(reading(simulation, "linear_acceleration")[:, 0], up, atol=1e-4)


def test_differences_need_no_solver_that_reports_accelerations_and_say_so(simulate, bodies):
    with simulate(bodies("box"), body="box", source="finite-difference") as simulation:
        assert simulation.sensors["imu"].observables == frozenset()
        (note,) = simulation.notes["sensors:imu"]
        assert "changes of velocity" in note
    with simulate(bodies("box"), body="box") as simulation:
        assert simulation.notes == {}


def test_differences_in_free_fall_are_zero_from_the_first_reading_on(simulate, bodies):
    with simulate(bodies("box"), body="box", source="finite-difference") as simulation:
        for _ in range(3):
            simulation.step()

            np.testing.assert_allclose(reading(simulation, "linear_acceleration"), 0.0, atol=1e-4)


def test_differences_are_the_mean_since_the_last_reading_or_the_reset_after_it(simulate, bodies):
    """4 N in every second step move 2 kg with 1 m/s² on average: over four steps, and over the two after a reset."""
    options = {"gravity": 0.0, "body": "box", "source": "finite-difference", "period": 0.004}
    with simulate(bodies("box"), worlds=2, **options) as simulation:
        for step in range(8):
            force = np.zeros((2, 6), dtype=np.float32)
            force[:, 0] = 4.0 * (step % 2)
            simulation.state.body_f.assign(force)
            if step == 6:
                simulation.reset([1])
            simulation.step()
            if step == 3:
                np.testing.assert_allclose(reading(simulation, "linear_acceleration")[:, 0, 0], 1.0, atol=1e-5)
        np.testing.assert_allclose(reading(simulation, "linear_acceleration")[:, 0, 0], 1.0, atol=1e-5)


def test_two_sensors_on_one_body_differ_by_the_spin_between_them(bodies):
    """Sites of 0.1 m and 0.3 m from the axis differ by ω² 0.2 m towards it."""
    tables = {
        "simulation": {"device": "cpu", "dt": 0.001, "capture": "require"},
        "scene": {"gravity": [0.0, 0.0, 0.0]},
        "sensors": {
            name: {"type": "imu", "body": "box", "position": [x, 0.0, 0.0]} for name, x in (("in", 0.1), ("out", 0.3))
        },
    }
    prototype = bodies("box", spin=(0.0, 0.0, 3.0))
    with pippin.Simulation(pippin.structure(tables), plugins=[FreeBodies()], prototype=prototype) as simulation:
        simulation.step(3)
        inner, outer = (simulation.sensors[name]["linear_acceleration"].numpy()[0, 0] for name in ("in", "out"))

    np.testing.assert_allclose(outer - inner, [-(3.0**2) * 0.2, 0.0, 0.0], atol=1e-5)


def test_differences_resume_from_a_checkpoint_bit_for_bit(simulate, bodies, tmp_path):
    prototype = bodies("box", spin=(0.3, 1.0, -2.0))
    options = {"body": "box", "position": [0.2, 0.1, 0.0], "source": "finite-difference", "period": 0.002}
    with simulate(prototype, **options) as simulation:
        simulation.step(5)
        simulation.save(tmp_path / "state")
        simulation.step(3)
        expected = reading(simulation, "linear_acceleration").tobytes()
    with pippin.Simulation.load(tmp_path / "state", plugins=[FreeBodies()], prototype=prototype) as simulation:
        simulation.step(3)

        assert reading(simulation, "linear_acceleration").tobytes() == expected


def test_a_body_that_does_not_exist_is_refused_with_the_nearest_one(simulate, bodies):
    with pytest.raises(
        pippin.ConfigError, match=r"sensors\.imu\.body: no body matches 'torzo'.*'torso'.*bodies: torso, arm"
    ):
        simulate(bodies("torso", "arm"), body="torzo")


def test_a_solver_without_accelerations_is_measured(bodies):
    class Featherstone:
        supported_observables = newton.solvers.SolverFeatherstone.SUPPORTED_OBSERVABLES

        @pippin.hookimpl
        def build_solver(self, model):
            return newton.solvers.SolverFeatherstone(model)

    tables = {"simulation": {"device": "cpu"}, "sensors": {"imu": {"type": "imu", "body": "box"}}}

    with pippin.Simulation(pippin.structure(tables), plugins=[Featherstone()], prototype=bodies("box")) as simulation:
        simulation.step(2)

        np.testing.assert_allclose(reading(simulation, "linear_acceleration"), 0.0, atol=1e-4)  # it falls freely


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("body", {"body": 3}),
        ("position", {"position": [0.0, 0.0]}),
        ("position", {"position": [0.0, 0.0, float("nan")]}),
        ("rotation", {"rotation": [0.0, 0.0, 0.0, 2.0]}),
        ("rate", {"rate": 100.0}),
        ("source", {"source": "differences"}),
    ],
)
def test_values_that_make_no_sense_are_refused_where_they_stand(field, options):
    with pytest.raises(pippin.ConfigError, match=rf"^sensors\.imu\.{field}\b.*: "):
        pippin.structure({"sensors": {"imu": {"type": "imu", "body": "box", **options}}})


CONFORMANCE = conformance.Conformance("sensor", "imu")


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
