"""The folder of a saved run in shards: what is read back, and what is refused."""

import json

import pytest
from pippin.config import structure
from pippin.errors import ConfigError
from pippin.sharding.folder import read_folder, write_folder


@pytest.fixture
def folder(tmp_path):
    write_folder(
        tmp_path / "run", structure({"scene": {"worlds": 4}}), 2, 7, lambda files: [each.touch() for each in files]
    )
    return tmp_path / "run"


def test_what_was_written_is_read(folder):
    config, files = read_folder(folder)

    assert config.scene.worlds == 4
    assert files == [folder / "shard-0-7.npz", folder / "shard-1-7.npz"]


def test_no_name_leads_out_of_the_folder(folder):
    manifest = json.loads((folder / "shards.json").read_text())
    (folder / "shards.json").write_text(json.dumps(manifest | {"files": ["../../etc/a.npz", "/etc/b.npz"]}))

    assert read_folder(folder)[1] == [folder / "a.npz", folder / "b.npz"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"format": 99}, "has format 99, and this version reads 1; load it with the version that wrote it"),
        ({"files": None}, "is damaged"),
        ({"files": [1]}, "is damaged"),
        ({"config": "["}, "is damaged"),
        ({"config": 1}, "is damaged"),
        ({"format": ...}, "is damaged"),
    ],
)
def test_a_damaged_folder_is_refused(folder, change, fault):
    manifest = json.loads((folder / "shards.json").read_text()) | change
    text = json.dumps({key: value for key, value in manifest.items() if value is not ...})
    (folder / "shards.json").write_text(text)

    with pytest.raises(ConfigError, match=fault):
        read_folder(folder)


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "3", "{}"])
def test_what_is_no_manifest_is_refused(folder, text):
    (folder / "shards.json").write_text(text)

    with pytest.raises(ConfigError, match="is damaged"):
        read_folder(folder)
