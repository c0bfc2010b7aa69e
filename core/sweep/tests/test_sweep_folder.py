"""The folder of a sweep: written whole or not at all, and run by one driver."""

import json
import resource

import pytest
from pippin.config import structure
from pippin.errors import ConfigError, SimulationError
from pippin_sweep.sweep_folder import SweepFolder
from pippin_sweep.variants import Variant


@pytest.fixture
def variants():
    config = structure({"solver": {"type": "featherstone"}})
    return [Variant(id=f"{count:012x}", settings={}, config=config, steps=count) for count in range(1, 40)]


def test_a_folder_without_room_is_no_other_sweep_later(tmp_path, variants):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # [bytes]
    try:
        with pytest.raises(SimulationError, match=r"cannot be written .* make room, and run"):
            SweepFolder(tmp_path / "out", variants)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not (tmp_path / "out" / "sweep.json").exists()

    SweepFolder(tmp_path / "out", variants).close()

    assert len(json.loads((tmp_path / "out" / "sweep.json").read_text())["variants"]) == len(variants)


def test_a_folder_has_one_driver_at_a_time(tmp_path, variants):
    first = SweepFolder(tmp_path / "out", variants)

    with pytest.raises(ConfigError, match="is being run by another process"):
        SweepFolder(tmp_path / "out", variants)
    first.close()
    SweepFolder(tmp_path / "out", variants).close()


@pytest.mark.parametrize("text", ["[]", '{"variants": []}', "{"])
def test_a_folder_without_what_a_sweep_has_is_refused(tmp_path, variants, text):
    SweepFolder(tmp_path / "out", variants).close()
    (tmp_path / "out" / "sweep.json").write_text(text)

    with pytest.raises(ConfigError, match="is not empty, and no sweep; choose another folder"):
        SweepFolder(tmp_path / "out", variants)
