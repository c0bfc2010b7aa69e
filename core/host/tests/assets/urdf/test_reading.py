import pytest
from pippin.assets.urdf.reading import read_urdf
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError


def read(file, **options):
    return read_urdf(file, AssetConfig(path=str(file), **options), "scene.assets[0]")


def test_the_faults_of_joints_masses_and_meshes_come_together(tmp_path):
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><mimic joint="k"/></joint>'
    mesh = '<collision><geometry><mesh filename="b.stl"/></geometry></collision>'
    links = f'<link name="a"><inertial/></link><link name="b">{mesh}</link>'
    (tmp_path / "arm.urdf").write_text(f"<robot>{links}{joint}</robot>")

    with pytest.raises(ConfigError) as caught:
        read(tmp_path / "arm.urdf")

    starts = ("joint 'j'", "link 'a'", "collision mesh 'b.stl'")
    assert [fault.split(": ")[1].partition(" (")[0].partition(" of ")[0] for fault in caught.value.faults] == [*starts]


def test_arguments_need_a_xacro_file(tmp_path):
    (tmp_path / "arm.urdf").write_text('<robot><link name="a"/></robot>')

    with pytest.raises(ConfigError, match=r"xacro_args: 'arm.urdf' is not a xacro file; leave the arguments out"):
        read(tmp_path / "arm.urdf", xacro_args={"side": "left"})


def test_a_folder_of_packages_that_is_missing_names_the_nearest(tmp_path):
    (tmp_path / "robots").mkdir()
    (tmp_path / "arm.urdf").write_text('<robot><link name="a"/></robot>')

    with pytest.raises(ConfigError, match=r"package_dirs: no folder .*; did you mean 'robots'"):
        read(tmp_path / "arm.urdf", package_dirs=(str(tmp_path / "robos"),))


def test_the_text_keeps_what_needs_no_repair(tmp_path):
    text = '<robot name="r"><link name="a"><contact><lateral_friction value="1" /></contact></link></robot>'
    (tmp_path / "arm.urdf").write_text(text)

    urdf = read(tmp_path / "arm.urdf")

    assert '<contact><lateral_friction value="1" /></contact>' in urdf.text
    assert urdf.notes == ["left out: <lateral_friction>, which other programs read; links or joints: 'a'"]
