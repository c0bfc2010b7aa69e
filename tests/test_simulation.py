"""What a user gets wrong: each error names the place, the value and the cure."""

import re

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.config import unstructure
from pippin_conformance import scenes


def error_of(call, *arguments, **options):
    """Return the text of the error that a call raises."""
    with pytest.raises(pippin.PippinError) as caught:
        call(*arguments, **options)
    return str(caught.value)


PD = {"type": "pd", "joints": [".*"]}


@pytest.mark.parametrize(
    ("tables", "text"),
    [
        ({"scene": {"worlds": 0}}, "scene.worlds: must be >= 1: 0"),
        ({"simulation": {"dt": -0.01}}, "simulation.dt: must be > 0.0: -0.01"),
        ({"simulation": {"dt": 0}}, "simulation.dt: must be > 0.0: 0.0"),
        ({"simulation": {"dt": float("nan")}}, "simulation.dt: expected a finite number, got nan"),
        ({"simulation": {"substeps": 0}}, "simulation.substeps: must be >= 1: 0"),
        ({"simulation": {"decimation": 0}}, "simulation.decimation: must be >= 1: 0"),
        ({"scene": {"gravity": [0.0, 0.0, float("inf")]}}, "scene.gravity.2: expected a finite number, got inf"),
        ({"actuators": {"legs": {**PD, "kp": float("nan")}}}, "actuators.legs.kp: expected a finite number, got nan"),
        ({"actuators": {"legs": {**PD, "kp": -1.0}}}, "actuators.legs.kp: must be finite and >= 0: -1.0"),
        (
            {"sensors": {"torso": {"type": "imu"}}},
            "sensors.torso: exactly one of body, site must be given: none",
        ),
    ],
)
def test_a_value_out_of_range_is_named_with_its_bound(tables, text):
    assert error_of(pippin.structure, tables) == text


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file with a ball, written from the current folder's point of view."""
    monkeypatch.chdir(tmp_path)
    ball = '<body name="ball" pos="0 0 1"><freejoint/><geom size="0.1"/></body>'
    (tmp_path / "ball.xml").write_text(f"<mujoco><worldbody>{ball}</worldbody></mujoco>")
    path = tmp_path / "ball.toml"
    path.write_text('simulation.device = "cpu"\nsolver.type = "xpbd"\n[[scene.assets]]\npath = "ball.xml"\n')
    return path


@pytest.mark.parametrize("form", [str, pippin.load, lambda path: unstructure(pippin.load(path))])
def test_a_simulation_takes_a_path_tables_or_a_configuration(file, form):
    with pippin.Simulation(form(file)) as simulation:
        simulation.step(2)

        assert simulation.model.body_count == 1
        assert repr(simulation) == "Simulation(worlds=1, solver=xpbd, time=0.01 s, device=cpu)"


def test_anything_else_than_a_configuration_is_named():
    text = error_of(pippin.Simulation, 3)

    assert text == "configuration: expected the path of a file, a dictionary or a SimulationConfig, got int"


@pytest.mark.parametrize(
    ("reach", "text"),
    [
        (
            lambda simulation: simulation.step_cont,
            "Simulation has no attribute 'step_cont'; did you mean 'step_count'?",
        ),
        (lambda simulation: simulation.view.articulation, "; did you mean 'articulations'?"),
        (lambda _: pippin.Simulaton, "module 'pippin' has no attribute 'Simulaton'; did you mean 'Simulation'?"),
    ],
)
def test_a_missing_attribute_suggests_the_nearest(ball, configure, reach, text):
    with pippin.Simulation(configure("xpbd"), prototype=ball()) as simulation, pytest.raises(AttributeError) as caught:
        reach(simulation)

    assert str(caught.value).endswith(text)


def test_a_device_this_machine_lacks_is_refused_with_those_it_has(ball, configure):
    text = error_of(pippin.Simulation, configure(device="tpu:0"), prototype=ball())

    assert text.startswith("simulation.device: no device 'tpu:0' on this machine, which has cpu")
    assert text.endswith("; use 'auto'")


@pytest.mark.skipif(wp.is_cuda_available(), reason="this machine has CUDA")
def test_cuda_is_refused_where_there_is_none(ball, configure):
    text = error_of(pippin.Simulation, configure(device="cuda:0"), prototype=ball())

    assert text.startswith("simulation.device: no device 'cuda:0' on this machine, which has cpu")
    assert text.endswith("; use 'auto'")


