"""Contacts are those that MuJoCo finds in the same file: which shapes touch, how deep, and in which direction."""

import mujoco
import newton
import numpy as np
import pytest
from pippin.assets.fidelity.matching import match_models

from . import kinds
from .contacts import touches

BALLS = """<mujoco><worldbody>
<body name="a" pos="0 0 1"><freejoint/><geom size=".1" mass="1"/></body>
<body name="b" pos="1 0 1"><freejoint/><geom size=".1" mass="1" gap=".02"/></body>
</worldbody></mujoco>"""

CROSS = """<mujoco><worldbody>
<geom type="capsule" size=".02 .1" pos="0 0 1" euler="{angles}"/>
<body pos="0 0 1"><freejoint/><geom type="capsule" size=".03 .1" mass="1" euler="{bar}"/></body>
</worldbody></mujoco>"""
"""Two capsules whose axes cross."""

POSES = 4
"""Random poses of each pair of kinds."""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return kinds.write_kinds(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(scope="module")
def overlaps(file):
    return list(kinds.overlaps(mujoco.MjModel.from_xml_path(str(file)), POSES))


def test_mujoco_native_finds_the_contacts_of_mujoco(file, overlaps):
    """Shapes in single precision move a contact of the iterative search by micrometres."""
    with kinds.build(file, "mujoco-native", 1) as simulation:
        found = kinds.of_native(simulation, overlaps)

    depth, normal = kinds.off(overlaps, found).T
    assert depth.max() < 2e-5
    assert normal.max() < 5e-3
    assert [here[tuple(sorted(each.geoms))].count for each, here in zip(overlaps, found, strict=True)] == [
        each.touch.count for each in overlaps
    ]


def test_a_gap_that_the_scene_states_holds(file, overlaps):
    """A gap changes what MuJoCo's convex collision finds, which is why it is not Newton's 0.1 m by default."""
    with kinds.build(file, "mujoco-native", 1, gap=0.1) as simulation:
        found = kinds.of_native(simulation, overlaps)
        gaps = simulation.solver.mj_model.geom_gap

    np.testing.assert_allclose(gaps, 0.1)
    assert kinds.off(overlaps, found)[:, 0].max() > 1e-4


@pytest.mark.slow
def test_mujoco_finds_the_contacts_of_mujoco(file, overlaps):
    """MuJoCo Warp has an iterative search of its own, in single precision; its boxes differ by less than 0.1 mm."""
    with kinds.build(file, "mujoco", len(overlaps)) as simulation:
        matched = match_models(mujoco.MjModel.from_xml_path(str(file)), simulation.solver.mj_model)
        kinds.place(simulation, overlaps)
        found = kinds.of_warp(simulation, {ours: theirs for theirs, ours in matched.geoms.items()})

    depth, normal = kinds.off(overlaps, found).T
    assert np.median(depth) < 1e-6
    assert depth.max() < 2e-4
    assert normal.max() < 0.1


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)], ids=["x", "y"])
@pytest.mark.parametrize("solver", ["mujoco-native", "mujoco"])
def test_crossing_capsules_leave_their_plane_in_mujoco_and_not_in_mujoco_warp(tmp_path, solver, axis):
    """This is why flat robots, whose links cross if they overlap, touch otherwise on `mujoco`: the page names them."""
    path = tmp_path / "cross.xml"
    path.write_text(CROSS.format(angles="30 0 0" if axis[0] else "0 30 0", bar="90 0 0" if axis[0] else "0 90 0"))

    with kinds.build(path, solver, 1) as simulation:
        if solver == "mujoco":
            [found] = kinds.of_warp(simulation, {0: 0, 1: 1})
        else:
            found, _ = touches(simulation.solver.mj_model, simulation.solver.mj_model.qpos0)

    np.testing.assert_allclose(found[0, 1].depth, 0.05, rtol=1e-5)
    np.testing.assert_allclose(np.abs(found[0, 1].normal), axis if solver == "mujoco-native" else (1, 0, 0), atol=1e-3)


@pytest.mark.first_cases(3)
@pytest.mark.parametrize(
    ("solver", "gap"),
    [
        ({"type": "mujoco-native"}, 0.0),
        ({"type": "mujoco"}, 0.0),
        ({"type": "mujoco", "use_mujoco_contacts": False}, 0.1),
        ({"type": "xpbd"}, 0.1),
    ],
    ids=["mujoco-native", "mujoco", "mujoco with newton's contacts", "xpbd"],
)
@pytest.mark.parametrize("is_file", [True, False], ids=["file", "prototype"])
def test_shapes_without_a_gap_have_the_one_that_the_collision_of_the_solver_wants(
    tmp_path, simulate, solver, gap, is_file
):
    """Newton's own collision finds contacts ahead of time by the gap; MuJoCo's needs the surfaces as they are."""
    prototype = newton.ModelBuilder()
    for own in (None, 0.02):
        body = prototype.add_body(mass=1.0)
        prototype.add_shape_sphere(body, radius=0.1, cfg=newton.ModelBuilder.ShapeConfig(gap=own))
    (tmp_path / "balls.xml").write_text(BALLS)
    content = {"assets": [{"path": str(tmp_path / "balls.xml")}]} if is_file else {"prototype": prototype}

    with simulate(**content, solver=solver, ground=True) as simulation:
        gaps, notes = simulation.model.shape_gap.numpy(), simulation.notes

    np.testing.assert_allclose(gaps, [gap, 0.02, gap])
    assert notes == {}


def test_meshes_that_pile_up_push_wherever_they_overlap_in_mujoco(tmp_path):
    """Eight hulls fall into a bin. With a gap of 0.1 m, 5 of 192 overlaps exert no force, others are 0.8 mm off."""
    path = kinds.write_pile(tmp_path)
    plain = mujoco.MjModel.from_xml_path(str(path))
    found = [0, 0, 0.0]
    with kinds.build(path, "mujoco-native", 1, gravity=[0.0, 0.0, -9.81]) as simulation:
        for _ in range(20):
            simulation.step(25)
            qpos = simulation.solver.batch.bind("qpos")[0]
            theirs, ours = (touches(model, qpos)[0] for model in (plain, simulation.solver.mj_model))
            both = theirs.keys() & ours.keys()
            found[0] += len(theirs)
            found[1] += len(theirs) - len(both)
            found[2] = max(found[2], *(abs(theirs[pair].depth - ours[pair].depth) for pair in both), 0.0)

    assert found[0] > 100
    assert found[1] == 0
    assert found[2] < 1e-4


@pytest.mark.parametrize("solver", ["mujoco-native", "mujoco"])
def test_a_mesh_of_many_corners_touches_with_all_of_them(file, solver):
    """Newton keeps 64 corners of a hull if nothing is said, and MuJoCo all of them, unless the file says otherwise."""
    with kinds.build(file, solver, 1) as simulation:
        ours = simulation.solver.mj_model

    theirs = mujoco.MjModel.from_xml_path(str(file))
    corners = [model.mesh_graph[model.mesh_graphadr[0]] for model in (theirs, ours)]
    assert corners[0] > 64
    assert corners[1] == corners[0]
