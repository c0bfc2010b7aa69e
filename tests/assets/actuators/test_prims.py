"""Actuators that a USD stage brings: found, resolved against the file, and the same as those of the file."""

import warnings
from importlib.metadata import EntryPoints, entry_points

import numpy as np
import pippin
import pytest

PD = "float newton:kp = 100\nfloat newton:kd = 10\n"


def prim(name, schemas=("PDControl",), attributes=PD, targets=("hip",)):
    """Return a NewtonActuator prim as text; schemas by what stands between `Newton` and `API`."""
    paths = ", ".join(f"</Robot/{target}>" for target in targets)
    names = ", ".join(f'"Newton{schema}API"' for schema in schemas)
    applied = f"(prepend apiSchemas = [{names}])" if schemas else ""
    relationship = f"rel newton:targets = [{paths}]\n" if targets else ""
    return f'def NewtonActuator "{name}" {applied} {{\n{relationship}{attributes}}}\n'


def body(name):
    return f"""
    def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
    }}
"""


def joint(name, kind, drive, axis, parent, child):
    return f"""
    def Physics{kind}Joint "{name}" (prepend apiSchemas = ["PhysicsDriveAPI:{drive}"]) {{
        uniform token physics:axis = "{axis}"
        rel physics:body0 = </Robot/{parent}>
        rel physics:body1 = </Robot/{child}>
        float drive:{drive}:physics:stiffness = 3
        float drive:{drive}:physics:damping = 1
    }}
"""


@pytest.fixture
def robot(tmp_path):
    """Return a function that writes a fixed base with a hinge and a slide, both with drives of their own."""

    def write(*actuators, name="robot.usda"):
        text = '#usda 1.0\n(upAxis = "Z"\nmetersPerUnit = 1)\n'
        text += 'def Xform "Robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {\n'
        text += body("base") + body("thigh") + body("shin")
        text += 'def PhysicsFixedJoint "mount" {\nrel physics:body1 = </Robot/base>\n}\n'
        text += joint("hip", "Revolute", "angular", "Y", "base", "thigh")
        text += joint("slide", "Prismatic", "linear", "X", "thigh", "shin")
        text += 'def Scope "Actuators" {\n' + "".join(actuators) + "}\n}\n"
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


pytestmark = pytest.mark.simulation(dt=0.01, capture="require", worlds=2, gravity=0.0, solver="featherstone")


@pytest.fixture
def load(simulate):
    """Return a function that simulates assets, each a path or a table."""

    def build(*assets, **keys):
        return simulate(assets=[each if isinstance(each, dict) else {"path": str(each)} for each in assets], **keys)

    return build


def faults(load, *assets, **options):
    with pytest.raises(pippin.ConfigError) as caught:
        load(*assets, **options)
    return "\n".join(caught.value.faults)


# What is found.


def test_a_prim_is_the_actuator_that_a_file_would_make_of_it(load, robot, device):
    schemas = ("PDControl", "DCMotorClamping", "MaxEffortClamping", "ActuatorDelay")
    motor = "newton:saturationEffort = 120\nfloat newton:velocityLimit = 10\nfloat newton:maxMotorEffort = 100"
    stage = robot(prim("motor", schemas, f"{PD}float {motor}\nfloat newton:maxEffort = 7\nint newton:delaySteps = 2\n"))
    table = {
        "type": "pd",
        "joints": ["hip"],
        "kp": 100.0,
        "kd": 10.0,
        "delay": {"steps": 2},
        "clamping": [
            {"type": "dc-motor", "saturation_effort": 120.0, "velocity_limit": 10.0, "max_motor_effort": 100.0},
            {"type": "max-effort", "max_effort": 7.0},
        ],
    }

    def efforts(simulation):
        group = simulation.actuators["motor"]
        for target in (0.01, 0.05, 1.0, -0.5):
            group.position_targets.fill_(target)
            simulation.step(2)
            yield group.applied_effort.numpy().copy()

    bare = robot(name="bare.usda")
    with (
        load(stage, device=device) as from_stage,
        load(bare, actuators={"motor": table}, device=device) as from_file,
    ):
        assert from_stage.actuators["motor"].parameters == from_file.actuators["motor"].parameters
        for one, other in zip(efforts(from_stage), efforts(from_file), strict=True):
            assert one.shape == (2, 1)
            np.testing.assert_array_equal(one, other)
        assert np.abs(one).max() == 7.0


