"""Isaac Sim's names: what its extension's tests check, by the names of these tests, where Kit has no part in it.

Kit's timeline and OmniGraph have no counterpart; `docs/reference/isaac.md` lists which tests go and why.
"""

import math
import re
import shutil
from pathlib import Path

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from newton.actuators import ClampingMaxEffort, DrivePD
from pippin_isaac import (
    ActuatorConfig,
    ArticulationActuators,
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
    add_actuator,
)
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
PD = PDControlConfig(kp=100.0, kd=100.0)


@pytest.fixture
def stage(tmp_path):
    """A fixed base with a hinge and a slide, both with drives of their own, saved nowhere yet."""
    made = Usd.Stage.CreateNew(str(tmp_path / "robot.usda"))
    UsdGeom.SetStageUpAxis(made, "Z")
    UsdGeom.SetStageMetersPerUnit(made, 1.0)
    root = UsdGeom.Xform.Define(made, "/Robot").GetPrim()
    made.SetDefaultPrim(root)
    UsdPhysics.ArticulationRootAPI.Apply(root)
    for name in ("base", "thigh", "shin"):
        body = UsdGeom.Xform.Define(made, f"/Robot/{name}").GetPrim()
        UsdPhysics.RigidBodyAPI.Apply(body)
        mass = UsdPhysics.MassAPI.Apply(body)
        mass.CreateMassAttr(1.0)
        mass.CreateDiagonalInertiaAttr(Gf.Vec3f(1.0))
    UsdPhysics.FixedJoint.Define(made, "/Robot/mount").CreateBody1Rel().SetTargets(["/Robot/base"])
    _joint(UsdPhysics.RevoluteJoint.Define(made, "/Robot/hip"), "angular", "Y", "base", "thigh")
    _joint(UsdPhysics.PrismaticJoint.Define(made, "/Robot/slide"), "linear", "X", "thigh", "shin")
    return made


def _joint(joint, drive, axis, parent, child):
    joint.CreateAxisAttr(axis)
    joint.CreateBody0Rel().SetTargets([f"/Robot/{parent}"])
    joint.CreateBody1Rel().SetTargets([f"/Robot/{child}"])
    UsdPhysics.DriveAPI.Apply(joint.GetPrim(), drive).CreateStiffnessAttr(3.0)


pytestmark = pytest.mark.simulation(dt=1 / 60, substeps=4, gravity=0.0, solver="featherstone")


@pytest.fixture
def load(simulate):
    """Return a function that simulates a stage, with plugins that drive it."""

    def build(stage, *actuated, **keys):
        stage.Save()
        return simulate(None, actuated, **{"assets": [{"path": stage.GetRootLayer().realPath}], **keys})

    return build


def constants(*values):
    return wp.array(values, dtype=float)


def given(kp, kd, *clamping):
    return ActuatorConfig(controller=DrivePD(kp=constants(*kp), kd=constants(*kd)), clamping=clamping)


def types_of(simulation, label="motor"):
    kind, choice = simulation.selected_plugins[f"actuators:{label}"]
    assert kind == "actuator"
    return choice.type, [each.type for each in choice.config.clamping], choice.config.delay


def test_the_reference_names_tests_that_are_here():
    page = (EXAMPLES.parent / "reference" / "isaac.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| (.+) \|$", page.partition("## Its tests")[2], re.MULTILINE)
    named = {name for _, ours in rows for name in re.findall(r"`(test_\w+)`", ours)}
    kept = " ".join(theirs for theirs, ours in rows if ours.startswith("the same"))
    named |= {f"test_{name}" for name in re.findall(r"`(\w+)`", kept)}

    assert len(named) > 30
    assert named <= set(globals())


# test_usd_authoring and test_actuator_component_parsing.


def test_pd_authored_and_discovered(load, stage):
    add_actuator(stage, "hip", "motor", PD)

    with load(stage) as simulation:
        simulation.step(10)
        assert types_of(simulation) == ("pd", [], None)


def test_pid_authored_and_discovered(load, stage):
    add_actuator(stage, "hip", "motor", PIDControlConfig(kp=20.0, ki=2.0, kd=1.0))

    with load(stage) as simulation:
        simulation.step(10)
        assert types_of(simulation)[0] == "pid"


@pytest.mark.parametrize(
    ("clamping", "expected"),
    [
        (MaxEffortClampingConfig(7.0), "max-effort"),
        (DCMotorClampingConfig(120.0, 10.0, 100.0), "dc-motor"),
        (PositionBasedClampingConfig([0.0, 0.5, 1.0], [100.0, 80.0, 50.0]), "position-based"),
    ],
)
def test_clamping_authored_and_discovered(load, stage, clamping, expected):
    add_actuator(stage, "hip", "motor", PD, clamping=[clamping])

    with load(stage) as simulation:
        simulation.step(10)
        assert types_of(simulation)[1] == [expected]


