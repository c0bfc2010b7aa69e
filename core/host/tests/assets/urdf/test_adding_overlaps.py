import logging

import newton
import numpy as np
import pytest
from pippin.assembly.scene import new_builder
from pippin.assets.asset import find_assets
from pippin.assets.fidelity.pairs import shape_pairs
from pippin.assets.importing import import_asset
from pippin.config.model import AssetConfig, SceneConfig

INERTIA = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
LINK = '<link name="{}">{}<collision><geometry>{}</geometry></collision></link>'
HINGE = (
    '<joint name="{}_{}" type="continuous"><parent link="{}"/><child link="{}"/>'
    '<origin xyz="{} 0 0"/><axis xyz="0 1 0"/></joint>'
)
SPHERE = '<sphere radius="0.1"/>'
QUADRUPED = "pkg:newton/examples/assets/quadruped.urdf"


@pytest.fixture
def chain(tmp_path):
    """Return a function that writes a chain of three links, the last of which is at a distance from the first [m]."""

    def chain(apart: float, last: str = SPHERE) -> str:
        links = (LINK.format(name, INERTIA, shape) for name, shape in zip("abc", (SPHERE, SPHERE, last), strict=True))
        joints = (HINGE.format(one, other, one, other, apart / 2) for one, other in ("ab", "bc"))
        path = tmp_path / "chain.urdf"
        path.write_text(f'<robot name="chain">{"".join(links)}{"".join(joints)}</robot>')
        return str(path)

    return chain


def imported(path: str, **options) -> newton.ModelBuilder:
    (asset,) = find_assets([AssetConfig(path=path, **options)])
    builder = new_builder(SceneConfig())
    import_asset(builder, asset)
    return builder


def colliding(builder: newton.ModelBuilder) -> set[tuple[str, str]]:
    names = [builder.body_label[body].rpartition("/")[2] for body in builder.shape_body]
    return {(names[first], names[second]) for first, second in shape_pairs(builder)}


def test_links_that_overlap_in_the_start_pose_do_not_collide_and_are_noted(chain, caplog):
    with caplog.at_level(logging.INFO):
        builder = imported(chain(0.15))

    assert colliding(builder) == set()
    assert "chain.urdf: links overlap in the start pose, so they do not collide" in caplog.text
    assert "a and c 50 mm" in caplog.text


@pytest.mark.parametrize("apart", [0.1995, 0.25])
def test_links_that_touch_or_are_apart_collide(chain, apart, caplog):
    assert colliding(imported(chain(apart))) == {("a", "c")}
    assert "overlap" not in caplog.text


def test_a_key_lets_them_collide_and_another_lets_none_collide(chain):
    assert colliding(imported(chain(0.15), self_collisions=True)) == {("a", "c")}
    assert colliding(imported(chain(0.25), self_collisions=False)) == set()
    assert colliding(imported(chain(0.15), convex_hulls=False)) == {("a", "c")}  # hulls may overlap alone


def test_the_start_pose_of_the_configuration_counts(chain):
    folded = imported(chain(0.4), joint_positions={"a_b": np.pi})

    assert colliding(folded) == set()
    assert colliding(imported(chain(0.4), joint_positions={"a_b": np.pi / 2})) == {("a", "c")}


def test_a_mesh_without_a_thickness_keeps_its_collisions(chain, tmp_path):
    (tmp_path / "plate.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n")

    assert colliding(imported(chain(0.1, '<mesh filename="plate.obj"/>'))) == {("a", "c")}


@pytest.mark.parametrize(
    ("shape", "reach"),
    [('<box size="0.1 0.1 0.2"/>', 0.05), ('<cylinder radius="0.05" length="0.2"/>', 0.05),
     ('<capsule radius="0.05" length="0.2"/>', 0.05), ('<mesh filename="kite.obj"/>', 0.05)],
    ids=lambda value: str(value).split()[0].strip("<"),
)  # fmt: skip
def test_each_kind_of_shape_overlaps_as_far_as_it_reaches(chain, tmp_path, shape, reach):
    corners = ((-0.05, 0, 0), (0.15, 0, 0), (0, -0.05, 0), (0, 0.05, 0), (0, 0, -0.05), (0, 0, 0.05))
    points = "".join(f"v {x} {y} {z}\n" for x, y, z in corners)
    faces = "".join(f"f {x} {y} {z}\n" for x in (1, 2) for y in (3, 4) for z in (5, 6))
    (tmp_path / "kite.obj").write_text(points + faces)

    near, far = (imported(chain(0.1 + reach + gap, shape)) for gap in (-0.01, 0.01))

    assert colliding(near) == set()
    assert colliding(far) == {("a", "c")}


def test_start_poses_are_those_of_forward_kinematics():
    positions = {"LF_.*": 0.4, "RH_.*": -0.7}
    builder = imported(QUADRUPED, floating=True, position=[1.0, 2.0, 0.8], joint_positions=positions)

    model = builder.finalize(device="cpu")
    state = model.state()
    newton.eval_fk(model, model.joint_q, model.joint_qd, state)
    expected = state.body_q.numpy()
    assert np.allclose(model.body_q.numpy(), expected, atol=1e-6)


@pytest.mark.parametrize(("key", "expected"), [(None, {("a", "b")}), (False, set())])
def test_a_link_on_a_floating_joint_falls_on_what_carried_it_and_on_the_ground(tmp_path, key, expected):
    links = (LINK.format(name, INERTIA, SPHERE) for name in "ab")
    joint = HINGE.format("a", "b", "a", "b", 0.3).replace("continuous", "floating")
    (tmp_path / "two.urdf").write_text(f'<robot name="two">{"".join(links)}{joint}</robot>')
    builder, scene = imported(str(tmp_path / "two.urdf"), self_collisions=key), newton.ModelBuilder()

    scene.add_builder(builder)
    ground = scene.add_ground_plane()

    filtered = {tuple(sorted(pair)) for pair in scene.shape_collision_filter_pairs}
    kept = [body for body in (0, 1) if (scene.body_shapes[body][0], ground) not in filtered]
    assert colliding(builder) == expected
    assert [scene.body_label[body].rpartition("/")[2] for body in kept] == ["b"]
