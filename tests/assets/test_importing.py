"""Assets whose reading or whose files need more than the core: USD, and the models of Gymnasium."""

import re

import pytest
from pippin.assembly.scene import add_assets, new_builder
from pippin.config.model import AssetConfig, SceneConfig
from pippin.errors import ConfigError

CARTPOLE = "pkg:newton/examples/assets/cartpole.usda"
GYMNASIUM = "pkg:gymnasium/envs/mujoco/assets"


def prototype_of(path: str, gravity=(0.0, 0.0, -9.81), **options):
    scene = SceneConfig(gravity=gravity, assets=(AssetConfig(path=str(path), **options),))
    builder = new_builder(scene)
    add_assets(builder, scene)
    return builder


def failure(path: str, **options) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        prototype_of(path, **options)
    return caught.value


def test_a_stage_brings_its_bodies_and_joints():
    builder = prototype_of(CARTPOLE)

    assert builder.body_label == ["/cartPole/rail", "/cartPole/cart", "/cartPole/pole1", "/cartPole/pole2"]
    assert builder.joint_label[1:] == ["/cartPole/railCartJoint", "/cartPole/cartPoleJoint", "/cartPole/polePoleJoint"]


def test_a_stage_is_placed_and_its_joints_start_where_asked():
    builder = prototype_of(CARTPOLE, position=(0.0, 0.0, 2.0), joint_positions={"cartPoleJoint": 0.1})

    assert tuple(builder.body_q[0])[:3] == pytest.approx((0.0, 0.0, 2.0))
    assert builder.joint_q == pytest.approx([0.0, 0.1, 0.0])


def test_the_self_collisions_that_a_stage_states_for_physx_hold():
    # The poles overlap at their joint: a collision there would drive them apart.
    pairs = set(prototype_of(CARTPOLE).shape_collision_filter_pairs)

    assert len(pairs) == 4 * 3 // 2


def test_ignore_leaves_out_a_prim_and_all_below_it():
    builder = prototype_of(CARTPOLE, ignore=("pole2", ".*/polePoleJoint"))

    assert [label.rpartition("/")[2] for label in builder.body_label] == ["rail", "cart", "pole1"]
    assert builder.shape_count == 3


def test_an_ignored_prim_is_named_in_full(tmp_path):
    stage = tmp_path / "boxes.usda"
    box = 'def Cube "{}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {{}}\n'
    stage.write_text('#usda 1.0\n(upAxis = "Z")\n' + box.format("box") + box.format("box2"))

    assert prototype_of(stage, ignore=("box",)).body_label == ["/box2"]


def test_an_ignored_prim_that_is_not_there_is_an_error():
    assert "no prim matches 'pole3'; did you mean 'pole2'?" in str(failure(CARTPOLE, ignore=("pole3",)))


def test_the_gravity_of_the_scene_holds_against_the_stage():
    assert tuple(prototype_of(CARTPOLE, gravity=(0.0, 0.0, -1.62)).gravity) == pytest.approx((0.0, 0.0, -1.62))


@pytest.mark.parametrize("option", [{"scale": 2.0}, {"up_axis": "y"}])
def test_what_the_usd_importer_lacks_is_refused(option):
    assert f"scene.assets[0].{next(iter(option))}: Newton's USD importer has no such option" in str(
        failure(CARTPOLE, **option)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('#usda 1.0\ndef Xform "a" {\n', r"robot\.usda:3:1: Expected \} at"),
        ("hello", r"robot\.usda> is not a valid usda layer"),
        ('#usda 1.0\ndef Xform "a" (references = @gone.usda@) {}\n', "Could not open asset @gone.usda@"),
    ],
)
def test_a_stage_that_does_not_open_says_why_on_one_line(tmp_path, text, expected):
    stage = tmp_path / "robot.usda"
    stage.write_text(text)

    error = failure(stage)

    assert re.search(expected, str(error))
    assert "pxrInternal" not in str(error)
    assert len(error.faults) == len(str(error).splitlines()) == 1


def test_gymnasiums_humanoid_has_all_its_hinges():
    # Newton's importer would refuse MuJoCo's solver of the file, PGS.
    builder = prototype_of(f"{GYMNASIUM}/humanoid.xml")

    assert builder.joint_dof_count == 23


def test_gymnasiums_half_cheetah_stands():
    builder = prototype_of(f"{GYMNASIUM}/half_cheetah.xml", ignore=("floor",))

    assert builder.body_count == 7
    assert tuple(builder.body_q[0])[:3] == pytest.approx((0.0, 0.0, 0.7))