def test_delay_authored_and_discovered(load, stage):
    add_actuator(stage, "hip", "motor", PD, delay=DelayConfig(3))

    with load(stage) as simulation:
        simulation.step(10)
        assert types_of(simulation)[2].steps == 3


@pytest.mark.parametrize(
    ("arguments", "schema", "values"),
    [
        (
            {"controller": PDControlConfig(500.0, 50.0, 2.0)},
            "NewtonPDControlAPI",
            [("kp", 500.0), ("kd", 50.0), ("constEffort", 2.0)],
        ),
        (
            {"controller": PIDControlConfig(500.0, 10.0, 50.0, 200.0)},
            "NewtonPIDControlAPI",
            [("kp", 500.0), ("ki", 10.0), ("kd", 50.0), ("integralMax", 200.0), ("constEffort", 0.0)],
        ),
        ({"controller": PIDControlConfig(500.0, 10.0, 50.0)}, "NewtonPIDControlAPI", [("integralMax", math.inf)]),
        ({"clamping": [MaxEffortClampingConfig(7.0)]}, "NewtonMaxEffortClampingAPI", [("maxEffort", 7.0)]),
        (
            {"clamping": [DCMotorClampingConfig(120.0, 10.0, math.inf)]},
            "NewtonDCMotorClampingAPI",
            [("saturationEffort", 120.0), ("velocityLimit", 10.0), ("maxMotorEffort", math.inf)],
        ),
        (
            {"clamping": [PositionBasedClampingConfig([0.0, 0.5], [100.0, 80.0])]},
            "NewtonPositionBasedClampingAPI",
            [("lookupPositions", [0.0, 0.5]), ("lookupEfforts", [100.0, 80.0])],
        ),
        ({"delay": DelayConfig(3)}, "NewtonActuatorDelayAPI", [("delaySteps", 3)]),
    ],
)
def test_values_authored(stage, arguments, schema, values):
    prim = add_actuator(stage, "hip", "motor", **{"controller": PD, **arguments})

    assert schema in prim.GetAppliedSchemas()
    for name, value in values:
        attribute = prim.GetAttribute(f"newton:{name}")
        assert attribute.HasAuthoredValue()
        authored = attribute.Get()
        assert (list(authored) if isinstance(value, list) else authored) == pytest.approx(value)


def test_neural_authored_and_discovered(load, stage, tmp_path):
    # The path is relative to the layer.
    shutil.copy(EXAMPLES / "knee.onnx", tmp_path / "net.onnx")
    table = {"type": "neural", "joints": ["hip"], "model_path": str(tmp_path / "net.onnx")}
    with load(stage, actuators={"motor": table}) as simulation:
        expected = efforts_of(simulation)
    add_actuator(stage, "hip", "motor", NeuralControlConfig("net.onnx"))

    with load(stage) as simulation:
        assert types_of(simulation)[0] == "neural"
        np.testing.assert_array_equal(efforts_of(simulation), expected)
    assert np.abs(expected).max() > 0.0


def test_a_network_of_another_format_is_refused_with_the_prim(load, stage, tmp_path):
    (tmp_path / "net.pt").write_bytes(b"PK")
    add_actuator(stage, "hip", "motor", NeuralControlConfig("net.pt"))

    with pytest.raises(pippin.ConfigError, match=r"scene\.assets\[0\]\.path: .*/motor': model_path: .*net\.pt"):
        load(stage)


def test_neural_path_is_authored_as_an_asset(stage):
    prim = add_actuator(stage, "hip", "motor", NeuralControlConfig("nets/hip.onnx"))

    assert prim.GetAttribute("newton:modelPath").Get() == Sdf.AssetPath("nets/hip.onnx")


def test_prim_created_at_expected_path(stage):
    prim = add_actuator(stage.GetPrimAtPath("/Robot"), ["hip"], "motor", PD)

    assert str(prim.GetPath()) == "/Robot/Actuators/motor"
    assert prim.GetTypeName() == "NewtonActuator"


def test_multiple_targets(load, stage):
    prim = add_actuator(stage, ["slide", "/Robot/hip"], "motor", PD)

    assert [str(path) for path in prim.GetRelationship("newton:targets").GetTargets()] == ["/Robot/slide", "/Robot/hip"]
    with load(stage) as simulation:
        assert simulation.actuators["motor"].joint_labels == ("/Robot/hip", "/Robot/slide")


