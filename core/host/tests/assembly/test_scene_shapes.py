"""Defaults of shapes: in force before any asset is read, for the ground as well, and no further."""

import dataclasses

import attrs
import newton
import pippin
import pytest
from pippin.assembly.scene import add_assets, add_worlds, new_builder
from pippin.config import SceneConfig, ShapeConfig

ROBOT = """
<mujoco>
  <worldbody>
    <body name="plain" pos="0 0 1"><freejoint/><geom type="sphere" size="0.1"/></body>
    <body name="smooth" pos="1 0 1"><freejoint/><geom type="sphere" size="0.1" density="300" friction="0.2 0 0"/></body>
  </worldbody>
</mujoco>
"""


def built(tmp_path, **shapes):
    (tmp_path / "robot.xml").write_text(ROBOT)
    assets = [{"path": str(tmp_path / "robot.xml")}]
    scene = pippin.structure({"scene": {"shapes": shapes, "ground": True, "assets": assets}}).scene
    prototype, builder = new_builder(scene), new_builder(scene)
    add_assets(prototype, scene)
    add_worlds(builder, [(prototype, scene.worlds)], scene)
    return builder


NOT_A_DEFAULT = {"is_site": "a site is a frame, which an asset declares"}


def test_the_table_has_every_field_of_a_shape():
    known = {field.name for field in dataclasses.fields(newton.ModelBuilder.ShapeConfig)}

    assert {field.name for field in attrs.fields(ShapeConfig)} == known - NOT_A_DEFAULT.keys()


def test_what_is_not_given_is_newtons():
    assert new_builder(SceneConfig()).default_shape_cfg == newton.ModelBuilder.ShapeConfig()


def test_an_asset_that_says_nothing_and_the_ground_take_the_defaults(tmp_path):
    builder = built(tmp_path, mu=0.6, margin=0.01, ke=9000.0)

    plain, _, ground = range(builder.shape_count)
    for shape in (plain, ground):
        assert builder.shape_material_mu[shape] == pytest.approx(0.6)
        assert builder.shape_margin[shape] == pytest.approx(0.01)
    assert builder.shape_material_ke[ground] == pytest.approx(9000.0)


def test_what_an_asset_says_goes_before_the_defaults(tmp_path):
    builder = built(tmp_path, mu=0.6)

    assert builder.shape_material_mu[1] == pytest.approx(0.2)


def test_a_density_reaches_the_mass(tmp_path):
    light, heavy = built(tmp_path, density=100.0), built(tmp_path, density=200.0)

    assert heavy.body_mass[0] == pytest.approx(2.0 * light.body_mass[0])
    assert heavy.body_mass[1] == light.body_mass[1], "this one has a density of its own"


def test_values_that_no_material_has_are_refused():
    with pytest.raises(pippin.ConfigError, match=r"scene.shapes.mu: .*must be >= 0.*-1"):
        pippin.structure({"scene": {"shapes": {"mu": -1.0}}})


def test_shapes_of_an_asset_are_hydroelastic_and_the_ground_is_not(tmp_path):
    builder = built(tmp_path, is_hydroelastic=True, sdf_max_resolution=32, kh=1e9)

    sphere, _, ground = (flags & newton.ShapeFlags.HYDROELASTIC for flags in builder.shape_flags)
    assert sphere
    assert not ground, "a plane has no inside"
    assert builder.shape_sdf_max_resolution[0] == 32
    assert builder.shape_material_kh[0] == pytest.approx(1e9)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"is_hydroelastic": True}, "is_hydroelastic: needs sdf_max_resolution or sdf_target_voxel_size"),
        ({"sdf_max_resolution": 12}, "sdf_max_resolution: must be a multiple of 8"),
        ({"sdf_max_resolution": 8, "sdf_target_voxel_size": 0.1}, "sdf_target_voxel_size: is given beside"),
        ({"sdf_narrow_band_range": [0.1, 0.2]}, "sdf_narrow_band_range: must be a negative and a positive"),
        ({"sdf_texture_format": "int8"}, "sdf_texture_format: "),
        ({"is_site": True}, "is_site: unknown key"),
    ],
)
def test_what_no_shape_can_be_is_refused(table, key):
    with pytest.raises(pippin.ConfigError, match=rf"^scene\.shapes\.{key}"):
        pippin.structure({"scene": {"shapes": table}})
