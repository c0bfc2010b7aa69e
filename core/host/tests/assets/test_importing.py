import sys
import textwrap
import warnings

import mujoco
import newton
import pytest
from pippin.assembly.scene import new_builder
from pippin.assets.asset import find_assets
from pippin.assets.elements import read_elements
from pippin.assets.importing import NOTE, import_asset
from pippin.config.model import AssetConfig, SceneConfig
from pippin.errors import ConfigError
from pippin.extras import installation

NEWTON_ASSETS = "pkg:newton/examples/assets"
BODY = '<mujoco model="m"><worldbody><body name="a"><freejoint/>{}</body></worldbody></mujoco>'
LINK = '<robot name="r"><link name="a"><collision><geometry>{}</geometry></collision></link></robot>'


@pytest.fixture
def write(tmp_path):
    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(textwrap.dedent(text).strip())
        return str(tmp_path / name)

    return write


def imported(path: str, **options):
    [asset] = find_assets([AssetConfig(path=path, **options)])
    builder = new_builder(SceneConfig())
    import_asset(builder, asset)
    return builder


def faults(*configs: AssetConfig) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        find_assets(configs)
    return caught.value.faults


def failure(path: str, **options) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        imported(path, **options)
    return caught.value


# Finding the file


def test_a_package_is_searched_without_being_imported(tmp_path, monkeypatch):
    (tmp_path / "robots" / "models").mkdir(parents=True)
    (tmp_path / "robots" / "__init__.py").write_text("raise RuntimeError('imported')")
    (tmp_path / "robots" / "models" / "arm.xml").write_text("<mujoco/>")
    monkeypatch.syspath_prepend(tmp_path)

    [asset] = find_assets([AssetConfig(path="pkg:robots/models/arm.xml")])

    assert asset.file == tmp_path / "robots" / "models" / "arm.xml"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pkg:nowhere_at_all/ant.xml", "package 'nowhere_at_all' of 'pkg:nowhere_at_all/ant.xml' is not installed"),
        (f"{NEWTON_ASSETS}/nv_antt.xml", "no file 'examples/assets/nv_antt.xml'"),
        (f"{NEWTON_ASSETS}/nv_antt.xml", "did you mean 'nv_ant.xml'?"),
        ("pkg:newton/exampels/assets/nv_ant.xml", "has no 'exampels'); did you mean 'examples'?"),
        ("pkg:newton", "not of the form 'pkg:package/path/inside', got 'pkg:newton'"),
        ("pkg:newton.examples/assets/nv_ant.xml", "name one top-level package"),
        ("pkg:textwrap/ant.xml", "'textwrap' of 'pkg:textwrap/ant.xml' is a single module"),
    ],
)
def test_a_wrong_package_path_says_where_it_breaks_off(path, expected):
    [fault] = faults(AssetConfig(path=path))

    assert fault.startswith("scene.assets[0].path: ")
    assert expected in fault


def test_a_missing_file_names_the_nearest_one(write):
    path = write("robot.xml", "<mujoco/>")

    [fault] = faults(AssetConfig(path=path.replace("robot", "robbot")))

    assert "has no 'robbot.xml'); did you mean 'robot.xml'?" in fault


def test_a_folder_is_not_an_asset(tmp_path):
    [fault] = faults(AssetConfig(path=str(tmp_path)))

    assert fault.endswith("it is a folder, name a file in it")


def test_the_faults_of_all_assets_come_together():
    found = faults(AssetConfig(path="gone.xml"), AssetConfig(path="pkg:newton/gone.xml"), AssetConfig(path="lost.urdf"))

    assert [fault.split(":")[0] for fault in found] == [f"scene.assets[{i}].path" for i in range(3)]


# Choosing the importer


def test_an_unknown_suffix_lists_the_known_ones(write):
    [fault] = faults(AssetConfig(path=write("robot.obj", "")))

    assert "no importer reads '.obj'" in fault
    assert ".urdf" in fault


def test_format_overrules_the_suffix(write):
    path = write("robot.obj", LINK.format('<sphere radius="1"/>'))

    assert imported(path, format="urdf").body_count == 1


def test_a_urdf_named_xml_is_told_its_format(write):
    [fault] = faults(AssetConfig(path=write("robot.xml", '<robot name="r"/>')))

    assert fault.endswith("is not MJCF, which begins with <mujoco>, got <robot>; set format = 'urdf'")


