"""Keys of `[scene.shapes]`: each changes the shapes of an asset that does not state them, or is refused."""

import functools
import tracemalloc

import attrs
import newton
import numpy as np
import pippin
import pytest
from pippin.assembly.scene import add_assets, new_builder, world_offsets
from pippin.assets.asset import FORMATS
from pippin.config import SceneConfig, ShapeConfig

MJCF = """
<mujoco>
  <worldbody>
    <body name="a">
      <freejoint/><geom name="a" type="box" size="0.1 0.1 0.1"/>
      <body name="b" pos="0 0 0.15"><joint name="h"/><geom name="b" type="box" size="0.1 0.1 0.1"/></body>
    </body>
  </worldbody>
</mujoco>
"""
_LINK = '<link name="{}"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>'
URDF = f"""
<robot name="r">
  {_LINK.format("a")}
  {_LINK.format("b")}
  <joint name="h" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 0.15"/></joint>
</robot>
"""
USD = """#usda 1.0
(
    upAxis = "Z"
    metersPerUnit = 1
)
def Cube "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
    double size = 0.2
}
def Cube "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
    double size = 0.2
    double3 xformOp:translate = (0, 0, 0.15)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
"""
FILES = {"xml": MJCF, "urdf": URDF, "usda": USD}

VALUES = {
    "is_solid": False,
    "collision_group": 5,
    "collision_filter_parent": False,
    "has_shape_collision": False,
    "has_particle_collision": False,
    "is_visible": False,
    "is_hydroelastic": True,
    "sdf_max_resolution": 16,
    "sdf_narrow_band_range": [-0.2, 0.2],
    "sdf_texture_format": "float32",
    "force_sdf": True,
}
"""Values other than Newton's; the other keys are numbers."""

RESOLVED = {"is_hydroelastic": {"sdf_max_resolution": 16}}
"""Keys that another key needs."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("assets")
    for suffix, text in FILES.items():
        (folder / f"asset.{suffix}").write_text(text)
    return folder


def imported(files, suffix, **shapes):
    tables = {"scene": {"assets": [{"path": str(files / f"asset.{suffix}")}], "shapes": shapes}}
    scene = pippin.structure(tables | {"solver": {"type": "xpbd"}}).scene
    builder = new_builder(scene)
    add_assets(builder, scene)
    names = [name for name in vars(builder) if name.startswith("shape_") and name != "shape_source"]
    found = {name: getattr(builder, name) for name in names}
    rows = {name: repr(sorted(rows) if isinstance(rows, set) else list(rows)) for name, rows in found.items()}
    return rows | {"mass": repr(np.array(builder.body_mass))}


@pytest.fixture(scope="module")
def unchanged(files):
    return functools.cache(functools.partial(imported, files))


@pytest.mark.first_cases(25)
@pytest.mark.filterwarnings("ignore:.*no <inertial>", "ignore:.*A hollow box geom with zero thickness")
@pytest.mark.parametrize("key", [field.name for field in attrs.fields(ShapeConfig)])
@pytest.mark.parametrize("suffix", FILES)
def test_a_key_acts_on_the_shapes_of_an_asset_or_is_refused(files, unchanged, suffix, key):
    others = RESOLVED.get(key, {})
    value = VALUES.get(key, 0.3)
    kind = {"xml": "mjcf", "urdf": "urdf", "usda": "usd"}[suffix]
    if key in FORMATS[kind].decides:
        match = (
            rf"^scene.shapes.{key}: {value}, but the {kind.upper()} importer decides this .*; leave it out, or change"
        )
        with pytest.raises(pippin.ConfigError, match=match):
            imported(files, suffix, **{key: value})
    else:
        assert imported(files, suffix, **others, **{key: value}) != unchanged(suffix, **others)


@pytest.mark.parametrize("spacing", [(0, 0, 0), (2, 0, 0), (0, 0, 0.5), (1, -2, 0), (0, 0.3, 0.7), (1, 2, 3)])
@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 26])
def test_a_part_of_the_worlds_stands_where_newton_puts_it(spacing, count):
    whole = newton.utils.compute_world_offsets(count, spacing, newton.Axis.Z)

    for first in range(count):
        scene = SceneConfig(worlds=min(3, count - first), first_world=first, total_worlds=count, spacing=spacing)
        np.testing.assert_array_equal(world_offsets(scene), whole[first : first + 3])


def test_worlds_before_the_first_take_no_memory():
    tracemalloc.start()

    places = world_offsets(SceneConfig(worlds=2, first_world=2**31 - 2, spacing=(1.0, 1.0, 0.0)))

    assert places.shape == (2, 3)
    assert tracemalloc.get_traced_memory()[1] < 1e5  # an array of all worlds has 24 GiB
    tracemalloc.stop()
