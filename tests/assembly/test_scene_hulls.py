"""Meshes of robot files, which Newton's collision takes as their convex hulls unless the file says otherwise."""

import itertools

import newton
import pippin
import pytest
from pippin.assembly.scene import add_assets, new_builder
from pippin.assets.fidelity.pairs import shape_pairs
from pippin.config import SceneConfig
from pippin.config.model import AssetConfig

TOP, FLOOR, RADIUS = 0.2, 0.05, 0.04
"""Heights of a tray's rim and of the ground of its hollow, and the radius of a ball that fits into it [m]."""

STATED = {"mjcf": "xml", "urdf": "urdf"}

BOXES = ((0.2, 0.2, 0.0, FLOOR), (0.05, 0.2, FLOOR, TOP, -0.15), (0.05, 0.2, FLOOR, TOP, 0.15))
"""A tray of three boxes: half sizes in x and y, bottom, top, and place along x [m]."""


def tray():
    """Return a mesh as an OBJ file."""
    lines, faces = [], []
    for box in BOXES:
        x, y, low, high, middle = (*box, 0.0)[:5]
        start = len(lines) + 1
        lines += [f"v {middle + sx * x} {sy * y} {z}" for z in (low, high) for sy in (-1, 1) for sx in (-1, 1)]
        quads = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
        faces += [f"f {start + a} {start + b} {start + c}" for q in quads for a, b, c in (q[:3], (q[0], q[2], q[3]))]
    return "\n".join([*lines, *faces])


@pytest.fixture(params=STATED)
def file(request, tmp_path):
    """A file with a tray that stands on the world."""
    path = tmp_path / f"tray.{STATED[request.param]}"
    (tmp_path / "tray.obj").write_text(tray())
    path.write_text(
        {
            "mjcf": '<mujoco><asset><mesh name="tray" file="tray.obj"/></asset><worldbody><body name="tray">'
            '<geom name="tray" type="mesh" mesh="tray" pos="0 0 0"/></body></worldbody></mujoco>',
            "urdf": '<robot name="tray"><link name="tray"><collision><geometry><mesh filename="tray.obj"/></geometry>'
            "</collision></link></robot>",
        }[request.param]
    )
    return path


def height(simulate, file, **asset):
    """Return the height of a ball that came to rest on a tray [m]."""
    assets = [{"path": str(file), **asset}]
    shape = {"type": "sphere", "radius": RADIUS}
    ball = {"type": "body", "label": "ball", "position": [0.0, 0.0, TOP + 2 * RADIUS], "shapes": [shape]}
    with simulate(assets=assets, objects=[ball], solver="xpbd", dt=0.005) as simulation:
        simulation.step(160)
        return float(simulation.state.body_q.numpy()[-1, 2])


@pytest.mark.slow
def test_a_ball_rests_on_the_hull_of_a_tray_and_in_the_tray_if_the_file_says_so(simulate, file):
    assert height(simulate, file) == pytest.approx(TOP + RADIUS, abs=2e-3)
    assert height(simulate, file, convex_hulls=False) == pytest.approx(FLOOR + RADIUS, abs=2e-3)


@pytest.mark.first_cases(1)
def test_what_is_drawn_is_the_mesh_and_what_touches_its_hull(file):
    builder = new_builder(SceneConfig())
    add_assets(builder, SceneConfig(assets=(AssetConfig(path=str(file)),)), has_own_contacts=False)

    drawn, solid = int(newton.ShapeFlags.VISIBLE), int(newton.ShapeFlags.COLLIDE_SHAPES)
    kinds = zip(builder.shape_type, builder.shape_flags, builder.shape_source, strict=True)
    found = [(kind, bool(flags & drawn), bool(flags & solid), len(mesh.vertices)) for kind, flags, mesh in kinds]
    assert found == [(newton.GeoType.CONVEX_MESH, False, True, 8), (newton.GeoType.MESH, True, False, 20)]


def test_a_solver_that_detects_contacts_itself_refuses_other_meshes(simulate, file):
    with pytest.raises(pippin.ConfigError, match=r"assets\[0\].convex_hulls: false, but solver 'mujoco' detects"):
        simulate(assets=[{"path": str(file), "convex_hulls": False}], solver="mujoco")


INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
BALL = '<collision><geometry><sphere radius="1"/></geometry></collision>'
LINK = f'<link name="{{}}"><inertial><mass value="1"/>{INERTIA}</inertial>{BALL}</link>'
JOINT = '<joint name="to_{1}" type="{2}"><parent link="{0}"/><child link="{1}"/></joint>'
CHAIN = (("a", "b", "continuous"), ("b", "c", "fixed"), ("c", "d", "continuous"), ("b", "e", "fixed"))


def test_links_on_fixed_joints_collide_as_the_one_body_that_they_are(tmp_path):
    """The body of b, c and e is the neighbour of a and d, as in MuJoCo; a and d are none."""
    links, joints = "".join(map(LINK.format, "abcde")), "".join(JOINT.format(*joint) for joint in CHAIN)
    (tmp_path / "chain.urdf").write_text(f'<robot name="chain">{links}{joints}</robot>')
    scene = SceneConfig(assets=(AssetConfig(path=str(tmp_path / "chain.urdf"), floating=True, self_collisions=True),))
    builder = new_builder(scene)
    add_assets(builder, scene)

    names = [label.rpartition("/")[2] for label in builder.body_label]
    of_shapes = [names[body] for body in builder.shape_body]
    pairs = [{of_shapes[first], of_shapes[second]} for first, second in shape_pairs(builder).tolist()]
    assert pairs == [pair for pair in map(set, itertools.combinations("abcde", 2)) if pair == {"a", "d"}]