def test_the_automatic_device_is_one_that_exists(ball, configure):
    with pippin.Simulation(configure(device="auto"), prototype=ball()) as simulation:
        simulation.step()

        assert simulation.device.is_cuda == wp.is_cuda_available()
        assert simulation.state.body_q.device == simulation.device


class BuildWitness:
    """Notes whether anything was built."""

    is_called = False

    @pippin.hookimpl
    def configure_builder(self):
        self.is_called = True

    @pippin.hookimpl
    def extend_prototype(self):
        self.is_called = True


IMU = {"type": "imu", "body": "ball"}
CONTACT = {"type": "contact", "bodies": ["ball"]}


@pytest.mark.parametrize("solver", ["featherstone", "semi-implicit"])
def test_a_sensor_the_solver_cannot_serve_is_refused_before_anything_is_built(solver, ball, configure):
    witness = BuildWitness()

    text = error_of(
        pippin.Simulation, configure(solver, sensors={"chest": CONTACT}), plugins=[witness], prototype=ball()
    )

    text, cure = text.split("; or leave all sensors out: ")
    refusal, solvers = text.split("; solvers that do: ")
    assert cure == "--set 'sensors={extends=false}'"
    assert refusal == f"sensors.chest: needs 'contact_f', which solver {solver!r} does not compute"
    assert {"mujoco", "xpbd"} <= set(solvers.replace("'", "").split(", "))
    assert {"featherstone", "semi-implicit"}.isdisjoint(solvers.replace("'", "").split(", "))
    assert not witness.is_called


def test_an_observable_the_solver_does_not_compute_is_refused(ball, configure):
    config = configure("featherstone", observables=["body_qdd", "contact_f"])

    text = error_of(pippin.Simulation, config, prototype=ball())

    refusal, solvers = text.split("; solvers that do: ")
    assert refusal == "simulation.observables: needs 'contact_f', which solver 'featherstone' does not compute"
    assert "'mujoco'" in solvers


def test_every_sensor_that_cannot_be_served_is_reported_at_once(ball, configure):
    config = configure("semi-implicit", sensors={"chest": CONTACT, "feet": CONTACT})

    lines = error_of(pippin.Simulation, config, prototype=ball()).splitlines()

    assert [line.split(",")[0] for line in lines] == [
        "sensors.chest: needs 'contact_f'",
        "sensors.feet: needs 'contact_f'",
    ]


def test_a_sensor_on_a_body_that_does_not_exist_names_the_nearest(ball, configure):
    config = configure("mujoco", sensors={"chest": {**IMU, "body": "bal"}})

    text = error_of(pippin.Simulation, config, prototype=ball())

    assert text.startswith("sensors.chest.body: no body matches 'bal'")
    assert "'ball'" in text


def test_a_collision_table_that_would_be_ignored_is_refused(ball, configure):
    config = configure("mujoco", collision={"broad_phase": "sap"})

    text = error_of(pippin.Simulation, config, prototype=ball())

    assert text.startswith(
        "collision: solver 'mujoco' detects contacts itself and would ignore this table; leave it out"
    )


def test_a_collision_table_is_welcome_where_newton_detects_the_contacts(ball, configure):
    solver = {"type": "mujoco", "use_mujoco_contacts": False}
    config = configure(solver, collision={"broad_phase": "sap"}, scene={"ground": True})
    with pippin.Simulation(config, prototype=ball()) as simulation:
        assert simulation.contact_source.pipeline is not None


def test_a_prototype_beside_assets_is_refused(ball, configure):
    config = configure(scene={"assets": [{"path": "robot.xml"}]})

    text = error_of(pippin.Simulation, config, prototype=ball())

    assert text == "scene.assets: given beside a prototype built in Python; leave one of the two out"


def test_a_plugin_that_is_not_a_solver_is_refused_as_one(configure):
    text = error_of(pippin.structure, {"solver": {"type": "pd"}})

    assert text.startswith("solver.type: solver 'pd': not installed; installed solvers: ")


@pytest.fixture
def spheres():
    """Four spheres thrown at the ground from where they are not near it yet: MuJoCo makes room for what touches."""
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    for index in range(4):
        body = builder.add_body(label=f"ball_{index}", xform=wp.transform((float(index), 0.0, 1.0), wp.quat_identity()))
        builder.add_shape_sphere(body, radius=0.1)
        builder.joint_qd[-4] = -5.0
    return builder


