"""What the tests of Isaac Sim's older contact view check of patterns, by their names."""

import newton
import pytest

SPHERES = [f"/World/Sphere_{index}" for index in range(5)]


@pytest.fixture(scope="module")
def sim(simulate):
    """Five cubes, five spheres and five boxes, each beside the others, over a ground plane."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    for row, kind in enumerate(("Cube", "Sphere", "Box")):
        for index in range(5):
            body = builder.add_body(
                label=f"/World/{kind}_{index}", xform=((2.0 * index, row, 1.0), (0.0, 0.0, 0.0, 1.0))
            )
            builder.add_shape_sphere(body, radius=0.2)
    builder.add_ground_plane(label="/World/GroundPlane")
    return simulate(builder, observables=("contact_f",)).view


def test_wildcard_sensor_pattern(sim):
    assert sim.create_rigid_contact_view("/World/Cube_*").sensor_count == 5


def test_bracket_sensor_pattern(sim):
    contacts = sim.create_rigid_contact_view("/World/Cube_[0-2]")

    assert contacts.sensor_paths == ["/World/Cube_0", "/World/Cube_1", "/World/Cube_2"]
    assert contacts.sensor_names == ["Cube_0", "Cube_1", "Cube_2"]


def test_list_sensor_patterns(sim):
    assert sim.create_rigid_contact_view(["/World/Cube_[0-2]", "/World/Cube_[3-4]"]).sensor_count == 5


def test_explicit_sensor_list(sim):
    assert sim.create_rigid_contact_view(["/World/Cube_0", "/World/Cube_2", "/World/Cube_4"]).sensor_count == 3


def test_no_filters(sim):
    contacts = sim.create_rigid_contact_view("/World/Cube_*")

    assert (contacts.sensor_count, contacts.filter_count) == (5, 0)


def test_single_filter_all_sensors(sim):
    contacts = sim.create_rigid_contact_view("/World/Cube_*", filter_patterns=[["/World/GroundPlane"]])

    assert (contacts.sensor_count, contacts.filter_count) == (5, 1)
    assert contacts.filter_paths == [["/World/GroundPlane"]] * 5
    assert contacts.filter_names == [["GroundPlane"]] * 5


def test_multiple_filters_with_wildcard(sim):
    contacts = sim.create_rigid_contact_view(
        "/World/Cube_*", filter_patterns=[["/World/GroundPlane", "/World/Sphere_*"]]
    )

    assert contacts.filter_count == 2
    assert contacts.filter_paths == [["/World/GroundPlane", sphere] for sphere in SPHERES]


def test_list_of_filter_lists(sim):
    contacts = sim.create_rigid_contact_view(
        ["/World/Cube_[0-2]", "/World/Cube_[3-4]"],
        filter_patterns=[
            ["/World/GroundPlane", "/World/Sphere_[0-2]"],
            ["/World/GroundPlane", "/World/Sphere_[0-1]"],
        ],
    )

    assert contacts.sensor_count == 5
    spheres = [*SPHERES[:3], *SPHERES[:2]]
    assert contacts.filter_paths == [["/World/GroundPlane", sphere] for sphere in spheres]


def test_complex_filter_lists_with_boxes(sim):
    contacts = sim.create_rigid_contact_view(
        ["/World/Cube_[0-2]"], filter_patterns=[["/World/GroundPlane", "/World/Sphere_[0-2]", "/World/Box_[0-2]"]]
    )

    expected = [["/World/GroundPlane", f"/World/Sphere_{index}", f"/World/Box_{index}"] for index in range(3)]
    assert contacts.filter_paths == expected


def test_one_to_many_relationship(sim):
    contacts = sim.create_rigid_contact_view(
        [f"/World/Cube_{index}" for index in range(5)], filter_patterns=[SPHERES] * 5
    )

    assert (contacts.sensor_count, contacts.filter_count) == (5, 5)
    assert contacts.filter_paths == [SPHERES] * 5


def test_sensor_paths_verification(sim):
    paths = ["/World/Cube_2", "/World/Cube_0", "/World/Cube_1"]

    assert sim.create_rigid_contact_view(paths).sensor_paths == paths
