"""Claims about images: of a scene in its start pose, without a display."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pippin.config import SimulationConfig
from pippin.config.model import AssetConfig, SceneConfig
from pippin.errors import ConfigError, PluginError
from pippin.inspection.image import add_names, draw_scene

BALL = '<mujoco><worldbody><body pos="3 0 {height}"><freejoint/>{geom}</body></worldbody></mujoco>'


def pixels(file: Path) -> np.ndarray:
    """Return the image in a PNG file, shape [height, width, 3]."""
    with Image.open(file) as image:
        return np.asarray(image.convert("RGB"))


@pytest.fixture
def scene(tmp_path):
    def scene(geom: str = '<geom size=".1"/>', height: float = 2.0) -> SimulationConfig:
        (tmp_path / "ball.xml").write_text(BALL.format(geom=geom, height=height))
        return SimulationConfig(scene=SceneConfig(assets=(AssetConfig(path=str(tmp_path / "ball.xml")),)))

    return scene


@pytest.mark.slow
def test_the_robot_is_in_the_middle_wherever_it_starts(scene, tmp_path):
    draw_scene(scene(height=-5.0), tmp_path / "ball.png")

    image = pixels(tmp_path / "ball.png").astype(int)
    height, width, _ = image.shape
    is_ground = np.ptp(image, axis=2) < 20
    rows, columns = np.nonzero(~is_ground)
    assert abs(rows.mean() - height / 2) < 0.1 * height
    assert abs(columns.mean() - width / 2) < 0.1 * width
    assert 0.1 < (~is_ground).mean() < 0.6


@pytest.mark.parametrize("name", ["ball.jpg", "nowhere/ball.png"])
def test_a_file_that_cannot_be_written_is_refused(scene, tmp_path, name):
    with pytest.raises(ConfigError, match=r"^draw: .*name a \.png file in a folder that exists"):
        draw_scene(scene(), tmp_path / name)


def test_the_extra_is_named_where_pillow_is_missing(scene, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)

    with pytest.raises(PluginError, match=r"'PIL\.Image' cannot be imported .* install it by `uv .*draw"):
        draw_scene(scene(), tmp_path / "ball.png")


@pytest.mark.slow
def test_a_plane_of_the_asset_hides_nothing_from_the_light(scene, tmp_path):
    images = []
    for name, floor in (("bare", ""), ("floored", '<geom type="plane" size="9 9 .1" euler="90 0 0" pos="-3 0 0"/>')):
        geom = '<geom size=".1"/></body>' + floor + "<body>"
        draw_scene(scene(geom), tmp_path / f"{name}.png")
        images.append(pixels(tmp_path / f"{name}.png"))

    np.testing.assert_array_equal(*images)


@pytest.mark.slow
def test_names_of_joints_stand_beside_their_points_and_the_start_pose_is_judged(scene, tmp_path):
    arm = (
        '<geom size=".1"/><body><joint name="{name}" axis="0 1 0" range="20 90"/><geom size=".1" pos=".3 0 0"/></body>'
    )
    images = []
    for name in ("knee", "hip"):
        notes = draw_scene(scene(arm.format(name=name)), tmp_path / "arm.png")
        images.append(pixels(tmp_path / "arm.png").astype(int))
    rows, columns = np.nonzero(np.abs(images[0] - images[1]).max(axis=2) > 50)

    assert notes == ["1 joint starts outside its limits: hip 0 < 0.349; set joint_positions of the asset"]
    assert 2 < np.ptp(rows) < 18, "they differ where the names are"
    assert 10 < np.ptp(columns) < 50


def test_names_do_not_cover_each_other():
    image, names = Image.new("RGB", (200, 80)), ["first", "second", "left, right"]
    alone = []
    for name in names:
        picture = Image.new("RGB", image.size)
        add_names(picture, [name], np.array([[20.0, 40.0]]))
        alone.append(covered(picture))
    add_names(image, names, np.array([[20.0, 40.0]] * 3))

    assert covered(image) == sum(alone)


def covered(image: Image.Image) -> int:
    """Return the number of pixels of the boxes behind names and of their letters."""
    return int((np.asarray(image)[:, 30:].min(axis=2) > 25).sum())


def test_a_name_at_the_edge_is_inside_the_image():
    image = Image.new("RGB", (100, 30))
    add_names(image, ["elbow"], np.array([[99.0, 29.0]]))

    ink = np.asarray(image)
    assert (ink[:, :-1].min(axis=2) > 240).any()
    assert not (ink[:, 0].min(axis=1) > 240).any()