def test_multiple_clampings_in_their_order(load, stage):
    clamping = [
        PositionBasedClampingConfig([0.0], [5.0]),
        MaxEffortClampingConfig(7.0),
        DCMotorClampingConfig(9.0, 1.0, 8.0),
    ]
    add_actuator(stage, "hip", "motor", PD, clamping=clamping)

    with load(stage) as simulation:
        assert types_of(simulation)[1] == ["position-based", "max-effort", "dc-motor"]


def test_overwrite_true_replaces(load, stage):
    add_actuator(stage, "hip", "motor", PIDControlConfig(1.0, 2.0, 3.0), delay=DelayConfig(2))
    prim = add_actuator(stage, "slide", "motor", PD, overwrite_existing=True)

    assert "newton:ki" not in prim.GetPropertyNames()
    with load(stage) as simulation:
        assert types_of(simulation) == ("pd", [], None)
        assert simulation.actuators["motor"].joint_labels == ("/Robot/slide",)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"target_names": "hib"},
            ValueError,
            "no revolute or prismatic joint 'hib' under '/Robot'; did you mean 'hip'",
        ),
        ({"target_names": "mount"}, ValueError, "no revolute or prismatic joint 'mount'.*joints: hip, slide"),
        ({"target_names": []}, ValueError, "expected joints, each once"),
        ({"target_names": ["hip", "hip"]}, ValueError, "expected joints, each once"),
        ({"target_names": "twin"}, ValueError, "name of 2 joints; write one of /Robot/a/twin, /Robot/b/twin"),
        ({"name": "taken"}, ValueError, "'/Robot/Actuators/taken' exists already.*overwrite_existing"),
        ({"name": "my motor"}, ValueError, "'my motor' is not a name of a prim"),
        ({"controller": 3.0}, TypeError, "controller: expected one of PDControlConfig"),
        ({"controller": MaxEffortClampingConfig(1.0)}, TypeError, "controller: expected one of PDControlConfig"),
        ({"clamping": [PD]}, TypeError, r"clamping\[0\]: expected one of MaxEffortClampingConfig"),
        ({"delay": 3}, TypeError, "delay: expected one of DelayConfig, got 3"),
        (
            {"clamping": [MaxEffortClampingConfig(1.0), MaxEffortClampingConfig(2.0)]},
            ValueError,
            r"clamping\[1\]: MaxEffortClampingConfig comes twice",
        ),
    ],
)
def test_what_cannot_be_authored_raises_and_leaves_the_stage_as_it_was(stage, arguments, error, message):
    for parent in ("a", "b"):
        UsdPhysics.RevoluteJoint.Define(stage, f"/Robot/{parent}/twin")
    if arguments.get("target_names") != "twin":
        stage.RemovePrim("/Robot/a")
        stage.RemovePrim("/Robot/b")
    if "name" in arguments:
        add_actuator(stage, "hip", "taken", PD)
    before = stage.ExportToString()

    with pytest.raises(error, match=message):
        add_actuator(stage, **{"target_names": "hip", "name": "motor", "controller": PD, **arguments})

    assert stage.ExportToString() == before