def test_options_that_an_importer_lacks_are_refused_by_name():
    found = faults(AssetConfig(path=f"{NEWTON_ASSETS}/quadruped.urdf", ignore=("base",), mujoco_options=False))
    ros_only = {"package_dirs": ("robots",), "xacro_args": {"arm": "left"}}
    found += faults(AssetConfig(path=f"{NEWTON_ASSETS}/nv_ant.xml", **ros_only))

    assert [fault.split(",")[0] for fault in found] == [
        "scene.assets[0].ignore: Newton's URDF importer has no such option",
        "scene.assets[0].mujoco_options: Newton's URDF importer has no such option",
        "scene.assets[0].package_dirs: Newton's MJCF importer has no such option",
        "scene.assets[0].xacro_args: Newton's MJCF importer has no such option",
    ]


# Reading it


def test_malformed_xml_is_named_with_its_line(write):
    [fault] = faults(AssetConfig(path=write("robot.xml", "<mujoco>\n<worldbody>\n<body></worldbody></mujoco>")))

    assert "robot.xml' is not well-formed XML (mismatched tag: line 3" in fault


TOLERATED = {
    "hyphens in a comment": ("<worldbody>", "<!-- a -- b --->\n<worldbody>"),
    "another encoding": ("<worldbody>", "<!-- \xe9 --><worldbody>"),
    "a control character": ("<worldbody>", "<!-- \x01 --><worldbody>"),
    "an ampersand": ('name="a"', 'name="a&b"'),
    "an angle bracket in a value": ('name="a"', 'name="<a"'),
    "no blank between attributes": ('size=".1" ', 'size=".1"'),
    "a twin attribute": ('mass="1"', 'mass="1" mass="2"'),
    "a hyphen in a tag": ("<joint/>", "<joint -/>"),
}


@pytest.mark.parametrize("kind", TOLERATED)
def test_xml_that_mujoco_reads_is_read_and_no_other(kind, tmp_path):
    text = '<mujoco><worldbody>\n<body name="a"><joint/><geom size=".1" mass="1"/></body></worldbody></mujoco>'
    (tmp_path / "robot.xml").write_bytes(text.replace(*TOLERATED[kind]).encode("latin-1"))
    try:
        mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
        expected = True
    except ValueError:
        expected = False

    if expected:
        assert {each.tag: each.line for each in read_elements(tmp_path / "robot.xml", "")}["body"] in (2, 3)
    else:
        with pytest.raises(ConfigError, match=r"not well-formed XML .* near '"):
            read_elements(tmp_path / "robot.xml", "")


HOSTILE = {
    "deep": ("<body>" * 600 + "</body>" * 600, "<body> (robot.xml, line 1) is nested in more than 500 others"),
    "many": ('<replicate count="2000000" offset="1 0 0"><body/></replicate>', "makes 2,000,000 copies, more than"),
    "many of many": (
        '<replicate count="2000"><replicate count="2000"><body/></replicate></replicate>',
        '<replicate count="2000"> (robot.xml, line 1) makes 4,000,000 copies',
    ),
    "a dense body": ('<flexcomp name="f" count="1000 1000 1000"/>', "makes 1,000,000,000 copies"),
    "entities": (
        '<!DOCTYPE m [<!ENTITY a "xxxxxxxxxx">'
        + "".join(f'<!ENTITY a{each} "{f"&a{each - 1 if each else str()};" * 10}">' for each in range(9))
        + "]>",
        "not well-formed XML",
    ),
    "the file of another": ('<!DOCTYPE m [<!ENTITY e SYSTEM "file:///etc/passwd">]>', "not well-formed XML"),
}


