"""Joints of a stage that belong to no articulation get one: trees with a root, and loops that a joint closes."""

import numpy as np
import pippin
import pytest
from pippin.assets.usd.stage import articulate
from pippin.measuring.measures import joint_gap
from pxr import Sdf, Usd, UsdPhysics


def stage_of(*joints, root=None):
    """Return a stage with joints between bodies of some names; None stands for the world."""
    stage = Usd.Stage.CreateInMemory()
    for name in dict.fromkeys(body for pair in joints for body in pair if body):
        UsdPhysics.RigidBodyAPI.Apply(stage.DefinePrim(f"/robot/{name}", "Xform"))
    for index, pair in enumerate(joints):
        joint = UsdPhysics.RevoluteJoint.Define(stage, f"/robot/joint_{index}")
        for body, relation in zip(pair, (joint.CreateBody0Rel(), joint.CreateBody1Rel()), strict=True):
            if body:
                relation.AddTarget(f"/robot/{body}")
    if root:
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(root))
    return stage


def found(stage):
    """Return the names of the roots, and of the joints outside of articulations."""
    prims = list(stage.Traverse())
    roots = [prim.GetName() for prim in prims if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
    joints = [prim for prim in prims if prim.IsA(UsdPhysics.Joint)]
    return roots, [
        prim.GetName() for prim in joints if UsdPhysics.Joint(prim).GetExcludeFromArticulationAttr().Get() is True
    ]


@pytest.mark.parametrize(
    ("joints", "roots", "loops"),
    [
        ([("a", "b"), ("b", "c")], ["a"], []),
        ([("a", "b"), ("b", "c"), ("c", "a")], ["a"], ["joint_2"]),
        ([("a", "b"), (None, "a")], ["joint_1"], []),
        ([("a", "b"), (None, "a"), (None, "b")], ["joint_1"], ["joint_2"]),
        ([("a", "b"), ("c", "d")], ["a", "c"], []),
        ([("a", "b"), ("a", "b")], ["a"], []),  # Newton makes one joint of both
        ([("b", "a"), ("b", "c")], ["b"], []),  # which no joint has as its second body
        ([("a", "b"), ("c", "b")], ["a"], []),
    ],
)
def test_a_mechanism_without_an_articulation_becomes_a_tree(joints, roots, loops):
    stage = stage_of(*joints)
    authored = stage.GetRootLayer().ExportToString()

    articulate(stage, ())

    assert found(stage) == (roots, loops)
    assert stage.GetRootLayer().ExportToString() == authored


@pytest.mark.parametrize(
    ("joints", "root", "ignored"),
    [
        ([("a", "b"), ("b", "a")], "/robot", ()),
        ([("a", "b")], "/robot/a", ()),
        ([(None, "a"), (None, "b")], None, ()),
        ([("a", "b")], None, ["/robot/joint_0"]),
    ],
)
def test_what_has_an_articulation_needs_none_or_is_left_out_stays(joints, root, ignored):
    stage = stage_of(*joints, root=root)
    before = found(stage)

    articulate(stage, ignored)

    assert found(stage) == before


@pytest.mark.parametrize(
    ("joints", "root", "roots", "loops"),
    [
        ([("a", "b"), ("c", "d")], "/robot", ["a", "c"], []),
        ([(None, "a"), (None, "b")], "/robot", ["robot"], []),
        ([("a", "b"), ("b", "c"), ("c", "a")], "/robot/b", ["b"], ["joint_2"]),
    ],
)
def test_articulations_that_newton_refuses_are_parted(joints, root, roots, loops):
    """Several mechanisms that float below one root, and loops."""
    stage = stage_of(*joints, root=root)
    stage.GetPrimAtPath(root).CreateAttribute("newton:selfCollisionEnabled", Sdf.ValueTypeNames.Bool).Set(False)

    articulate(stage, ())

    assert found(stage) == (roots, loops)
    for name in roots:
        prim = next(prim for prim in stage.Traverse() if prim.GetName() == name)
        assert prim.GetAttribute("newton:selfCollisionEnabled").Get() is False


REVERSED = """#usda 1.0
(metersPerUnit = 1
kilogramsPerUnit = 1
upAxis = "Z")
def Xform "r" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {{
  def Xform "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
    float physics:mass = 1
    float3 physics:diagonalInertia = (0.02, 0.03, 0.04)
  }}
  def Xform "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
    float physics:mass = 2
    float3 physics:diagonalInertia = (0.05, 0.03, 0.06)
    double3 xformOp:translate = (0.3, 0.1, 0.2)
    uniform token[] xformOpOrder = ["xformOp:translate"]
  }}
  def PhysicsFixedJoint "base" {{
    rel physics:body1 = </r/a>
  }}
  def Physics{kind}Joint "j" (prepend apiSchemas = ["PhysicsJointStateAPI:{part}", "PhysicsDriveAPI:{part}"]) {{
    uniform token physics:axis = "{axis}"
    rel physics:body{carrier} = </r/a>
    rel physics:body{carried} = </r/b>
    point3f physics:localPos{carrier} = (0.3, 0.0, 0.2)
    point3f physics:localPos{carried} = (0.0, -0.1, 0.0)
    float state:{part}:physics:velocity = {speed}
    float drive:{part}:physics:stiffness = 0.5
    float drive:{part}:physics:targetPosition = {target}
  }}
}}
"""


@pytest.mark.parametrize("axis", "XYZ")
@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
def test_a_joint_that_leads_to_the_root_moves_as_one_that_leads_away(kind, axis, tmp_path):
    """Its coordinate is that of its second body in its first one: the opposite of the other joint's."""
    ends = []
    for carrier, sign in ((0, 1.0), (1, -1.0)):
        speed, target = (sign * value for value in ((60.0, 30.0) if kind == "Revolute" else (1.0, 0.3)))
        words = {"kind": kind, "axis": axis, "carrier": carrier, "carried": 1 - carrier}
        words |= {"speed": speed, "target": target, "part": "angular" if kind == "Revolute" else "linear"}
        (tmp_path / "r.usda").write_text(REVERSED.format(**words))
        config = {"simulation": {"device": "cpu", "dt": 0.002}, "solver": {"type": "mujoco-native"}}
        config["scene"] = {"assets": [{"path": str(tmp_path / "r.usda")}]}
        with pippin.Simulation(pippin.structure(config)) as simulation:
            simulation.step(50)
            coordinate = sign * simulation.state.joint_q.numpy()[-1]
            ends.append([coordinate, *simulation.state.body_q.numpy()[1]])

    assert abs(ends[0][0]) > 0.01
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5)


def test_a_four_bar_of_loose_joints_stays_closed():
    config = pippin.structure(
        {
            "simulation": {"device": "cpu", "dt": 0.002},
            "scene": {"worlds": 1, "assets": [{"path": "pkg:newton/examples/assets/boxes_fourbar.usda"}]},
            "solver": {"type": "xpbd"},
        }
    )

    with pippin.Simulation(config) as simulation:
        simulation.step(20)
        gap = joint_gap(simulation.model, simulation.state)

    assert (simulation.model.joint_articulation.numpy() >= 0).tolist() == [True, True, True, True, False]
    assert gap < 1e-3  # of sides of 0.1 m