def test_values_are_in_radians_although_the_drives_of_joints_are_in_degrees(load, robot):
    with load(robot(prim("motor"))) as simulation:
        group = simulation.actuators["motor"]
        group.position_targets.fill_(0.5)
        simulation.step()

        np.testing.assert_allclose(group.applied_effort.numpy(), 50.0, rtol=1e-6)


@pytest.mark.parametrize(
    "order", [("DCMotorClamping", "PositionBasedClamping"), ("PositionBasedClamping", "DCMotorClamping")]
)
def test_clampings_are_applied_in_the_order_of_the_schemas(load, robot, order):
    values = (
        "float newton:saturationEffort = 120\nfloat newton:velocityLimit = 10\nfloat newton:maxMotorEffort = 100\n"
        "float[] newton:lookupPositions = [-1, 0, 1]\nfloat[] newton:lookupEfforts = [10, 50, 20]\n"
    )
    with load(robot(prim("motor", ("PDControl", *order), PD + values))) as simulation:
        types = [stage.type for stage in simulation.selected_plugins["actuators:motor"][1].config.clamping]

    assert types == [{"DC": "dc-motor", "Po": "position-based"}[name[:2]] for name in order]


def test_every_target_of_a_prim_is_driven(load, robot):
    # Newton's importer drives the first and warns.
    with load(robot(prim("motor", targets=("slide", "hip")))) as simulation:
        group = simulation.actuators["motor"]
        assert group.joint_labels == ("/Robot/hip", "/Robot/slide")
        group.position_targets.fill_(0.1)
        simulation.step()
        np.testing.assert_allclose(group.applied_effort.numpy(), 10.0, rtol=1e-6)


@pytest.mark.parametrize(("authored", "expected"), [("", 1), ("int newton:delaySteps = 3\n", 3)])
def test_a_delay_that_is_not_authored_is_the_schemas(load, robot, authored, expected):
    with load(robot(prim("motor", ("PDControl", "ActuatorDelay"), PD + authored))) as simulation:
        np.testing.assert_array_equal(simulation.actuators["motor"].get("delay.steps").numpy(), expected)


def test_a_delay_of_no_steps_is_none(load, robot):
    # Newton refuses to build one.
    stage = robot(prim("motor", ("PDControl", "ActuatorDelay"), PD + "int newton:delaySteps = 0\n"))
    with load(stage) as simulation:
        assert "delay.steps" not in simulation.actuators["motor"].parameters


@pytest.mark.parametrize(
    ("schema", "attributes", "limit"),
    [
        ("MaxEffortClamping", "", None),
        ("DCMotorClamping", "float newton:maxMotorEffort = 5\n", 5.0),
        ("DCMotorClamping", "float newton:saturationEffort = 4\nfloat newton:maxMotorEffort = 5\n", 4.0),
        ("DCMotorClamping", "", None),
    ],
)
def test_a_clamping_without_a_speed_limit_is_a_box_and_without_any_limit_none(load, robot, schema, attributes, limit):
    with load(robot(prim("motor", ("PDControl", schema), PD + attributes))) as simulation:
        group = simulation.actuators["motor"]
        group.position_targets.fill_(1.0)
        simulation.step()

        np.testing.assert_allclose(group.applied_effort.numpy(), limit or 100.0)


def test_a_constant_effort_is_added(load, robot):
    with load(robot(prim("motor", attributes="float newton:constEffort = 5\n"))) as simulation:
        simulation.step()
        np.testing.assert_array_equal(simulation.actuators["motor"].applied_effort.numpy(), 5.0)


def test_the_summary_of_a_run_lists_the_plugins_of_a_stage(load, robot):
    from pippin.studies.summary import what_ran

    with load(robot(prim("motor"))) as simulation:
        assert what_ran(simulation)["plugins"]["actuators:motor"]["distribution"] == "pippin-actuator-pd"