@pytest.mark.parametrize("name", ["robot.xml", "robot.urdf"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_would_take_time_or_memory_is_refused(write, name, kind):
    text, expected = HOSTILE[kind]
    root, inside = ("mujoco", "<worldbody>{}</worldbody>") if name.endswith("xml") else ("robot", "{}")
    entity = {"entities": "&a8;", "the file of another": "&e;"}.get(kind, "")
    content = f'{text}<{root} name="{entity}"/>' if entity else f"<{root}>{inside.format(text)}</{root}>"

    [fault] = faults(AssetConfig(path=write(name, content)))

    assert expected.replace("robot.xml", name) in fault


def test_malformed_xml_is_found_in_an_included_file(write):
    write("leg.xml", "<mujocoinclude>\n<body>")

    [fault] = faults(AssetConfig(path=write("robot.xml", '<mujoco><include file="leg.xml"/></mujoco>')))

    assert "leg.xml' is not well-formed XML (no element found: line 2" in fault


def test_blank_lines_and_comments_before_the_declaration_are_read_over(write, tmp_path):
    text = '<?xml version="1.0"?>\n' + LINK.format('<box size="1 1 q"/>') + "\0"
    (tmp_path / "robot.urdf").write_text(f"\n<!-- a box -->\n{text}")

    assert "(robot.urdf, line 4)" in str(failure(str(tmp_path / "robot.urdf")))


def test_a_missing_include_is_named_with_its_line(write):
    [fault] = faults(AssetConfig(path=write("robot.xml", '<mujoco>\n<include file="leg.xml"/></mujoco>')))

    assert '<include file="leg.xml"> (robot.xml, line 2) names no file' in fault


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("robot.xml", '<mujoco><asset>\n<mesh file="arm.stl"/></asset></mujoco>', '<mesh file="arm.stl"> (robot.xml'),
        ("robot.urdf", LINK.format('\n<mesh filename="arm.stl"/>'), "collision mesh 'arm.stl' of link 'a' (robot.urdf"),
    ],
)
def test_a_missing_mesh_is_named_with_its_line(write, name, text, expected):
    [fault] = faults(AssetConfig(path=write(name, text)))

    assert f"{expected}, line 2)" in fault


def test_a_mesh_is_looked_for_in_the_mesh_folder(write, tmp_path):
    (tmp_path / "meshes").mkdir()
    write("meshes/arm.stl", "")
    mesh = '<mujoco><compiler meshdir="meshes"/><asset><mesh file="arm.stl"/></asset></mujoco>'

    assert find_assets([AssetConfig(path=write("robot.xml", mesh))])


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("robot.xml", BODY.format('\n<geom size="abc"/>'), "bad format in attribute 'size' Element 'geom', line 2"),
        ("robot.urdf", LINK.format('\n<box size="1 2 q"/>'), "'q', see <box size=\"1 2 q\"> (robot.urdf, line 2)"),
    ],
)
def test_a_value_the_importer_stumbles_over_is_found_in_the_file(write, name, text, expected):
    error = failure(write(name, text))

    assert expected in str(error)
    assert isinstance(error.__cause__, ValueError)


def test_a_value_that_stands_everywhere_is_not_blamed(write):
    error = failure(write("robot.urdf", LINK.format('<box size="1 2 q"/>' * 4)))

    assert str(error).endswith("could not convert string to float: 'q'; correct the file")


def test_an_asset_that_brings_nothing_is_an_error(write):
    path = write("robot.xml", "<mujoco><worldbody/></mujoco>")

    assert str(failure(path)) == f"scene.assets[0].path: {path!r} holds no body and no shape; name another file"


@pytest.mark.parametrize(
    ("name", "text", "module", "extra"),
    [
        ("robot.usda", "#usda 1.0", "pxr", "usd"),
        ("robot.urdf", LINK.format('<mesh filename="arm.stl"/>'), "trimesh", "meshes"),
    ],
)
def test_a_missing_dependency_names_the_extra(write, monkeypatch, name, text, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    write("arm.stl", "")

    error = failure(write(name, text))

    assert str(error).endswith(f"; install it by `{installation(extra)}`")
    assert isinstance(error.__cause__, ImportError)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "robot.urdf",
            LINK.format('<sphere radius="1"/>').replace(
                '"a">', '"a"><inertial><mass value="0"/><inertia ixx="1"/></inertial>'
            ),
            "an inertia without a mass is left out; links: 'a'",
        ),
    ],
)
def test_what_an_importer_leaves_out_is_a_warning_with_the_file(write, name, text, expected):
    path = write(name, text)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        imported(path)

    [message] = [str(warning.message) for warning in caught]
    assert message.startswith(f"{path}: ")
    assert expected in message


def test_a_visual_mesh_that_cannot_be_read_is_a_warning(write, tmp_path):
    visual = '<visual><geometry><mesh filename="flat.stl"/></geometry></visual></link>'
    write("flat.stl", "solid flat\nendsolid flat")
    path = write("robot.urdf", LINK.format('<sphere radius="1"/>').replace("</link>", visual))

    with pytest.warns(UserWarning, match=r"robot.urdf: visual mesh '.*flat.stl' is not drawn"):
        builder = imported(path)

    assert (builder.body_count, builder.shape_count) == (1, 1)