def test_a_prim_of_another_layer_is_not_half_replaced(stage, tmp_path):
    add_actuator(stage, "hip", "motor", PIDControlConfig(1.0, 2.0, 3.0))
    stage.Save()
    other = Usd.Stage.CreateNew(str(tmp_path / "over.usda"))
    root = other.OverridePrim("/Robot")
    root.GetReferences().AddReference("robot.usda")

    with pytest.raises(ValueError, match=r"is also described in '.*robot\.usda'; edit it there"):
        add_actuator(root, "hip", "motor", PD, overwrite_existing=True)
    assert not other.GetRootLayer().GetPrimAtPath("/Robot/Actuators")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PDControlConfig(-1.0, 0.0), "kp: expected a finite number >= 0, got -1.0"),
        (lambda: PDControlConfig(math.nan, 0.0), "kp: expected a finite number >= 0, got nan"),
        (lambda: PIDControlConfig(1.0, 1.0, 1.0, -1.0), "integral_max: expected a number >= 0"),
        (lambda: NeuralControlConfig(""), "model_path: expected the path of a file, got ''"),
        (lambda: MaxEffortClampingConfig(-1.0), "max_effort: expected a number >= 0"),
        (lambda: DCMotorClampingConfig(math.inf, 10.0, 1.0), "saturation_effort: expected a finite number beside"),
        (lambda: DCMotorClampingConfig(1.0, 0.0, 1.0), "velocity_limit: expected a number > 0"),
        (lambda: PositionBasedClampingConfig([], []), "at least one, got 0 and 0"),
        (lambda: PositionBasedClampingConfig([0.0, 1.0], [1.0]), "got 2 and 1"),
        (lambda: PositionBasedClampingConfig([1.0, 0.0], [1.0, 1.0]), "none below the one before"),
        (lambda: PositionBasedClampingConfig([0.0], [-1.0]), "lookup_efforts: expected a finite number >= 0"),
        (lambda: DelayConfig(-1), "delay_steps: expected a whole number >= 0, got -1"),
        (lambda: DelayConfig(1.5), "delay_steps: expected a whole number >= 0, got 1.5"),
        (lambda: DelayConfig(np.True_), "delay_steps: expected a whole number >= 0"),
        (lambda: PDControlConfig(np.ones(2), 1.0), "kp: expected a finite number >= 0, got array"),
        (lambda: PositionBasedClampingConfig(1.0, "ab"), "lookup_positions: expected numbers here .* got 1.0 and 'ab'"),
    ],
)
def test_a_wrong_value_raises_where_it_is_given(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert isinstance(caught.value, pippin.ConfigError)


def test_numbers_of_numpy_and_paths_are_taken(stage):
    lookup = PositionBasedClampingConfig(np.float32([0.0, 0.5, 1.0]), (100.0, 80.0, np.int64(50)))
    prim = add_actuator(
        stage,
        "hip",
        "motor",
        PDControlConfig(np.float32(2.0), np.int64(1)),
        clamping=[lookup],
        delay=DelayConfig(np.int64(3)),
    )

    assert prim.GetAttribute("newton:kp").Get() == 2.0
    assert prim.GetAttribute("newton:delaySteps").Get() == 3
    assert [*prim.GetAttribute("newton:lookupEfforts").Get()] == [100.0, 80.0, 50.0]
    assert NeuralControlConfig(Path("nets") / "hip.onnx").model_path == str(Path("nets") / "hip.onnx")


@pytest.mark.parametrize("count", [2, 3, 4])
def test_lookups_of_any_length_are_authored(stage, count):
    lookup = PositionBasedClampingConfig(tuple(map(float, range(count))), (1.0,) * count)

    prim = add_actuator(stage, "hip", "motor", PD, clamping=[lookup])

    assert [*prim.GetAttribute("newton:lookupPositions").Get()] == [*range(count)]


# test_articulation_actuators.


def test_zero_actuator_passthrough(load, stage):
    actuated = ArticulationActuators("/Robot", auto_step_pre_physics=False)
    with load(stage, actuated) as simulation:
        actuated.step_actuators(1 / 60)
        simulation.step()
        assert (actuated.actuators, actuated.actuated_dof_indices) == ([], [])
        actuated.close()


def test_single_pd_discovery(load, stage):
    add_actuator(stage, "slide", "motor", PD)
    actuated = ArticulationActuators("/Robot")
    with load(stage, actuated) as simulation:
        assert actuated.actuators == [simulation.actuators["motor"]]
        assert actuated.actuated_dof_indices == [1]


def test_multiple_actuators_sorted_indices(load, stage):
    add_actuator(stage, "slide", "first", PD)
    add_actuator(stage, "hip", "second", PD)
    actuated = ArticulationActuators(".*Robot")
    with load(stage, actuated, worlds=2) as simulation:
        assert actuated.actuated_dof_indices == [0, 1]
        assert actuated.actuators == [simulation.actuators["second"], simulation.actuators["first"]]


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ("/Robt", r"paths: no joint is below '/Robt'; did you mean '/Robot'\?; joints: '/Robot/mount', '/Robot/hip'"),
        ("/Robot/", "paths: no joint is below '/Robot/'; did you mean '/Robot'"),
        (["/Robot", "/Other"], "paths: no joint is below '/Other'"),
    ],
)
def test_paths_without_joints_are_refused(load, stage, paths, message):
    with pytest.raises(ValueError, match=message):
        load(stage, ArticulationActuators(paths))


def test_a_path_without_the_label_of_the_asset_is_refused(load, stage):
    stage.Save()
    assets = [{"path": stage.GetRootLayer().realPath, "label": "left"}]
    with pytest.raises(ValueError, match="no joint is below '/Robot'; did you mean 'left//Robot'"):
        load(stage, ArticulationActuators("/Robot"), assets=assets)


@pytest.mark.parametrize("paths", ["(", []])
def test_paths_that_are_none_are_refused(paths):
    with pytest.raises(ValueError, match="paths: "):
        ArticulationActuators(paths)


