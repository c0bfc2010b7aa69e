"""Claims about images: of a scene in its start pose, without a display."""

import struct
import zlib

import numpy as np
import pytest
from pippin.analysis.image import draw_scene, png
from pippin.analysis.lettering import add_names
from pippin.config import SimulationConfig
from pippin.config.model import AssetConfig, SceneConfig
from pippin.errors import ConfigError

BALL = '<mujoco><worldbody><body pos="3 0 {height}"><freejoint/>{geom}</body></worldbody></mujoco>'


def pixels(data: bytes) -> np.ndarray:
    """Return the image in a PNG file whose rows have no filter."""
    width, height = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT")
    [length] = struct.unpack(">I", data[start - 4 : start])
    rows = np.frombuffer(zlib.decompress(data[start + 4 : start + 4 + length]), dtype=np.uint8)
    return rows.reshape(height, 1 + 3 * width)[:, 1:].reshape(height, width, 3)


@pytest.fixture
def scene(tmp_path):
    def scene(geom: str = '<geom size=".1"/>', height: float = 2.0) -> SimulationConfig:
        (tmp_path / "ball.xml").write_text(BALL.format(geom=geom, height=height))
        return SimulationConfig(scene=SceneConfig(assets=(AssetConfig(path=str(tmp_path / "ball.xml")),)))

    return scene


@pytest.mark.slow
def test_the_robot_is_in_the_middle_wherever_it_starts(scene, tmp_path):
    draw_scene(scene(height=-5.0), tmp_path / "ball.png")

    image = pixels((tmp_path / "ball.png").read_bytes()).astype(int)
    height, width, _ = image.shape
    is_ground = np.ptp(image, axis=2) < 20
    rows, columns = np.nonzero(~is_ground)
    assert abs(rows.mean() - height / 2) < 0.1 * height
    assert abs(columns.mean() - width / 2) < 0.1 * width
    assert 0.1 < (~is_ground).mean() < 0.6


def test_a_png_holds_every_pixel():
    image = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)

    assert np.array_equal(pixels(png(image)), image)


@pytest.mark.parametrize("name", ["ball.jpg", "nowhere/ball.png"])
def test_a_file_that_cannot_be_written_is_refused(scene, tmp_path, name):
    with pytest.raises(ConfigError, match=r"^draw: .*name a \.png file in a folder that exists"):
        draw_scene(scene(), tmp_path / name)


@pytest.mark.slow
def test_a_plane_of_the_asset_hides_nothing_from_the_light(scene, tmp_path):
    images = []
    for name, floor in (("bare", ""), ("floored", '<geom type="plane" size="9 9 .1" euler="90 0 0" pos="-3 0 0"/>')):
        geom = '<geom size=".1"/></body>' + floor + "<body>"
        draw_scene(scene(geom), tmp_path / f"{name}.png")
        images.append(pixels((tmp_path / f"{name}.png").read_bytes()))

    np.testing.assert_array_equal(*images)


@pytest.mark.slow
def test_names_of_joints_stand_beside_their_points_and_the_start_pose_is_judged(scene, tmp_path):
    arm = (
        '<geom size=".1"/><body><joint name="{name}" axis="0 1 0" range="20 90"/><geom size=".1" pos=".3 0 0"/></body>'
    )
    images = []
    for name in ("knee", "hip"):
        notes = draw_scene(scene(arm.format(name=name)), tmp_path / "arm.png")
        images.append(pixels((tmp_path / "arm.png").read_bytes()).astype(int))
    rows, columns = np.nonzero(np.abs(images[0] - images[1]).max(axis=2) > 50)

    assert notes == ["1 joint starts outside its limits: hip 0 < 0.349; set joint_positions of the asset"]
    assert 2 < np.ptp(rows) < 16, "they differ where the names are"
    assert 10 < np.ptp(columns) < 50


def test_names_do_not_cover_each_other():
    image = np.zeros((60, 200, 3), dtype=np.uint8)
    add_names(image, ["first", "second", "left, right"], np.array([[20.0, 30.0]] * 3))
    is_paper = (image > 200).all(axis=2)

    lengths = [4 * (len(name)) + 1 for name in ("first", "second", "left, right")]
    ink_or_paper = is_paper | (image == (32, 36, 44)).all(axis=2)
    assert ink_or_paper.sum() == sum(2 * length * 14 for length in lengths)


def test_every_letter_has_its_own_shape():
    letters = "abcdefghijklmnopqrstuvwxyz0123456789_-./:,[]?"
    shapes = set()
    for letter in letters:
        image = np.zeros((30, 60, 3), dtype=np.uint8)
        add_names(image, [letter], np.array([[2.0, 15.0]]))
        shapes.add(image.tobytes())

    assert len(shapes) == len(letters)