def test_a_urdf_joint_mimics_another(write):
    ends = '<joint name="{0}" type="continuous"><parent link="a"/><child link="{0}"/>{1}</joint>'
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    links = "".join(f'<link name="{name}">{mass}</link>' for name in "abc")
    mimic = '<mimic joint="b" multiplier="-2" offset="0.5"/>'
    path = write("robot.urdf", f"<robot>{links}{ends.format('b', '')}{ends.format('c', mimic)}</robot>")

    builder = imported(path)

    assert builder.joint_mimic_joint == [-1, -1, builder.joint_label.index("b")]
    assert tuple(builder.joint_mimic_coeffs[2]) == (0.5, -2.0)


# Placing it


def poses(builder) -> dict[str, list[float]]:
    return {
        label.rpartition("/")[2]: [round(float(x), 5) for x in pose]
        for label, pose in zip(builder.body_label, builder.body_q, strict=True)
    }


def test_the_asset_up_axis_is_turned_to_z(write):
    path = write("robot.xml", BODY.format('<geom size="0.1"/>').replace('name="a"', 'name="a" pos="0 1 0"'))

    assert poses(imported(path, up_axis="y"))["a"][:3] == [0.0, 0.0, 1.0]


def test_position_and_rotation_place_the_asset(write):
    path = write("robot.xml", BODY.format('<geom size="0.1"/>').replace('name="a"', 'name="a" pos="1 0 0"'))
    quarter_turn_about_z = (0.0, 0.0, 0.5**0.5, 0.5**0.5)

    builder = imported(path, position=(0.0, 0.0, 2.0), rotation=quarter_turn_about_z)

    assert poses(builder)["a"] == [0.0, 1.0, 2.0, 0.0, 0.0, 0.70711, 0.70711]


def test_scale_multiplies_lengths(write):
    path = write("robot.xml", BODY.format('<geom size="0.1"/>'))

    assert imported(path, scale=3.0).shape_scale[0][0] == pytest.approx(0.3)


def test_a_urdf_is_fixed_unless_it_floats():
    path = f"{NEWTON_ASSETS}/quadruped.urdf"

    assert imported(path).joint_coord_count == 12
    assert imported(path, floating=True).joint_coord_count == 7 + 12


def test_inertias_may_be_those_of_the_shapes_and_thicker(write):
    box = '<inertial><mass value="{}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    shape = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
    path = write("robot.urdf", f'<robot name="r"><link name="a">{box.format(5.0)}{shape}</link></robot>')

    stated, shaped = imported(path, floating=True), imported(path, floating=True, inertia="shapes", body_armature=0.5)

    assert stated.body_mass[0] == pytest.approx(5.0)
    assert shaped.body_mass[0] == pytest.approx(1000.0 * 0.1**3)
    assert shaped.body_inertia[0][0, 0] == pytest.approx(0.5 + 1.0 / 6.0 * 0.1**2)
    assert shaped.body_inv_inertia[0][0, 0] == pytest.approx(1.0 / shaped.body_inertia[0][0, 0])
    (fault,) = faults(AssetConfig(path=f"{NEWTON_ASSETS}/nv_ant.xml", inertia="shapes"))
    assert "inertia" in fault


def test_meshes_may_collide_as_their_bounding_boxes(write):
    mesh = '<mesh name="m" vertex="0 0 0 1 0 0 0 2 0 0 0 3"/>'
    path = write(
        "robot.xml",
        f'<mujoco><asset>{mesh}</asset><worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
    )

    builder = imported(path, bounding_boxes=True)

    assert builder.shape_type == [newton.GeoType.BOX]


def test_attributes_of_a_solver_are_set_by_their_names(write):
    path = write("robot.xml", BODY.format('<geom size="1"/><body name="leg"><joint/><geom size="1"/></body>'))

    def build(attributes):
        [asset] = find_assets([AssetConfig(path=path, attributes=attributes)])
        builder = new_builder(SceneConfig())
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        import_asset(builder, asset)
        return builder.finalize(device="cpu").mujoco

    assert build({"mujoco:gravcomp": {"leg": 0.5}}).gravcomp.numpy().tolist() == [0.0, 0.5]
    with pytest.raises(ConfigError, match="no body"):
        build({"mujoco:gravcomp": {"wing": 0.5}})
    solref = build({"mujoco:solref": {"leg.*": (0.05, 2.0)}}).solref.numpy()
    assert solref[-1].tolist() == pytest.approx([0.05, 2.0], rel=1e-6)
    assert solref[0].tolist() != solref[-1].tolist()
    with pytest.raises(ConfigError, match=r"sleep_policy\.leg: expected a whole number, got 0\.5"):
        build({"mujoco:sleep_policy": {"leg": 0.5}})
    with pytest.raises(ConfigError, match=r"attributes: the solver has no attribute 'mujoco:gravcomp'"):
        imported(path, attributes={"mujoco:gravcomp": {"leg": 0.5}})


