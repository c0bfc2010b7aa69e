"""Assets in the cache of Newton's downloads."""

from importlib.metadata import distribution

import newton
import pytest
from pippin.config.files import WrittenText, anchored, find_file
from pippin.config.newton_assets import REVISION
from pippin.errors import ConfigError


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setattr(newton.config, "cache_dir_assets", str(tmp_path))
    return tmp_path


def downloaded(cache, revision=REVISION):
    """Return a file as Newton's download leaves it."""
    file = cache / f"newton-assets_unitree_g1_0123abcd_{revision[:8]}" / "unitree_g1" / "usd" / "g1.usda"
    file.parent.mkdir(parents=True)
    file.touch()
    return file


def test_a_downloaded_file_is_found(cache):
    file = downloaded(cache)

    assert find_file("newton:unitree_g1/usd/g1.usda", "path") == file


def test_a_file_of_another_revision_is_found_only_by_that_revision(cache):
    file = downloaded(cache, "ffff0000")

    with pytest.raises(ConfigError, match=rf"revision {REVISION[:8]}"):
        find_file("newton:unitree_g1/usd/g1.usda", "path")
    assert find_file("newton:unitree_g1@ffff0000/usd/g1.usda", "path") == file


def test_a_missing_file_tells_how_to_download_it(cache):
    with pytest.raises(
        ConfigError, match=r"scene\.assets\[0\]\.path: .* has no file 'a\.usd' of the folder 'b'"
    ) as caught:
        find_file("newton:b/a.usd", "scene.assets[0].path")

    assert str(cache) in str(caught.value)
    assert "newton.utils.download_asset('b')" in str(caught.value)
    with pytest.raises(ConfigError, match="not of the form"):
        find_file("newton:a.usd", "path")


def test_such_a_path_is_not_relative_to_a_file(tmp_path):
    text = WrittenText("newton:b/a.usd")
    text.folder = tmp_path

    assert anchored(text) == "newton:b/a.usd"


def test_the_revision_is_that_of_the_installed_newton():
    (module,) = (each for each in distribution("newton").files or () if each.name == "download_assets.py")

    assert f'"{REVISION}"' in module.read_text()