def test_the_device_of_another_simulation_is_refused(load, stage):
    add_actuator(stage, "slide", "motor", PD)
    with load(stage, ArticulationActuators("/Robot", device="cpu")):
        pass
    with pytest.raises(ValueError, match=r"device: 'cuda:7', but the simulation is on cpu; leave it out"):
        load(stage, ArticulationActuators("/Robot", device="cuda:7"))


def test_targets_of_the_articulation_reach_the_actuators_of_all_worlds(load, stage):
    add_actuator(stage, "hip", "motor", PD)
    actuated = ArticulationActuators("/Robot")
    with load(stage, actuated, worlds=2) as simulation:
        assert actuated.articulation.count == 2
        actuated.articulation.set_dof_position_targets([[0.05, 0.0], [0.1, 0.0]])
        simulation.step()
        np.testing.assert_allclose(actuated.actuators[0].position_targets.numpy().ravel(), [0.05, 0.1])


def test_drive_gains_zeroed_on_actuated_dofs_only_and_again_after_a_reset(load, stage):
    add_actuator(stage, "slide", "motor", PD)
    with load(stage, ArticulationActuators("/Robot")) as simulation:
        simulation.step()
        simulation.reset()
        simulation.step()
        np.testing.assert_allclose(simulation.model.joint_target_ke.numpy(), [math.degrees(3.0), 0.0], rtol=1e-6)


def test_actuator_drives_motion(load, stage, device):
    add_actuator(stage, "hip", "motor", PD)
    with load(stage, device=device) as simulation:
        simulation.actuators["motor"].position_targets.fill_(0.05)
        simulation.step(1)
        assert simulation.actuators["motor"].applied_effort.numpy()[0, 0] == pytest.approx(5.0)
        simulation.step(360)
        # Two bodies of 1 kg·m² turn: the slow mode decays with about kp / kd = 1/s.
        assert simulation.state.joint_q.numpy()[0] == pytest.approx(0.05, abs=1e-2)


def test_no_actuator_callback_no_motion(load, stage):
    add_actuator(stage, "hip", "motor", PD)
    actuated = ArticulationActuators("/Robot", auto_step_pre_physics=False)
    with load(stage, actuated) as simulation:
        actuated.actuators[0].position_targets.fill_(0.05)
        simulation.step(20)
        assert simulation.state.joint_q.numpy()[0] == 0.0
        assert actuated.actuators[0].applied_effort.numpy()[0, 0] == 0.0


def run_by_hand(load, stage, *, is_auto, steps=10):
    actuated = ArticulationActuators("/Robot", auto_step_pre_physics=is_auto)
    with load(stage, actuated) as simulation:
        actuated.actuators[0].position_targets.fill_(0.05)
        for _ in range(steps):
            if not is_auto:
                actuated.step_actuators(1 / 60)
            simulation.step()
        return simulation.state.joint_q.numpy().copy()


def test_manual_step_drives_motion_as_auto_step_does(load, stage):
    add_actuator(stage, "hip", "motor", PD, delay=DelayConfig(2))

    by_hand = run_by_hand(load, stage, is_auto=False)

    assert by_hand[0] > 1e-3
    np.testing.assert_array_equal(by_hand, run_by_hand(load, stage, is_auto=True))


def test_auto_step_is_switched_while_it_runs(load, stage):
    add_actuator(stage, "hip", "motor", PDControlConfig(kp=10.0, kd=0.0))
    actuated = ArticulationActuators("/Robot")
    with load(stage, actuated) as simulation:
        group = actuated.actuators[0]
        group.position_targets.fill_(1.0)
        simulation.step(2)
        for _ in range(2):  # twice is as good as once
            actuated.disable_auto_step_pre_physics()
        before = simulation.state.joint_qd.numpy()[0]
        simulation.step(2)
        assert simulation.state.joint_qd.numpy()[0] == before > 0.0
        actuated.enable_auto_step_pre_physics()
        actuated.enable_auto_step_pre_physics()
        simulation.step(2)
        assert simulation.program.is_captured
        assert simulation.state.joint_qd.numpy()[0] > before


def test_enable_auto_step_before_the_simulation_is_built(load, stage):
    add_actuator(stage, "hip", "motor", PD)
    actuated = ArticulationActuators("/Robot", auto_step_pre_physics=False)
    actuated.disable_auto_step_pre_physics()
    actuated.enable_auto_step_pre_physics()
    with load(stage, actuated) as simulation:
        actuated.actuators[0].position_targets.fill_(0.05)
        simulation.step(3)
        assert simulation.state.joint_q.numpy()[0] > 0.0