def test_armature_is_given_to_joints_that_state_none(write):
    joint = '<geom size="1"/><body><joint name="{}" {}/><geom size="1"/></body>'
    path = write("robot.xml", BODY.format(joint.format("a", "") + joint.format("b", 'armature="0.5"')))

    assert imported(path, armature=0.02).joint_armature[-2:] == [0.02, 0.5]


def test_fixed_joints_are_merged_on_request():
    path = f"{NEWTON_ASSETS}/cartpole.urdf"

    assert imported(path).body_count == 4
    assert imported(path, collapse_fixed_joints=True).body_count == 3


def test_self_collisions_can_be_left_out():
    path = f"{NEWTON_ASSETS}/quadruped.urdf"

    with_collisions, without = imported(path), imported(path, self_collisions=False)

    pairs = without.shape_count * (without.shape_count - 1) // 2
    assert len(set(with_collisions.shape_collision_filter_pairs)) < pairs
    assert len(set(without.shape_collision_filter_pairs)) == pairs


def test_ignore_leaves_out_exactly_what_it_covers(write):
    geoms = "".join(f'<geom name="{name}" size="1"/>' for name in ("floor", "floor_lamp", "foot"))

    builder = imported(write("robot.xml", BODY.format(geoms)), ignore=("floor", "fo.t"))

    assert [label.rpartition("/")[2] for label in builder.shape_label] == ["floor_lamp"]


def test_an_ignore_that_matches_nothing_is_an_error():
    error = failure(f"{NEWTON_ASSETS}/nv_ant.xml", ignore=("flor",))

    assert str(error).startswith("scene.assets[0].ignore: no name matches 'flor'; did you mean 'floor'?")


def test_joints_start_where_the_configuration_says():
    builder = imported(f"{NEWTON_ASSETS}/nv_ant.xml", joint_positions={"ankle_[14]": 1.0, "ankle_[23]": -1.0})

    assert builder.joint_q[7:] == [0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0]


def test_a_floating_root_takes_no_single_position():
    error = failure(f"{NEWTON_ASSETS}/nv_ant.xml", joint_positions={"root": 1.0})

    assert "'root' matches no joint with an axis of one coordinate, only 'ant/worldbody/torso/root' (free)" in str(
        error
    )


MERGED = """<mujoco model="leg"><worldbody><body name="thigh"><freejoint name="root"/><geom size=".1"/>
<body name="shin"><joint name="knee_x" axis="1 0 0"/><joint name="knee-y" axis="0 1 0"/><geom size=".1"/></body></body>
</worldbody></mujoco>"""


def test_axes_of_a_merged_joint_start_where_the_configuration_says(write):
    path = write("leg.xml", MERGED)

    builder = imported(path, joint_positions={"knee_x": 0.1, "knee_y": -0.2})

    assert builder.joint_q[7:] == [0.1, -0.2]


def test_a_position_for_every_joint_leaves_out_the_root_with_a_note(write, caplog):
    path = write("leg.xml", MERGED)

    with caplog.at_level(NOTE, "pippin"):
        builder = imported(path, joint_positions={".*": 0.1})

    assert builder.joint_q[7:] == [0.1, 0.1]
    [record] = [record for record in caplog.records if record.name.startswith("pippin")]
    assert (record.levelno, record.getMessage()) == (
        NOTE,
        "scene.assets[0].joint_positions: leaves out 'leg/worldbody/thigh/root' (free), no joint with an axis of one"
        " coordinate",
    )


def test_an_axis_with_two_positions_is_refused(write):
    path = write("leg.xml", MERGED)

    error = failure(path, joint_positions={"knee_.*": 0.1, "knee_x": 0.2})

    assert "worldbody/thigh/shin/knee_x' matches both 'knee_.*' and 'knee_x'" in str(error)


def test_a_joint_position_that_matches_nothing_is_an_error():
    error = failure(f"{NEWTON_ASSETS}/nv_ant.xml", joint_positions={"ankel_1": 1.0})

    assert str(error).startswith("scene.assets[0].joint_positions: no joint matches 'ankel_1'; did you mean 'ankle_1'?")
