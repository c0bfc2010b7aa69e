"""Joints of a stage that belong to no articulation get one: trees with a root, and loops that a joint closes."""

import pippin
import pytest
from pippin.assets.usd.stage import articulate
from pippin.measuring.measures import joint_gap
from pxr import Usd, UsdPhysics


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
