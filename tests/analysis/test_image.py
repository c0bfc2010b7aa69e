"""Claims about images: of a scene in its start pose, without a display."""

import struct
import zlib

import numpy as np
import pytest
from pippin.analysis.image import draw_scene, png
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
    def scene(geom: str = '<geom size=".1"/>', height: float = 2.0) -> SceneConfig:
        (tmp_path / "ball.xml").write_text(BALL.format(geom=geom, height=height))
        return SceneConfig(assets=(AssetConfig(path=str(tmp_path / "ball.xml")),))

    return scene


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