def test_an_actuator_in_an_instance_is_found(load, robot, tmp_path):
    robot(prim("motor"))
    scene = tmp_path / "scene.usda"
    reference = "(instanceable = true\nprepend references = @robot.usda@</Robot>)"
    scene.write_text(f'#usda 1.0\n(upAxis = "Z"\nmetersPerUnit = 1)\ndef Xform "Arm" {reference} {{}}\n')

    with load(scene) as simulation:
        assert simulation.actuators["motor"].joint_labels == ("/Arm/hip",)


# Names.


def test_two_prims_of_one_name_are_called_by_their_paths(load, robot):
    second = 'def Scope "More" {\n' + prim("motor", targets=("slide",)) + "}\n"
    with load(robot(prim("motor"), second)) as simulation:
        assert set(simulation.actuators) == {"/Robot/Actuators/motor", "/Robot/Actuators/More/motor"}


def test_a_prim_with_the_name_of_a_group_is_called_by_its_path(load, robot):
    group = {"type": "pd", "joints": ["slide"], "kp": 1.0}
    with load(robot(prim("motor")), actuators={"motor": group}) as simulation:
        assert list(simulation.actuators) == ["motor", "/Robot/Actuators/motor"]


def test_the_label_of_an_asset_stands_before_the_names_of_its_prims(load, robot):
    stage = str(robot(prim("motor")))
    with load({"path": stage, "label": "left"}, {"path": stage, "label": "right"}, worlds=1) as simulation:
        assert set(simulation.actuators) == {"left/motor", "right/motor"}
        simulation.actuators["left/motor"].position_targets.fill_(0.1)
        simulation.step()
        np.testing.assert_allclose(simulation.control.joint_f.numpy(), [10.0, 0.0, 0.0, 0.0], rtol=1e-6)


def test_two_copies_of_a_stage_without_labels_share_the_group(load, robot):
    stage = robot(prim("motor"))
    with load(stage, stage) as simulation:
        assert simulation.actuators["motor"].position_targets.shape == (2, 2)


def test_stages_in_different_worlds_bring_their_own_actuators(load, robot):
    weak, strong = (
        robot(prim("motor"), name="weak.usda"),
        robot(prim("motor").replace("100", "300"), name="strong.usda"),
    )
    assets = [{"path": str(weak), "label": "a", "worlds": [0, 2]}, {"path": str(strong), "label": "b", "worlds": [1]}]
    with load(*assets, worlds=3) as simulation:
        for group in simulation.actuators.values():
            group.position_targets.fill_(0.1)
        simulation.step()
        np.testing.assert_allclose(simulation.control.joint_f.numpy(), [10.0, 0.0, 30.0, 0.0, 10.0, 0.0], rtol=1e-6)


# Drives of the joints, reset, checkpoints.


def test_the_drives_of_actuated_joints_stay_off_after_a_reset(load, robot):
    with load(robot(prim("motor"))) as simulation:
        simulation.step()
        simulation.reset()
        simulation.step()
        np.testing.assert_array_equal(simulation.model.joint_target_ke.numpy(), [0.0, 3.0] * 2)
        np.testing.assert_array_equal(simulation.model.joint_target_kd.numpy(), [0.0, 1.0] * 2)


def test_nothing_moves_a_joint_whose_actuator_gives_no_effort(load, robot):
    with load(robot(prim("motor", attributes=""))) as simulation:
        simulation.actuators["motor"].position_targets.fill_(1.0)
        simulation.control.joint_target_q.fill_(1.0)
        simulation.step(5)
        np.testing.assert_array_equal(simulation.state.joint_q.numpy()[[0, 2]], 0.0)


def test_a_reset_world_forgets_the_delayed_targets(load, robot):
    stage = robot(prim("motor", ("PDControl", "ActuatorDelay"), "float newton:kp = 1\nint newton:delaySteps = 2\n"))
    with load(stage) as simulation:
        group = simulation.actuators["motor"]
        for target in (10.0, 20.0):
            group.position_targets.fill_(target)
            simulation.step()
        simulation.reset([1])
        group.position_targets.fill_(30.0)
        simulation.step()

        # World 0 still waits for the second target; world 1 has no older one than the third.
        assert group.applied_effort.numpy()[0, 0] == pytest.approx(10.0, abs=0.1)
        assert group.applied_effort.numpy()[1, 0] == pytest.approx(30.0, abs=1e-6)


