import pytest
from pippin.assets.urdf.reading import VARIABLES, Packages


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes an empty file below the test's folder, and its path."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)

    def write(path: str, text: str = ""):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return write


def test_a_package_is_the_folder_of_its_name_above_the_file(written):
    mesh, robot = written("ws/arm/meshes/link.stl"), written("ws/arm/urdf/arm.urdf")

    assert Packages(robot).find_file("package://arm/meshes/link.stl") == mesh


def test_a_package_beside_that_of_the_file_is_found(written):
    mesh, robot = written("ws/hand/link.stl"), written("ws/arm/urdf/arm.urdf")

    assert Packages(robot).find_file("model://hand/link.stl") == mesh


def test_a_manifest_names_a_package_in_a_folder_of_another_name(written):
    written("checkout/package.xml", "<package><name> arm </name></package>")
    mesh, robot = written("checkout/link.stl"), written("checkout/urdf/arm.urdf")

    assert Packages(robot).find_file("package://arm/link.stl") == mesh


def test_a_third_slash_has_no_meaning(written):
    mesh, robot = written("arm/link.stl"), written("arm/arm.urdf")

    assert Packages(robot).find_file("package:///arm/link.stl") == mesh


def test_a_folder_of_the_configuration_holds_packages_or_is_one(written, tmp_path):
    mesh, robot = written("elsewhere/arm/link.stl"), written("here/arm.urdf")

    for folder in ("elsewhere", "elsewhere/arm"):
        assert Packages(robot, [tmp_path / folder]).find_file("package://arm/link.stl") == mesh
    assert Packages(robot).find_file("package://arm/link.stl") is None


@pytest.mark.parametrize(
    ("variable", "place"),
    [("ROS_PACKAGE_PATH", "src"), ("AMENT_PREFIX_PATH", "share"), ("GZ_SIM_RESOURCE_PATH", "models")],
)
def test_the_variables_of_ros_come_last(written, tmp_path, monkeypatch, variable, place):
    mesh, robot = written(f"install/{place}/arm/link.stl"), written("here/arm.urdf")
    other = written("given/arm/link.stl")
    monkeypatch.setenv(variable, str(tmp_path / "install" / ("" if place == "share" else place)))

    assert Packages(robot).find_file("package://arm/link.stl") == mesh
    assert Packages(robot, [tmp_path / "given"]).find_file("package://arm/link.stl") == other


def test_a_package_without_the_file_does_not_end_the_search(written, tmp_path):
    written("arm/other.stl")
    mesh, robot = written("given/arm/link.stl"), written("arm/arm.urdf")

    assert Packages(robot, [tmp_path / "given"]).find_file("package://arm/link.stl") == mesh


def test_a_file_uri_and_a_path_mean_files(written):
    mesh, robot = written("meshes/a link.stl"), written("arm.urdf")

    assert Packages(robot).find_file(mesh.as_uri()) == mesh
    assert Packages(robot).find_file("meshes/a link.stl") == mesh
    assert Packages(robot).find_file(str(mesh)) == mesh


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("package://hand/link.stl", "no package 'hand' above the file, in package_dirs or in ROS_PACKAGE_PATH"),
        ("package://arm/lnik.stl", "has no such file; correct the path"),
        ("lnik.stl", "there is no such file; correct the path"),
        ("HTTPS://host/link.stl", "Pippin downloads nothing; download it, and name the file"),
    ],
)
def test_the_cure_tells_a_missing_package_from_a_missing_file(written, uri, expected):
    assert expected in Packages(written("arm/arm.urdf")).cure(uri)


def test_the_cure_names_a_file_of_the_same_name_below(written):
    robot = written("arm/arm.urdf")
    written("arm/meshes/link [1].stl")

    cure = Packages(robot).cure("/home/somebody/arm/link [1].stl")
    assert cure == "there is no such file; 'meshes/link [1].stl' has its name; correct the path"