def test_stepping_by_hand_what_the_simulation_steps_raises(load, stage):
    add_actuator(stage, "hip", "motor", PD)
    actuated = ArticulationActuators("/Robot")
    with load(stage, actuated), pytest.raises(pippin.SimulationError, match="disable_auto_step_pre_physics"):
        actuated.step_actuators(1 / 60)


def test_both_joints_converge(load, stage):
    add_actuator(stage, "hip", "hip_motor", PD)
    add_actuator(stage, "slide", "slide_motor", PD)
    with load(stage) as simulation:
        simulation.actuators["hip_motor"].position_targets.fill_(0.05)
        simulation.actuators["slide_motor"].position_targets.fill_(0.04)
        simulation.step(600)
        np.testing.assert_allclose(simulation.state.joint_q.numpy(), [0.05, 0.04], atol=1e-3)


def test_reset_clears_pid_integral(load, stage):
    add_actuator(stage, "hip", "motor", PIDControlConfig(kp=0.0, ki=60.0, kd=0.0))
    actuated = ArticulationActuators("/Robot", auto_step_pre_physics=False)
    with load(stage, actuated):
        group = actuated.actuators[0]
        group.position_targets.fill_(1.0)
        efforts = []
        for _ in range(2):
            actuated.step_actuators(1 / 60)
            efforts.append(group.applied_effort.numpy()[0, 0])
        actuated.reset()
        actuated.step_actuators(1 / 60)

        assert [*efforts, group.applied_effort.numpy()[0, 0]] == pytest.approx([1.0, 2.0, 1.0])


def test_reset_clears_delayed_targets(load, stage):
    add_actuator(stage, "hip", "motor", PDControlConfig(1.0, 0.0), delay=DelayConfig(1))
    actuated = ArticulationActuators("/Robot", auto_step_pre_physics=False)
    with load(stage, actuated):
        group = actuated.actuators[0]
        efforts = []
        for target, is_reset in ((1.0, False), (2.0, False), (3.0, True)):
            if is_reset:
                actuated.reset()
            group.position_targets.fill_(target)
            actuated.step_actuators(1 / 60)
            efforts.append(group.applied_effort.numpy()[0, 0])

        assert efforts == [1.0, 1.0, 3.0]


def test_targets_non_dof_path_raises(load, stage):
    prim = add_actuator(stage, "hip", "motor", PD)
    prim.GetRelationship("newton:targets").SetTargets(["/Robot/mount"])
    with pytest.raises(pippin.ConfigError, match="'/Robot/mount' is PhysicsFixedJoint"):
        load(stage)


def test_duplicate_dof_raises(load, stage):
    add_actuator(stage, "hip", "one", PD)
    add_actuator(stage, "hip", "two", PD)
    with pytest.raises(pippin.ConfigError, match=r"two': drives '/Robot/hip', which .*one' drives already"):
        load(stage)


def test_close_is_idempotent_and_lets_the_actuators_go(load, stage):
    add_actuator(stage, "hip", "motor", PD)
    actuated = ArticulationActuators("/Robot")
    with load(stage, actuated) as simulation:
        actuated.actuators[0].position_targets.fill_(0.05)
        actuated.close()
        actuated.close()
        simulation.step(3)
        assert simulation.state.joint_q.numpy()[0] == 0.0
        with pytest.raises(pippin.SimulationError, match="closed; make others"):
            actuated.step_actuators(1 / 60)


def test_context_manager_closes_also_on_raise(load, stage):
    add_actuator(stage, "hip", "motor", PD)
    actuated = ArticulationActuators("/Robot")
    with load(stage, actuated) as simulation:
        with pytest.raises(KeyError), actuated:
            raise KeyError
        actuated.actuators[0].position_targets.fill_(0.05)
        simulation.step(3)
        assert simulation.state.joint_q.numpy()[0] == 0.0


# from_actuators.


def test_from_actuators_drives_motion_and_switches_the_joint_drive_off(load, stage):
    actuated = ArticulationActuators.from_actuators("/Robot", [(given([100.0] * 2, [0.0] * 2), "hip")])
    with load(stage, actuated, worlds=2, capture="require") as simulation:
        (group,) = actuated.actuators
        assert group.position_targets.device == simulation.device
        group.position_targets.assign([[0.05], [0.1]])
        simulation.step()
        np.testing.assert_allclose(group.applied_effort.numpy(), [[5.0], [10.0]], rtol=1e-6)
        assert (simulation.state.joint_q.numpy()[[0, 2]] > 0.0).all()
        np.testing.assert_array_equal(simulation.model.joint_target_ke.numpy(), [0.0, 3.0] * 2)
        assert simulation.program.is_captured