def test_a_checkpoint_resumes_the_actuators_of_a_stage(load, robot, tmp_path):
    stage = robot(prim("motor", ("PDControl", "ActuatorDelay"), PD + "int newton:delaySteps = 3\n"))
    with load(stage) as simulation:
        simulation.actuators["motor"].position_targets.fill_(0.3)
        simulation.step(4)
        simulation.save(tmp_path / "state.pippin")
        simulation.step(3)
        with pippin.Simulation.load(tmp_path / "state.pippin") as resumed:
            resumed.step(3)
            np.testing.assert_array_equal(resumed.state.joint_q.numpy(), simulation.state.joint_q.numpy())


# The file beside the stage.


def test_the_file_wins_over_a_prim_and_one_warning_names_both(load, robot):
    stage = robot(prim("motor", targets=("hip", "slide")))
    group = {"type": "pd", "joints": ["hip"], "kp": 1.0}

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with load(stage, actuators={"legs": group}) as simulation:
            driven = {label: each.joint_labels for label, each in simulation.actuators.items()}

    assert driven == {"legs": ("/Robot/hip",), "motor": ("/Robot/slide",)}
    (warning,) = [str(each.message) for each in caught if each.category is UserWarning]
    assert "actuators.legs: drives '/Robot/hip' in place of scene.assets[0].path" in warning
    assert "prim '/Robot/Actuators/motor'" in warning


def test_a_prim_of_which_the_file_takes_every_joint_makes_no_group(load, robot):
    with (
        pytest.warns(UserWarning, match=r"actuators\.legs"),
        load(robot(prim("motor")), actuators={"legs": {"type": "pd", "joints": ["hip"], "kp": 1.0}}) as simulation,
    ):
        assert list(simulation.actuators) == ["legs"]


def test_a_prim_that_is_ignored_is_left_out_without_a_word(load, robot):
    stage = {"path": str(robot(prim("motor"), prim("motor_2", targets=("slide",)))), "ignore": ["motor"]}
    with load(stage) as simulation:
        assert list(simulation.actuators) == ["motor_2"]


def test_a_deactivated_prim_is_not_an_actuator(load, robot):
    inactive = prim("motor", targets=()).replace("prepend apiSchemas", "active = false\nprepend apiSchemas")
    with load(robot(inactive)) as simulation:
        assert not simulation.actuators


# Errors.


