"""Formats of this package where nothing but the host is installed beside it."""

import pippin
import pytest
from pippin.catalog import Catalog


@pytest.mark.alone
@pytest.mark.parametrize(
    ("name", "library"), [("hdf5", "h5py"), ("mcap", "mcap"), ("lerobot", "pyarrow"), ("robomimic", "h5py")]
)
def test_a_recorder_has_its_keys_without_its_library(name, library):
    config = pippin.structure({"recorders": {"log": {"type": name, "path": "run"}}}).recorders["log"]

    assert config.config.path == "run"
    assert Catalog.installed().find("recorder", name).distribution == "pippin-record"