def test_from_actuators_multiple_dofs_in_any_order(load, stage):
    parts = [(given([1.0], [0.0]), "slide"), (given([2.0], [0.0]), "hip")]
    actuated = ArticulationActuators.from_actuators("/Robot", parts, auto_step_pre_physics=False)
    with load(stage, actuated) as simulation:
        assert actuated.actuated_dof_indices == [0, 1]
        assert [group.joint_labels for group in actuated.actuators] == [("/Robot/hip",), ("/Robot/slide",)]
        for group in actuated.actuators:
            group.position_targets.fill_(1.0)
        actuated.step_actuators(1 / 60)
        np.testing.assert_array_equal(simulation.control.joint_f.numpy(), [2.0, 1.0])


def test_from_actuators_unknown_dof_raises(load, stage):
    actuated = ArticulationActuators.from_actuators("/Robot", [(given([1.0], [0.0]), "hib")])
    with pytest.raises(ValueError, match=r"0 axes are called 'hib'; did you mean 'hip'.*: hip, slide") as caught:
        load(stage, actuated)
    assert isinstance(caught.value, pippin.ConfigError)


def test_from_actuators_duplicate_dof_raises():
    parts = [(given([1.0], [0.0]), "hip"), (given([1.0], [0.0]), "hip")]
    with pytest.raises(ValueError, match=r"each joint takes one actuator, got \['hip', 'hip'\]"):
        ArticulationActuators.from_actuators("/Robot", parts)


def test_from_actuators_of_another_number_of_worlds_raises(load, stage):
    actuated = ArticulationActuators.from_actuators("/Robot", [(given([1.0], [0.0]), "hip")])
    with pytest.raises(ValueError, match=r"kp of DrivePD has 1 values for 'hip', and there are 2 worlds"):
        load(stage, actuated, worlds=2)


@pytest.mark.cuda
@pytest.mark.parametrize(("device", "other"), [("cpu", "cuda:0"), ("cuda:0", "cpu")])
def test_from_actuators_on_another_device_raises(load, stage, device, other):
    if not wp.is_cuda_available():
        pytest.skip("no CUDA device")
    gains = (wp.array([1.0], dtype=float, device=other) for _ in range(2))
    prebuilt = ActuatorConfig(controller=DrivePD(*gains))
    actuated = ArticulationActuators.from_actuators("/Robot", [(prebuilt, "hip")])
    with pytest.raises(ValueError, match=rf"kp of DrivePD is on {other}, and the simulation on {device}"):
        load(stage, actuated, device=device)


def test_from_actuators_without_any_does_nothing(load, stage):
    actuated = ArticulationActuators.from_actuators("/Robot", [])
    with load(stage, actuated) as simulation:
        simulation.step()
        assert actuated.actuators == []


# Feedforward.


def feedforward(load, stage, controller, efforts, clamping=(), targets=0.0, **where):
    add_actuator(stage, ["hip", "slide"], "motor", controller, clamping=list(clamping))
    actuated = ArticulationActuators("/Robot", auto_step_pre_physics=False)
    with load(stage, actuated) as simulation:
        actuated.actuators[0].position_targets.fill_(targets)
        actuated.set_dof_feedforward_effort_targets(efforts, **where)
        actuated.step_actuators(1 / 60)
        return simulation.control.joint_f.numpy().tolist()


def test_feedforward_applied(load, stage):
    assert feedforward(load, stage, PDControlConfig(0.0, 0.0), 7.5, dof_indices=[0]) == [7.5, 0.0]


def test_feedforward_saturated(load, stage):
    assert feedforward(load, stage, PDControlConfig(0.0, 0.0), 10.0, [MaxEffortClampingConfig(2.0)], dof_indices=0) == [
        2.0,
        0.0,
    ]


def test_feedforward_additive_with_pd(load, stage):
    assert feedforward(load, stage, PDControlConfig(100.0, 0.0), [5.0], targets=1.0, dof_indices=[0]) == [105.0, 100.0]


def test_feedforward_set_for_all_dofs_at_once(load, stage):
    assert feedforward(load, stage, PDControlConfig(0.0, 0.0), [9.0, 3.0]) == [9.0, 3.0]