@pytest.mark.parametrize(
    ("actuator", "message"),
    [
        (prim("motor", targets=()), "newton:targets names no joint; name one, or deactivate the prim"),
        (prim("motor", targets=("knee",)), "newton:targets: '/Robot/knee' is not on the stage"),
        (prim("motor", targets=("mount",)), "newton:targets: '/Robot/mount' is PhysicsFixedJoint, which no drive can"),
        (prim("motor", ()), "newton:kp is not an attribute of the schemas applied"),
        (prim("motor", (), ""), "expected one control, got none; apply one of NewtonPDControlAPI, NewtonPID"),
        (prim("motor", ("PDControl", "PIDControl")), "got NewtonPDControlAPI and NewtonPIDControlAPI"),
        (
            prim("motor", ("PDControls",)),
            "NewtonPDControlsAPI, which is not a schema of an actuator; did you mean 'NewtonPD",
        ),
        (
            prim("motor", attributes="float newton:kq = 1\n"),
            "newton:kq is not an attribute of the schemas applied; did you",
        ),
        (prim("motor", attributes="float newton:kp = -1\n"), "newton:kp: must be finite and >= 0: -1.0; correct the"),
        (prim("motor", attributes="float newton:kp = nan\n"), "newton:kp: .*finite.*nan"),
        (
            prim("motor", ("PDControl", "MaxEffortClamping"), "float newton:maxEffort = -1\n"),
            "newton:maxEffort: must be finite and >= 0: -1.0",
        ),
        (
            prim("motor", ("PDControl", "DCMotorClamping"), "float newton:velocityLimit = 10\n"),
            "newton:velocityLimit needs a finite newton:saturationEffort, got inf",
        ),
        (
            prim(
                "motor",
                ("PDControl", "DCMotorClamping"),
                "float newton:velocityLimit = 0\nfloat newton:saturationEffort = 1\n",
            ),
            "newton:velocityLimit: must be finite and > 0: 0.0",
        ),
        (prim("motor", ("PDControl", "PositionBasedClamping"), ""), "must be of one length and not empty: 0 and 0"),
        (
            prim(
                "motor",
                ("PDControl", "PositionBasedClamping"),
                "float[] newton:lookupPositions = [0, 1]\nfloat[] newton:lookupEfforts = [1]\n",
            ),
            "must be of one length and not empty: 2 and 1",
        ),
        (
            prim(
                "motor",
                ("PDControl", "PositionBasedClamping"),
                "float[] newton:lookupPositions = [0, nan]\nfloat[] newton:lookupEfforts = [1, 1]\n",
            ),
            "newton:lookupPositions: .*finite.*nan; correct the stage",
        ),
        (
            prim("motor", ("PDControl", "DCMotorClamping"), "float newton:maxMotorEffort = nan\n"),
            "newton:maxMotorEffort must be >= 0: nan",
        ),
        (
            prim("motor", ("PDControl", "ActuatorDelay"), "int newton:delaySteps = -1\n"),
            "newton:delaySteps: must be >= 0: -1",
        ),
        (prim("motor", ("NeuralControl",), ""), "newton:modelPath names no file"),
        (
            prim("motor", ("NeuralControl",), "asset newton:modelPath = @gone.onnx@\n"),
            "newton:modelPath: 'gone.onnx' names no file",
        ),
    ],
)
def test_a_wrong_prim_is_refused_with_its_path(load, robot, actuator, message):
    stage = robot(actuator)

    with pytest.raises(pippin.ConfigError, match=message) as caught:
        load(stage)

    assert all(fault.startswith("scene.assets[0].path: ") for fault in caught.value.faults)
    assert all(f"{str(stage)!r}, prim '/Robot/Actuators/motor': " in fault for fault in caught.value.faults)


def test_all_wrong_prims_are_told_at_once(load, robot):
    text = faults(
        load, robot(prim("one", targets=()), prim("two", attributes="float newton:kp = -1\n", targets=("slide",)))
    )

    assert "prim '/Robot/Actuators/one'" in text
    assert "prim '/Robot/Actuators/two'" in text


def test_two_prims_on_one_joint_are_refused_with_both_named(load, robot):
    text = faults(load, robot(prim("one"), prim("two")))

    assert "two': drives '/Robot/hip', which" in text
    assert "one' drives already" in text


def test_a_target_that_the_asset_leaves_out_is_refused(load, robot):
    text = faults(load, {"path": str(robot(prim("motor", targets=("slide",)))), "ignore": ["slide", "shin"]})

    assert "'/Robot/slide' is left out by the asset's `ignore`; leave the actuator out as well" in text


def test_a_prototype_with_newtons_own_actuators_is_refused(chain, configure):
    from newton.actuators import DrivePD

    builder = chain()
    builder.add_actuator(DrivePD, index=0, kp=1.0)

    with pytest.raises(pippin.ConfigError, match="prototype: has actuators of Newton's own, which nothing here steps"):
        pippin.Simulation(configure("featherstone"), prototype=builder)


def test_a_plugin_that_is_missing_is_named_with_what_to_install(robot):
    from pippin.assets.actuators.prims import find_prim_actuators
    from pippin.catalog.entries import Catalog
    from pippin.catalog.source import Source

    stage = robot(prim("motor"))
    config = pippin.structure({"scene": {"assets": [{"path": str(stage)}]}})
    found = entry_points()
    points = (point for group in found.groups for point in found.select(group=group) if point.name != "pd")
    others = Catalog(Source(EntryPoints(points)))

    with pytest.raises(pippin.ConfigError, match=r"prim '/Robot/Actuators/motor': needs actuator 'pd': not installed"):
        find_prim_actuators(config, others)
    with pytest.raises(pippin.ConfigError, match=r"; install pippin-actuator-pd$"):
        find_prim_actuators(config, others)