@pytest.mark.parametrize("solver", ["xpbd", {"type": "mujoco", "use_mujoco_contacts": False}])
def test_contacts_that_do_not_fit_are_reported_with_the_field_to_raise(solver, spheres, configure):
    """Four contacts in each of two worlds; the buffer holds those of all worlds."""
    config = configure(solver, collision={"rigid_contact_max": 3}, scene={"worlds": 2, "ground": True})
    with pippin.Simulation(config, prototype=spheres) as simulation:
        simulation.raise_errors()
        simulation.step(120)

        text = error_of(simulation.raise_errors)

    assert text == "collision.rigid_contact_max: 8 contacts did not fit into 3; set it to at least 9"


@pytest.mark.parametrize(
    ("solver", "keys"),
    [("xpbd", {"collision": {"rigid_contact_max": 3}}), ({"type": "mujoco", "njmax": 1}, {})],
    ids=["pipeline", "solver"],
)
def test_a_full_buffer_is_told_once_while_a_simulation_steps(solver, keys, spheres, configure, capfd):
    config = configure(solver, scene={"worlds": 2, "ground": True}, **keys)
    with pippin.Simulation(config, prototype=spheres) as simulation:
        simulation.step(150)
        error_of(simulation.raise_errors)
        lines = [line for line in capfd.readouterr().out.splitlines() if "full" in line or "overflow" in line]

    assert len(lines) == 1
    assert "raise_errors() tells which" in lines[0]


@pytest.mark.filterwarnings("ignore:.*is changed from 1 to .* following an MjWarp requirement")
@pytest.mark.parametrize(
    ("field", "need"),
    [
        (
            "nconmax",
            r"8 pairs of shapes of all worlds that may touch did not fit into 2; set it to at least 4 per world",
        ),
        ("njmax", r"16 constraint rows of a world did not fit into 1; set it to at least 16 \(world 0\)"),
    ],
)
def test_a_full_buffer_of_mujoco_is_reported_with_the_number_to_write(field, need, spheres, configure):
    config = configure({"type": "mujoco", field: 1}, scene={"worlds": 2, "ground": True})
    with pippin.Simulation(config, prototype=spheres) as simulation:
        simulation.raise_errors()
        simulation.step(120)

        text = error_of(simulation.raise_errors)

    assert re.search(rf"^solver\.{field}: {need}$", text, re.MULTILINE)