def test_feedforward_of_a_dof_without_actuator_has_no_effect(load, stage):
    add_actuator(stage, "slide", "motor", PDControlConfig(0.0, 0.0))
    actuated = ArticulationActuators("/Robot")
    with load(stage, actuated, worlds=2) as simulation:
        actuated.set_dof_feedforward_effort_targets([[9.0, 3.0]], indices=[1])
        simulation.step()
        np.testing.assert_array_equal(simulation.control.joint_f.numpy(), [0.0, 0.0, 0.0, 3.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target_feedforward_efforts": 1.0, "indices": 1}, "indices: 1 is not a world; there are 1"),
        ({"target_feedforward_efforts": 1.0, "dof_indices": [2]}, "dof_indices: 2 is not a DOF; there are 2"),
        ({"target_feedforward_efforts": [1.0, 2.0, 3.0]}, r"expected what fits \[1, 2\], got shape \[3\]"),
    ],
)
def test_feedforward_that_does_not_fit_raises(load, stage, arguments, message):
    actuated = ArticulationActuators("/Robot")
    with load(stage, actuated), pytest.raises(ValueError, match=message):
        actuated.set_dof_feedforward_effort_targets(**arguments)


def test_feedforward_of_a_network_is_refused_before_anything_is_written(load, stage):
    tables = {
        "motor": {"type": "pd", "joints": ["slide"], "kp": 0.0},
        "net": {"type": "neural", "joints": ["hip"], "model_path": str(EXAMPLES / "knee.onnx")},
    }
    actuated = ArticulationActuators("/Robot")
    with load(stage, actuated, actuators=tables) as simulation:
        with pytest.raises(ValueError, match="target_feedforward_efforts: the actuator of '/Robot/hip' takes none: "):
            actuated.set_dof_feedforward_effort_targets([5.0, 3.0])
        assert simulation.actuators["motor"].feedforward.numpy() == 0.0
        actuated.set_dof_feedforward_effort_targets(3.0, dof_indices=[1])
        assert simulation.actuators["motor"].feedforward.numpy() == 3.0


def test_per_joint_pd_effort_matches_formula():
    joints, worlds = 7, 2
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    links, parent = [], -1
    for index in range(joints):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
        links.append(builder.add_joint_revolute(parent, link, axis=(0.0, 1.0, 0.0), label=f"/Arm/joint{index}"))
        parent = link
    builder.add_articulation(links)
    random = np.random.default_rng(0)
    kp, kd = random.uniform(50.0, 500.0, (joints, worlds)), random.uniform(1.0, 50.0, (joints, worlds))
    limit = ClampingMaxEffort(max_effort=constants(*([1e6] * worlds)))
    parts = [(given(kp[i], kd[i], *([limit] if i == 0 else [])), f"joint{i}") for i in range(joints)]
    actuated = ArticulationActuators.from_actuators("/Arm", parts, auto_step_pre_physics=False)
    config = pippin.structure(
        {"simulation": {"device": "cpu"}, "scene": {"worlds": worlds}, "solver": {"type": "featherstone"}}
    )
    with pippin.Simulation(config, plugins=[actuated], prototype=builder) as simulation:
        q, qd, wanted = (random.uniform(-1.0, 1.0, (worlds, joints)) for _ in range(3))
        simulation.state.joint_q.assign(q.ravel())
        simulation.state.joint_qd.assign(qd.ravel())
        for index, group in enumerate(actuated.actuators):
            group.position_targets.assign(wanted[:, [index]])
        actuated.step_actuators(1 / 60)

        expected = kp.T * (wanted - q) - kd.T * qd
        np.testing.assert_allclose(simulation.control.joint_f.numpy().reshape(worlds, joints), expected, rtol=1e-4)


# The same efforts.


def test_an_authored_actuator_gives_the_efforts_of_the_same_table(load, stage, tmp_path):
    table = {
        "type": "pd",
        "joints": ["hip"],
        "kp": 100.0,
        "kd": 10.0,
        "delay": {"steps": 2},
        "clamping": [{"type": "max-effort", "max_effort": 3.0}],
    }
    with load(stage, actuators={"motor": table}) as simulation:
        expected = efforts_of(simulation)
    add_actuator(
        stage,
        "hip",
        "motor",
        PDControlConfig(100.0, 10.0),
        clamping=[MaxEffortClampingConfig(3.0)],
        delay=DelayConfig(2),
    )
    with load(stage) as simulation:
        np.testing.assert_array_equal(efforts_of(simulation), expected)
    assert np.abs(expected).max() == 3.0


def efforts_of(simulation):
    group, efforts = simulation.actuators["motor"], []
    for target in (0.01, 0.02, 0.1, -0.1, 0.0):
        group.position_targets.fill_(target)
        simulation.step()
        efforts.append(group.applied_effort.numpy()[0, 0])
    return np.array(efforts)
