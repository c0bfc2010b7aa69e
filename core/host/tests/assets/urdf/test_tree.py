from pathlib import Path

import pytest
from pippin.assets.urdf.tree import parse
from pippin.errors import ConfigError

JOINT = '\n<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/></joint>'
LINKS = '<link name="a"/><link name="b"/><link name="c"/>'


def faults(text: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        parse(f"<robot>{text}</robot>".encode(), Path("arm.urdf"), "scene.assets[0]")
    return caught.value.faults


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<material name='grey'/>", "<robot> (arm.urdf, line 1): has no <link>, so there is nothing to simulate"),
        ("<link name='a'/><origin xyz='0 1'/>", "<origin> (arm.urdf, line 1): xyz = '0 1' has 2 numbers; give three"),
        ("<link name='a'/><origin rpy='${r}'/>", "rpy = '${r}' is a macro; let the file end in .xacro"),
        ("<link/>", "<link> (arm.urdf, line 1): has no name"),
        (LINKS, "has 3 links that no joint joins to a parent: 'a', 'b', 'c'"),
        (
            "<link name='a'/>" + JOINT.format("j", "revolute", "a", "aa"),
            "its child 'aa' is not a link of the file; did you",
        ),
        (LINKS + JOINT.format("j", "spherical", "a", "b"), "joint 'j' (arm.urdf, line 2): type 'spherical' is none of"),
        ("<link name='a'/>\n<joint name='j' type='fixed'/>", "joint 'j' (arm.urdf, line 2): has no <parent link=…>"),
        (
            LINKS + JOINT.format("j", "fixed", "a", "b") + JOINT.format("k", "fixed", "c", "b"),
            "is the child of 2 joints",
        ),
        (LINKS.replace("c", "b"), "link 'b' (arm.urdf, line 1): 2 links have this name; rename all but one"),
        ('<link name="it\'s"/>', "its name has an apostrophe, which Newton's importer cannot read; rename the link"),
        (
            "".join(LINKS) + "".join(JOINT.format(n, "fixed", n, m) for n, m in ("ab", "bc", "ca")),
            "every link is the child of a joint, so no link is the root",
        ),
    ],
)
def test_links_that_make_no_tree_are_refused_with_the_place(text, expected):
    assert expected in faults(text)[0]


def test_every_wrong_joint_is_named_at_once():
    joints = [JOINT.format(name, "ball", "a", name) for name in ("b", "c")]

    assert [fault.partition(" (")[0] for fault in faults(LINKS + "".join(joints))] == [
        "scene.assets[0].path: joint 'b'",
        "scene.assets[0].path: joint 'c'",
    ]


def test_a_text_that_is_not_xml_is_refused_with_its_line():
    [fault] = faults("\n<link>")

    assert "mismatched tag: line 2" in fault
