"""Images of cameras on the page."""

import newton
import numpy as np
import pippin
import pytest
from pippin_conformance import scenes
from pippin_view.viser.series import pixels


@pytest.fixture(scope="module")
def watched():
    """Two worlds with a ball above the ground, and a camera that looks down on it, on a page."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 1.0, mass=1.0, radius=0.2)
    eye = {"type": "camera", "position": [0.0, 0.0, 3.0], "width": 48, "height": 32, "vertical_fov": 1.0}
    eye |= {"outputs": ["color", "depth", "segmentation", "normal"]}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01},
        "scene": {"worlds": 2, "ground": True},
        "solver": {"type": "featherstone"},
        "sensors": {"eye": eye},
        "viewers": {"page": {"type": "viser"}},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.step()
        yield simulation, simulation.viewers["page"]


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("output", ["color", "depth", "segmentation", "normal"])
def test_the_page_shows_what_the_camera_saw_last(watched, output):
    simulation, viewer = watched
    images = viewer._images
    images.choose(f"sensors/eye/{output}")
    images.follow()

    shown, read = images._image.image, simulation.sensors["eye"][output].numpy()[0, 0]
    assert shown.shape == (32, 48, 3)
    np.testing.assert_array_equal(shown, pixels(read[None]))
    assert (shown[16, 24] != shown[0, 0]).any(), "the ball differs from the ground"
    images.choose("none")
    assert images._image is None


def test_a_new_image_follows_within_a_moment(watched):
    simulation, viewer = watched
    images = viewer._images
    images.choose("sensors/eye/depth")
    images.follow()
    before = images._image.image.copy()
    images._next += 60.0  # the steps may take longer than the period
    simulation.step(40)  # the ball falls by 0.8 m
    images.follow()
    np.testing.assert_array_equal(images._image.image, before, err_msg="five times a second are enough")
    images._next = 0.0
    images.follow()

    assert (images._image.image != before).any()
    images.choose("none")


def test_numbers_without_an_image_are_no_choice(watched):
    assert list(watched[1]._images._channels) == [
        f"sensors/eye/{output}" for output in ("color", "depth", "segmentation", "normal")
    ]


def test_distances_are_bright_where_they_are_short_and_cameras_stand_side_by_side():
    shown = pixels(np.array([[[1.0, 2.0]], [[3.0, np.inf]]], dtype=np.float32))

    assert shown[..., 0].tolist() == [[255, 127, 0, 0]]