def test_a_limit_of_iterations_is_not_an_overflow(configure):
    """A box that tumbles along the ground; MuJoCo reports the limit by a bit of its own in the same observable."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    body = builder.add_body(xform=wp.transform((0.0, 0.0, 0.15), wp.quat_identity()), label="box")
    builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1)
    builder.joint_qd[:6] = [3.0, 0.0, -5.0, 0.0, 4.0, 0.0]
    config = configure({"type": "mujoco", "iterations": 1, "tolerance": 0.0}, scene={"ground": True}, capture="off")
    with pippin.Simulation(config, prototype=builder) as simulation:
        reported = 0
        for _ in range(60):
            simulation.step()
            reported |= int(simulation.solver.mjw_data.overflow.numpy()[0])

        assert reported == simulation.solver.import_mujoco()[1].OverflowType.ITERATIONS
        simulation.raise_errors()


def test_an_overflow_is_forgotten_after_a_reset(spheres, configure):
    config = configure("xpbd", collision={"rigid_contact_max": 3}, scene={"ground": True})
    with pippin.Simulation(config, prototype=spheres) as simulation:
        simulation.step(120)
        error_of(simulation.raise_errors)

        simulation.reset()

        simulation.raise_errors()


@pytest.mark.parametrize("capture", ["require", "off"])
def test_the_first_step_that_is_not_finite_is_named_with_world_and_body(capture, chain, configure):
    """The failure is found steps later, and is still told as it happened."""
    config = configure(capture=capture, decimation=2, scene={"worlds": 3})
    with pippin.Simulation(config, prototype=chain()) as simulation:
        simulation.step(2)
        simulation.raise_errors()
        poisoned = simulation.state.body_qd.numpy().copy()
        poisoned[2 * 2 + 1] = np.nan
        simulation.state.body_qd.assign(poisoned)
        simulation.step(5)

        text = error_of(simulation.raise_errors)

    place, cure = text.split("; ")
    assert place.startswith("step 3 (t = 0.012 s): body ")
    assert place.endswith(" of world 2 is not finite")
    assert "'simulation.dt'" in cure


def test_gains_that_blow_up_are_found(chain, configure):
    """Symplectic Euler is unstable beyond kp dt² / I = 4; here it is above 10 at either hinge."""
    config = configure("featherstone", actuators={"legs": {**PD, "kp": 1e6}}, scene={"worlds": 2})
    with pippin.Simulation(config, prototype=chain()) as simulation:
        targets = simulation.actuators["legs"].position_targets
        targets.assign(targets.numpy() + np.array([[0.0], [0.1]]))
        simulation.step(200)

        text = error_of(simulation.raise_errors)

    assert "joint 'hinge_1' of world 1 moves at " in text
    assert 'set effort_mode = "implicit" in actuators.legs' in text
    assert "use a smaller 'simulation.dt'" in text


def test_shape_defaults_beside_a_prototype_are_refused(chain, configure):
    config = configure(scene={"shapes": {"mu": 0.5}})

    with pytest.raises(pippin.ConfigError, match=r"scene.shapes: given beside a prototype.*default_shape_cfg"):
        pippin.Simulation(config, prototype=chain())


CHANGING = {
    "step": lambda closed: closed.step(),
    "rollout": lambda closed: closed.rollout(1),
    "reset": lambda closed: closed.reset(),
    "invalidate": lambda closed: closed.invalidate("joints"),
    "set_enabled": lambda closed: closed.set_enabled(closed.actuators["legs"], False),
    "notify_model_changed": lambda closed: closed.notify_model_changed(1),
    "services.call_hook": lambda closed: closed.services.call_hook("anything"),
    "save": lambda closed: closed.save("closed.npz"),
    "callbacks.add": lambda closed: closed.callbacks.add("after_step", print),
    "actuators.step": lambda closed: closed.actuators["legs"].step(closed.state, closed.control, 0.01),
    "simulation.with": lambda closed: closed.__enter__(),
    "actuators.set": lambda closed: closed.actuators["legs"].set("kp", 1.0),
    "view.set_gravity": lambda closed: closed.view.set_gravity([0.0, 0.0, 0.0]),
    "view.set_dof_positions": lambda closed: closed.view.articulations("**").set_dof_positions(0.0),
    "view.apply_forces": lambda closed: closed.view.rigid_bodies("**").apply_forces(0.0),
}
"""Every public way to change a simulation."""

READING = {"close", "component", "from_file", "load", "raise_errors", "state_record", "world_indices"}
"""Methods that change nothing, or build another simulation."""


@pytest.fixture(scope="module")
def closed():
    """Return a simulation that took two steps and was closed."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_chain(builder, [0.3])
    tables = {"simulation": {"device": "cpu"}, "solver": {"type": "featherstone"}}
    tables["actuators"] = {"legs": {"type": "pd", "joints": [".*"], "kp": 1.0, "kd": 0.0}}
    simulation = pippin.Simulation(pippin.structure(tables), prototype=builder)
    simulation.step(2)
    simulation.close()
    return simulation


def test_every_public_method_either_reads_or_is_refused_after_the_end():
    methods = {name for name, each in vars(pippin.Simulation).items() if not name.startswith("_") and callable(each)}
    methods |= {name for name, each in vars(pippin.Simulation).items() if isinstance(each, classmethod)}

    assert methods == READING | {name for name in CHANGING if "." not in name}


@pytest.mark.parametrize("name", CHANGING)
def test_a_call_after_the_end_is_an_error(closed, name):
    before = closed.state.joint_q.numpy().copy()

    with pytest.raises(pippin.SimulationError, match="the simulation is closed"):
        CHANGING[name](closed)

    assert (closed.state.joint_q.numpy() == before).all()


def test_arrays_and_getters_stay_readable_after_the_end(closed):
    view = closed.view.articulations("**")

    assert closed.is_closed
    assert view.get_dof_positions().numpy() == closed.state.joint_q.numpy()
    assert closed.state_record() == closed.state_record()
    closed.raise_errors()


@pytest.mark.parametrize("count", [1.5, True, "3"])
def test_a_number_of_steps_is_a_whole_number(ball, configure, count):
    with (
        pippin.Simulation(configure("featherstone"), prototype=ball()) as simulation,
        pytest.raises(pippin.SimulationError, match="step: expected a whole number of at least 0"),
    ):
        simulation.step(count)


def test_all_callbacks_can_be_cleared(ball, configure):
    calls = []
    with pippin.Simulation(configure("featherstone"), prototype=ball()) as simulation:
        for phase in ("after_step", "after_actuators"):
            simulation.callbacks.add(phase, lambda: calls.append(1), is_capturable=False)
        simulation.callbacks.clear()
        simulation.step()

    assert not calls


def test_a_solver_step_is_a_part_of_a_physics_step(ball, configure):
    with pippin.Simulation(configure("featherstone", dt=0.006, substeps=3), prototype=ball()) as simulation:
        assert simulation.solver_dt == pytest.approx(0.002)
