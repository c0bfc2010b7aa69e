"""Pairing: which filters belong to which sensors, by world, by position, and by what the paths stand for."""

import re

import newton
import pytest
import warp as wp
from pippin.views.contacts.pairing import pair, sensor_groups
from pippin.views.selection import SelectionError


def add_body(builder, label):
    body = builder.add_body(label=label, mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    builder.add_shape_sphere(body, radius=0.1, label=f"{label}/ball")


def add_wall(builder, label):
    builder.add_shape_box(-1, label=label)


@pytest.fixture(scope="module")
def model():
    """Two worlds of two boxes, two balls and a room of two walls; a ground that both share."""
    world = newton.ModelBuilder()
    for label in ("/box_1", "/box_2", "/ball_1", "/ball_2"):
        add_body(world, label)
    add_wall(world, "/room/walls/left")
    add_wall(world, "/room/walls/right")
    builder = newton.ModelBuilder()
    builder.replicate(world, 2)
    builder.add_ground_plane(label="/ground")
    return builder.finalize(device="cpu")


def paired(model, sensors, filters, **options):
    """Return label and world of each sensor with what it is split by: labels with their numbers of shapes."""
    found = []
    for group in sensor_groups(model, sensors, filters, options.pop("worlds", None), path_glob=True):
        for body, row in zip(group.bodies, pair(model, group, path_glob=True), strict=True):
            at = int(model.body_world.numpy()[body])
            assert all(each.world in (at, -1) for each in row)
            assert all(int(model.shape_world.numpy()[shape]) in (at, -1) for each in row for shape in each.shapes)
            found.append((model.body_label[body], at, [(each.label, len(each.shapes)) for each in row]))
    return found


def labels(rows):
    return [[label for label, _ in columns] for _, _, columns in rows]


def test_one_filter_in_a_world_is_shared_by_its_sensors(model):
    rows = paired(model, "/box_[12]", ["/ball_1", "/ground"])

    assert [(label, world) for label, world, _ in rows] == [("/box_1", 0), ("/box_2", 0), ("/box_1", 1), ("/box_2", 1)]
    assert labels(rows) == [["/ball_1", "/ground"]] * 4


def test_as_many_filters_as_sensors_are_paired_in_order(model):
    assert labels(paired(model, "/box_*", ["/ball_*"])) == [["/ball_1"], ["/ball_2"]] * 2
    assert labels(paired(model, ["/box_2", "/box_1"], ["/ball_*"])) == [["/ball_1"]] * 2 + [["/ball_2"]] * 2


def test_each_sensor_pattern_may_have_filters_of_its_own(model):
    rows = paired(model, ["/box_1", "/box_2"], [["/ball_1"], ["/ball_2", "/ground"]])

    assert labels(rows) == [["/ball_1"]] * 2 + [["/ball_2", "/ground"]] * 2


def test_a_shape_of_a_body_stands_for_the_body(model):
    assert paired(model, "/box_1", ["/ball_1/ball"], worlds=[0]) == [("/box_1", 0, [("/ball_1", 1)])]


def test_a_path_above_static_shapes_stands_for_all_of_them(model):
    rows = paired(model, "/box_1", ["/room", "/room/walls/left", "/room/*"], worlds=[1])

    assert rows == [("/box_1", 1, [("/room", 2), ("/room/walls/left", 1), ("/room/walls", 2)])]


def test_filters_may_be_regular_expressions_and_indices(model):
    assert (
        labels(paired(model, "/box_1", [re.compile("/ball_2"), re.compile(".*/left")]))
        == [["/ball_2", "/room/walls/left"]] * 2
    )
    assert labels(paired(model, [0], [3])) == [["/ball_2"]]


def test_one_pattern_needs_no_list(model):
    assert labels(paired(model, "/box_1", "/ground")) == [["/ground"]] * 2


def test_no_filters_are_no_columns(model):
    assert labels(paired(model, "/box_*", ())) == [[]] * 4


@pytest.mark.parametrize(
    ("sensors", "filters", "fault"),
    [
        (
            ["/box_1", "/box_2", "/ball_1"],
            ["/ball_*"],
            "'/ball_\\*': matches 2 objects in world 0, which has 3 sensors",
        ),
        ("/box_1", ["/bal_1"], "no body or static shape matches '/bal_1'; did you mean '/ball_1'"),
        ("/bxo_1", ["/ball_1"], "no body matches '/bxo_1'; did you mean '/box_1'"),
        (["/box_1", "/box_2"], [["/ball_1"]], "expected patterns for all sensors, or 2 lists of them"),
        (["/box_1", "/box_2"], [["/ball_1"], "/ground"], "expected patterns for all sensors"),
        (["/box_*", "/box_2"], [["/ball_1"], ["/ground"]], "'/box_2' matches two patterns"),
        ([0], [7], "matches 0 objects in world 0"),
    ],
)
def test_filters_that_do_not_fit_are_refused(model, sensors, filters, fault):
    with pytest.raises(SelectionError, match=fault):
        paired(model, sensors, filters)
