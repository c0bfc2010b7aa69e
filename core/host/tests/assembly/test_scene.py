import math
import subprocess
import sys

import newton
import numpy as np
import pytest
from pippin.assembly.scene import add_assets, add_worlds, new_builder, world_offsets
from pippin.config.model import AssetConfig, SceneConfig
from pippin.errors import ConfigError

ANT = AssetConfig(
    path="pkg:newton/examples/assets/nv_ant.xml",
    ignore=("floor",),
    joint_positions={"ankle_[14]": 1.0, "ankle_[23]": -1.0},
)


def prototype_of(*assets: AssetConfig, **scene) -> newton.ModelBuilder:
    config = SceneConfig(assets=assets, **scene)
    builder = new_builder(config)
    add_assets(builder, config)
    return builder


def falling_box() -> newton.ModelBuilder:
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_shape_box(builder.add_body(label="box"), hx=0.1, hy=0.1, hz=0.1)
    return builder


def test_the_scene_is_described_without_newton():
    code = "import pippin.config.model, sys; sys.exit(bool({'newton', 'warp', 'pxr'} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_assets_stand_side_by_side_under_their_labels():
    left, right = (
        AssetConfig(path=ANT.path, ignore=("floor",), label=label, position=(x, 0.0, 0.0))
        for label, x in (("left", -1.0), ("right", 1.0))
    )

    builder = prototype_of(left, right)

    heights = dict(zip(builder.body_label, (tuple(pose)[:3] for pose in builder.body_q), strict=True))
    assert heights["left/ant/worldbody/torso"] == pytest.approx((-1.0, 0.0, 0.75))
    assert heights["right/ant/worldbody/torso"] == pytest.approx((1.0, 0.0, 0.75))


def test_merging_the_bodies_of_one_asset_leaves_the_others_alone():
    path = "pkg:newton/examples/assets/cartpole.urdf"

    builder = prototype_of(AssetConfig(path=path), AssetConfig(path=path, collapse_fixed_joints=True))

    assert builder.body_count == 4 + 3


def test_defaults_of_the_builder_hold_for_every_asset():
    scene = SceneConfig(assets=(AssetConfig(path="pkg:newton/examples/assets/quadruped.urdf"),) * 2)
    builder = new_builder(scene)
    builder.default_shape_cfg.mu = 0.25

    add_assets(builder, scene)

    assert set(builder.shape_material_mu) == {0.25}


def test_the_gravity_of_the_scene_holds_against_the_asset(tmp_path):
    weightless = tmp_path / "ball.xml"
    weightless.write_text(
        '<mujoco><option><flag gravity="disable"/></option>'
        '<worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    )

    builder = prototype_of(AssetConfig(path=str(weightless)), gravity=(0.0, 0.0, -1.62))

    assert tuple(builder.gravity) == pytest.approx((0.0, 0.0, -1.62))


def test_every_world_is_at_the_origin_and_shares_one_ground():
    scene = SceneConfig(worlds=3, spacing=(2.0, 2.0, 0.0), ground=True)
    builder = new_builder(scene)

    add_worlds(builder, [(falling_box(), scene.worlds)], scene)

    assert builder.world_count == 3
    assert builder.body_world == [0, 1, 2]
    assert np.allclose([tuple(pose)[:3] for pose in builder.body_q], 0.0)
    assert [
        world for world, label in zip(builder.shape_world, builder.shape_label, strict=True) if "ground" in label
    ] == [-1]


def test_there_is_no_ground_unless_asked_for():
    scene = SceneConfig(worlds=2)
    builder = new_builder(scene)

    add_worlds(builder, [(falling_box(), scene.worlds)], scene)

    assert builder.shape_count == 2


def test_every_world_has_the_gravity_of_the_scene():
    scene = SceneConfig(worlds=2, gravity=(0.0, 0.0, -1.62), assets=(ANT,))
    prototype, builder = new_builder(scene), new_builder(scene)

    add_assets(prototype, scene)
    add_worlds(builder, [(prototype, scene.worlds)], scene)

    assert np.allclose([tuple(gravity) for gravity in builder.world_gravity], scene.gravity)


def test_a_prototype_with_another_up_axis_is_refused():
    scene = SceneConfig()

    with pytest.raises(ConfigError, match="prototype: expected z up, got up axis 'y'"):
        add_worlds(new_builder(scene), [(newton.ModelBuilder(up_axis=newton.Axis.Y), 1)], scene)


def test_worlds_are_drawn_on_a_centred_grid():
    offsets = world_offsets(SceneConfig(worlds=4, spacing=(2.0, 3.0, 0.0)))

    assert np.allclose(sorted(map(tuple, offsets)), [(-1, -1.5, 0), (-1, 1.5, 0), (1, -1.5, 0), (1, 1.5, 0)])


def test_the_ants_feet_reach_below_its_torso():
    # Each lower leg runs 0.4 m along x and along y from the ankle, which lies at the torso's height and bends down.
    angle, leg = 1.0, 0.4 * math.sqrt(2.0)
    model = prototype_of(ANT).finalize(device="cpu")
    state = model.state()

    newton.eval_fk(model, model.joint_q, model.joint_qd, state)

    pose = state.body_q.numpy()[[label.endswith("front_left_foot") for label in model.body_label]][0]
    tip = pose[:3] + rotated(pose[3:], np.array([0.4, 0.4, 0.0]))
    assert tip[2] == pytest.approx(0.75 - leg * math.sin(angle), abs=1e-5)


def rotated(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    axis, scalar = quaternion[:3], quaternion[3]
    return vector + 2.0 * np.cross(axis, np.cross(axis, vector) + scalar * vector)
