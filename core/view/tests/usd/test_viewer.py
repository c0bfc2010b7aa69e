"""Motion in USD: the world poses that OpenUSD computes are those of the simulation, and the stage is the user's."""

import newton
import numpy as np
import pippin
import pytest
from pippin import Simulation
from pxr import Usd, UsdGeom, UsdShade
from scipy.spatial.transform import Rotation

RATE, STEPS, DT = 50.0, 10, 0.01

BODY = 'prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]'
STAGE = """#usda 1.0
(
    upAxis = "{up}"
    metersPerUnit = {unit}
    defaultPrim = "World"
)
def Xform "World" {{
    def Material "Red" {{}}
    def Cube "outer" ({body}) {{
        double3 xformOp:translate = (1, 2, 3)
        float3 xformOp:rotateXYZ = (10, 20, 30)
        float3 xformOp:scale = (0.5, 0.5, 0.5)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]
        rel material:binding = </World/Red>
        def Cube "inner" ({body}) {{
            double3 xformOp:translate = (8, 0, 0)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }}
    }}
    def Xform "copy" (
        instanceable = true
        references = </World/Kit>
    ) {{
        double3 xformOp:translate = (-6, 0, 4)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
    class "Kit" {{
        def Cube "part" ({body}) {{}}
    }}
}}
"""
MJCF = """
<mujoco><asset><mesh name="tent" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset><worldbody>
  <geom name="wall" type="box" size=".1 1 1" pos="3 0 0"/>
  <body name="crate" pos="0 0 2"><freejoint/>
    <geom name="hull" type="box" size=".1 .2 .3" pos=".5 0 0" rgba="1 0 0 1"/>
    <geom name="tent" type="mesh" mesh="tent"/>
    <body name="rod" pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" size=".05 .4"/></body>
  </body>
</worldbody></mujoco>
"""


def run(folder, asset, count, viewer, **given):
    """Return the stage that a viewer wrote, the poses of all bodies at its frames, and the simulation's notes."""
    tables = {
        "simulation": {"device": "cpu", "dt": DT},
        "scene": {"worlds": count, "spacing": [3.0, 3.0, 0.0], "assets": [{"path": str(asset), **given}]},
        "solver": {"type": "xpbd"},
        "viewers": {"motion": {"type": "usd", "rate": RATE, **viewer}},
    }
    with Simulation(pippin.structure(tables), folder=folder) as simulation:
        poses = [simulation.state.body_q.numpy().copy()]
        for _ in range(STEPS // 2):
            simulation.step(2)
            poses.append(simulation.state.body_q.numpy().copy())
        labels, notes, offsets = simulation.model.body_label, simulation.notes, simulation.world_offsets.copy()
    [file] = folder.glob("*.usd*")
    return Usd.Stage.Open(str(file)), np.array(poses), labels, notes.get("viewers:motion", []), offsets


def frames(stage, path):
    """Return the positions and rotation matrices of a prim in the world at each time code, and its scale."""
    codes = range(int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode()) + 1)
    prim = UsdGeom.Xformable(stage.GetPrimAtPath(path))
    matrices = np.array([np.array(prim.ComputeLocalToWorldTransform(code)) for code in codes])
    scale = np.linalg.norm(matrices[:, :3, :3], axis=2)
    return matrices[:, 3, :3], np.swapaxes(matrices[:, :3, :3] / scale[..., None], 1, 2), scale


def upright(up):
    """Return the rotation matrix from a stage to the simulation, in which z is up."""
    return Rotation.from_quat(newton.Axis.from_any(up).quat_between_axes(newton.Axis.Z)).as_matrix()


