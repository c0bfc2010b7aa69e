"""Names, labels and selection of axes, on a torso with every kind of joint."""

import copy

import newton
import pytest
import warp as wp
from pippin.axes import axis_labels, choose_axes, choose_joints, declare_axis_names, name_axes
from pippin.errors import ConfigError
from pippin.labels import NoMatchError

MERGED = """<mujoco><worldbody><body name="torso">
<body name="thigh"><joint name="hip-x" axis="1 0 0"/><joint name="lift" type="slide" axis="0 0 1"/>
<joint axis="0 1 0"/><geom size="0.1"/>
<body name="shin"><joint name="knee" axis="0 1 0"/><geom size="0.1"/></body></body>
<body name="head"><joint name="neck" type="ball"/><geom size="0.1"/></body><geom size="0.1"/></body>
</worldbody></mujoco>"""


def add_robot(builder: newton.ModelBuilder) -> dict[str, int]:
    """Add links on a free, a fixed, a ball joint, a hinge and two D6 joints; return the joints by name."""
    dof = newton.ModelBuilder.JointDofConfig
    free, *links = (builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for _ in range(6))
    bends = [dof(axis=(1, 0, 0)), dof(axis=(0, 1, 0))]
    joints = [
        builder.add_joint_free(free, label="bot/base"),
        builder.add_joint_fixed(free, links[0], label="bot/mount"),
        builder.add_joint_ball(links[0], links[1], label="bot/neck"),
        builder.add_joint_d6(
            free, links[2], angular_axes=bends, linear_axes=[dof(axis=(0, 0, 1))], label="bot/leg/hip"
        ),
        builder.add_joint_revolute(links[2], links[3], label="bot/leg/knee"),
        builder.add_joint_d6(free, links[4], angular_axes=bends, label="bot/wrist"),
    ]
    builder.add_articulation(joints)
    return {builder.joint_label[joint].rpartition("/")[2]: joint for joint in joints}


@pytest.fixture
def robot():
    """A robot whose hip has names for two of its three axes."""
    builder = newton.ModelBuilder()
    joints = add_robot(builder)
    name_axes(builder, joints["hip"], ["lift", "hip_x", ""])
    return builder


LABELS = [
    *(f"bot/base:{dof}" for dof in range(6)),
    *(f"bot/neck:{dof}" for dof in range(3)),
    *("bot/leg/lift", "bot/leg/hip_x", "bot/leg/hip:2", "bot/leg/knee", "bot/wrist:0", "bot/wrist:1"),
]


def chosen(builder, *patterns):
    found, note = choose_axes(builder, patterns, "joints")
    return list(found.values()), note


def test_each_degree_of_freedom_has_a_label(robot):
    assert axis_labels(robot) == LABELS
    assert axis_labels(robot, [4, 1]) == ["bot/leg/knee"]


def test_names_outlive_copies_replication_and_finalize(robot):
    world, scene = newton.ModelBuilder(), newton.ModelBuilder()
    add_robot(world)  # one without names comes first
    world.add_builder(copy.deepcopy(robot), label_prefix="left")
    scene.replicate(world, 2)
    model = scene.finalize(device="cpu")

    unnamed = [label.replace("lift", "hip:0").replace("hip_x", "hip:1") for label in LABELS]
    assert axis_labels(model) == [*unnamed, *(f"left/{label}" for label in LABELS)] * 2


def test_an_mjcf_file_names_the_axes_of_merged_joints():
    builder = newton.ModelBuilder()
    declare_axis_names(builder)
    builder.add_mjcf(MERGED)

    names = [label.rpartition("/")[2] for label in axis_labels(builder)]
    assert builder.joint_count == 4  # the torso is fixed to the world
    assert names[:3] == ["lift", "hip_x", names[2]]
    assert names[2].endswith(":2")
    assert names[3:] == ["knee", "neck:0", "neck:1", "neck:2"]


def test_a_pattern_takes_single_axes(robot):
    assert chosen(robot, "hip_.*") == (["bot/leg/hip_x"], None)
    assert chosen(robot, "lift", "wrist:1") == (["bot/leg/lift", "bot/wrist:1"], None)
    assert chosen(robot, ".*/leg/.*") == (LABELS[9:13], None)


def test_the_name_of_a_joint_takes_its_unnamed_axes(robot):
    assert chosen(robot, "wrist") == (["bot/wrist:0", "bot/wrist:1"], None)
    assert chosen(robot, "hip") == (["bot/leg/hip:2"], None)


def test_every_joint_means_every_joint_with_an_axis(robot):
    names, note = chosen(robot, ".*")

    assert names == LABELS[9:]
    assert note == (
        "joints: leaves out 'bot/base' (free), 'bot/mount' (fixed), 'bot/neck' (ball), no joint with an axis of one"
        " coordinate"
    )


def test_a_pattern_of_joints_without_axes_only_is_refused_with_their_types(robot):
    with pytest.raises(NoMatchError) as all_wrong:
        chosen(robot, "base|mount")
    with pytest.raises(ConfigError) as one_wrong:
        chosen(robot, "knee", "neck")

    assert all_wrong.value.faults == (
        "joints: 'base|mount' matches no joint with an axis of one coordinate, only 'bot/base' (free), 'bot/mount'"
        " (fixed); choose revolute, prismatic or D6 joints",
    )
    assert not isinstance(one_wrong.value, NoMatchError)


def test_an_unmatched_name_comes_with_the_names_of_axes(robot):
    with pytest.raises(ConfigError, match="no joint matches 'hip_y'; did you mean 'hip_x'"):
        chosen(robot, "hip_y")


def test_a_joint_is_found_by_its_name_and_by_those_of_its_axes(robot):
    def found(*patterns):
        return choose_joints(robot, patterns, "joints", {"free"}, "that transmits a load")

    assert found("hip") == found("hip_x") == found("lift", "hip:2") == ([3], None)
    assert found(".*")[0] == [1, 2, 3, 4, 5]
    with pytest.raises(ConfigError, match=r"'base' matches no joint that transmits a load, only 'bot/base' \(free\)"):
        found("base")


@pytest.mark.parametrize(
    ("joint", "names", "fault"),
    [
        ("base", ["x"] * 6, "'bot/base': a free joint has no axes; name those of revolute"),
        ("mount", [], "'bot/mount': a fixed joint has no axes"),
        ("wrist", ["x"], r"'bot/wrist': 1 names for 2 axes, \['x'\]; give one for each"),
        ("wrist", ["x", "x"], "names must differ"),
        ("wrist", ["x", "y/z"], "have no '/'"),
    ],
)
def test_names_that_do_not_fit_are_refused(joint, names, fault):
    builder = newton.ModelBuilder()
    index = add_robot(builder)[joint]

    with pytest.raises(ConfigError, match=f"^name_axes: joint .*{fault}"):
        name_axes(builder, index, names)
