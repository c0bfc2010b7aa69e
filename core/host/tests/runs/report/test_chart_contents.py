"""Quantities of a recording: what is one chart, and what its lines are."""

import numpy as np
from pippin.recording.series import Series
from pippin.runs.report.chart_contents import chart_contents

TIME = np.linspace(0.1, 1.0, 10)


def found(values, name="sensors/feet/net_force", **texts):
    """Return the charts of one series, shape [10, worlds, …]."""
    series = {"time": Series(values=TIME, units=("s",)), name: Series(values=np.asarray(values), **texts)}
    return [(each, each.chart(TIME, each.world_count)) for each in chart_contents(series)]


def names(chart) -> list[str]:
    return [line.name for line in chart.lines]


def test_each_unit_has_its_own_chart():
    labels, units = ("arm/rail", "arm/elbow", "arm/ball"), ("m", "rad", "m")

    charts = found(np.zeros((10, 2, 3)), "joint_q", labels=labels, units=units)

    assert [(each.component, each.title, each.unit) for each, _ in charts] == [
        ("", "joint positions", "m"),
        ("", "joint positions", "rad"),
    ]
    assert [names(chart) for _, chart in charts] == [["rail", "ball"], ["elbow"]]


def test_one_vector_has_components_and_several_have_lengths():
    ((one, chart),) = found(np.ones((10, 2, 1, 3)), units=("m/s²",), frame="site")
    ((several, lengths),) = found(np.full((10, 2, 4, 3), 2.0), units=("N",), frame="world")

    assert (one.component, one.unit, names(chart)) == ("sensors:feet", "m/s²", ["x", "y", "z"])
    assert (several.title, names(lengths)) == ("net force, length", ["0", "1", "2", "3"])
    np.testing.assert_allclose(lengths.values, np.sqrt(12.0))


def test_places_have_a_chart_for_each_axis():
    texts = {"labels": ("left", "right"), "units": ("m",), "frame": "world"}
    charts = found(np.ones((10, 1, 2, 3)), "sensors/feet/position", **texts)

    assert [each.title for each, _ in charts] == ["position, x", "position, y", "position, z"]


def test_a_long_image_is_read_a_few_rows_at_a_time():
    class Video:
        shape, reads = (3000, 1, 64, 64, 4), []

        def __getitem__(self, key):
            self.reads.append(key[0].stop - key[0].start)
            return np.zeros((self.reads[-1], *self.shape[1:]), np.uint8)

        def __len__(self):
            return self.shape[0]

    (quantity, *_) = chart_contents({"sensors/eye/color": Series(values=Video(), units=("1",))})
    quantity.chart(np.arange(3000.0), 1)

    assert sum(Video.reads[1:]) == 3000
    assert max(Video.reads) <= 65


def test_four_plain_numbers_are_not_quaternion():
    ((_, chart),) = found(np.ones((10, 1, 4)), units=("1",))

    assert names(chart) == ["0", "1", "2", "3"]


def test_poses_of_several_bodies_have_a_chart_for_each_component():
    charts = found(np.zeros((10, 1, 2, 7)), "body_q", labels=("ant/torso", "ant/foot"), frame="world")

    assert [each.title for each, _ in charts][:4] == [f"body poses, {name}" for name in ("px", "py", "pz", "qx")]
    assert names(charts[0][1]) == ["torso", "foot"]


def test_a_frame_says_what_the_last_axis_is():
    values = np.ones((10, 1, 2, 3))
    (distances,) = chart_contents({"time": Series(values=TIME), "sensors/ray/distance": Series(values=values)})
    (forces,) = chart_contents({"time": Series(values=TIME), "sensors/a/force": Series(values=values, frame="world")})

    assert (distances.line_count, forces.line_count) == (6, 2)


def test_an_image_is_shown_by_its_extremes():
    image = np.zeros((10, 1, 8, 16, 3), np.uint8)
    image[:, :, 2, 3, 1] = 200

    ((quantity, chart),) = found(image.reshape(10, 1, 8, 48), "sensors/eye/color")

    assert quantity.title == "color, finite values of 384 entries"
    assert names(chart) == ["smallest", "mean", "largest"]
    assert chart.values[0, :, 0, 0].tolist() == [0.0, 200 / 384, 200.0]


def test_rays_that_hit_nothing_leave_the_others():
    ranges = np.full((10, 1, 60), np.inf, np.float32)
    ranges[:, :, 7] = 2.0

    ((_, chart),) = found(ranges, "sensors/eye/range")

    assert chart.values[0, :, 0, 0].tolist() == [2.0, 2.0, 2.0]


def test_labels_of_the_first_axis_name_every_entry():
    history = np.full((10, 1, 2, 3, 3), 1e30, np.float32)

    ((quantity, chart),) = found(history, labels=("ant/left", "ant/right"), frame="world")

    assert names(chart) == [f"{side} {index}" for side in ("left", "right") for index in range(3)]
    assert quantity.title == "net force, length"
    assert chart.gaps.tolist() == [[10] * 6]  # the square of 1e30 is beyond single precision


def test_targets_are_dashed_lines_beside_the_positions():
    labels = ("arm/rail", "arm/elbow", "arm/wrist")
    series = {
        "time": Series(values=TIME),
        "joint_q": Series(values=np.zeros((10, 1, 3)), labels=labels, units=("m", "rad", "rad")),
        "actuators/arm/position_targets": Series(values=np.full((10, 1, 1), 0.3), labels=labels[2:], units=("rad",)),
    }

    _, angles = chart_contents(series)
    chart = angles.chart(TIME, 1)

    assert [(line.name, line.style, line.color) for line in chart.lines] == [
        ("elbow", "solid", 0),
        ("wrist", "solid", 1),
        ("wrist", "dashed", 1),
    ]
    assert chart.values[0, 2, 0, 0] == 0.3


def test_targets_without_positions_have_their_own_chart():
    targets = np.full((10, 1, 1), 0.3)

    ((each, chart),) = found(targets, "actuators/arm/position_targets", labels=("arm/elbow",), units=("rad",))

    assert (each.component, each.title, names(chart)) == ("actuators:arm", "position targets", ["elbow"])


def test_equal_ends_of_labels_are_told_apart():
    ((_, chart),) = found(np.zeros((10, 1, 2)), labels=("left/knee", "right/knee"))

    assert names(chart) == ["left/knee", "right/knee"]


def test_a_component_of_fewer_worlds_has_gaps_in_the_others():
    series = {"time": Series(values=TIME), "a": Series(values=np.ones((10, 1, 2)))}

    (quantity,) = chart_contents(series)

    assert np.isnan(quantity.chart(TIME, 2).values).any(axis=(1, 2, 3)).tolist() == [False, True]