@pytest.mark.parametrize(("up", "clip_size"), [("Z", 1000), ("Y", 7)])
def test_a_layer_moves_the_prims_of_the_stage(tmp_path, monkeypatch, up, clip_size):
    """In the second case, the samples are in several value clips."""
    monkeypatch.setattr("pippin_view.usd.motion._CLIP_SIZE", clip_size)
    asset = tmp_path / "stage.usda"
    asset.write_text(STAGE.format(up=up, unit=1.0, body=BODY))

    turn = Rotation.from_euler("z", 90.0, degrees=True)
    given = {"position": [0.5, 0.0, 1.0], "rotation": list(turn.as_quat())}
    stage, poses, labels, notes, _ = run(tmp_path / "run", asset, 1, {}, **given)

    assert sorted(labels) == ["/World/copy/part", "/World/outer", "/World/outer/inner"]
    for column, label in enumerate(labels):
        places, turns, scales = frames(stage, label)
        expected = poses[:, column]
        rotation = turn.as_matrix() @ upright(up)
        assert places @ rotation.T + given["position"] == pytest.approx(expected[:, :3], abs=1e-6)
        assert rotation @ turns == pytest.approx(Rotation.from_quat(expected[:, 3:]).as_matrix(), abs=1e-6)
        assert scales == pytest.approx(0.5 if "outer" in label else 1.0)
    assert UsdGeom.GetStageUpAxis(stage) == up
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert (stage.GetTimeCodesPerSecond(), stage.GetEndTimeCode()) == (RATE, 5.0)
    material, _ = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath("/World/outer")).ComputeBoundMaterial()
    assert material.GetPath() == "/World/Red"
    assert not stage.GetPrimAtPath("/World/outer").GetAttribute("physics:rigidBodyEnabled").Get()
    assert notes[0] == "'/World/copy' is not an instance in 'motion.usdc', so that its bodies can move"
    assert len(notes) == 1 + (clip_size < 3 * STEPS)


def test_worlds_refer_to_the_stage_side_by_side(tmp_path, monkeypatch):
    monkeypatch.setattr("pippin_view.usd.motion._CLIP_SIZE", 15)
    asset = tmp_path / "stage.usda"
    asset.write_text(STAGE.format(up="Y", unit=1.0, body=BODY))

    stage, poses, labels, _, offsets = run(tmp_path / "run", asset, 2, {"path": "motion.usda"})

    column = len(labels) // 2 + labels[len(labels) // 2 :].index("/World/outer/inner")
    places, _, _ = frames(stage, "/worlds/world_1/World/outer/inner")
    assert places @ upright("Y").T == pytest.approx(poses[:, column, :3] + offsets[1], abs=1e-5)
    assert np.linalg.norm(offsets[1] - offsets[0]) == 3.0


def test_an_asset_of_another_format_has_its_own_shapes(tmp_path):
    asset = tmp_path / "crate.xml"
    asset.write_text(MJCF)

    stage, poses, labels, notes, offsets = run(tmp_path / "run", asset, 2, {"worlds": (1,)})

    assert notes == []
    crate, rod = labels.index("worldbody/crate") + 2, 3
    for column, path in ((crate, "/scene/world_1/crate"), (rod, "/scene/world_1/rod")):
        places, turns, _ = frames(stage, path)
        assert places == pytest.approx(poses[:, column, :3] + offsets[1], abs=1e-6)
        assert turns == pytest.approx(Rotation.from_quat(poses[:, column, 3:]).as_matrix(), abs=1e-6)
    cache = UsdGeom.BBoxCache(0.0, [UsdGeom.Tokens.default_])
    [hull] = [prim for prim in stage.Traverse() if prim.GetName().startswith("hull")]
    box = cache.ComputeWorldBound(hull).ComputeAlignedRange()
    assert np.array(box.GetMin()) - offsets[1] == pytest.approx((0.4, -0.2, 1.7), abs=1e-5)
    assert np.array(box.GetMax()) - offsets[1] == pytest.approx((0.6, 0.2, 2.3), abs=1e-5)
    assert list(UsdGeom.Gprim(hull).GetDisplayColorAttr().Get()[0]) == [1.0, 0.0, 0.0]
    types = {prim.GetTypeName() for prim in stage.Traverse()}
    assert types == {"Xform", "Cube", "Capsule", "Mesh"}


@pytest.mark.parametrize(
    ("text", "viewer", "count", "fault"),
    [
        (STAGE, {"path": "motion.fbx"}, 1, r"viewers\.motion\.path: must end with \.usdc, \.usda or \.usd"),
        (
            STAGE.replace('defaultPrim = "World"', ""),
            {},
            2,
            r"viewers\.motion\.worlds: 2 worlds, but .* no default prim",
        ),
        (STAGE, {"path": "stage.usda/a.usdc"}, 1, r"viewers\.motion\.path: .* cannot be created, as .* is a file"),
    ],
)
def test_a_layer_that_cannot_be_made_is_refused(tmp_path, text, viewer, count, fault):
    asset = tmp_path / "stage.usda"
    asset.write_text(text.format(up="Z", unit=1.0, body=BODY))

    with pytest.raises(pippin.ConfigError, match=fault):
        run(tmp_path, asset, count, viewer)
