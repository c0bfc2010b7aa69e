"""What a run leaves behind, without a simulation."""

import json
import resource
import tomllib
from pathlib import Path

import pippin
import pytest
from pippin.studies import RunFolder


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(pippin.ConfigError, match=r"^out: .* is not empty"):
        RunFolder(tmp_path)


def test_a_file_is_refused_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(pippin.ConfigError, match=r"notes\.txt' is a file"):
        RunFolder(tmp_path / "notes.txt")


def test_two_runs_in_one_second_get_two_folders(tmp_path: Path) -> None:
    first = RunFolder.named_after(Path("some/ant.toml"), tmp_path)
    first.write_summary({})

    second = RunFolder.named_after(Path("some/ant.toml"), tmp_path)

    assert first.path != second.path
    assert first.path.name.startswith("ant-")
    assert second.path.name.startswith("ant-")


def test_nothing_is_made_before_something_is_written(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "a" / "b")

    assert not folder.path.exists()
    folder.write_summary({"steps": 3})
    assert json.loads((tmp_path / "a/b/summary.json").read_text()) == {"steps": 3}


def test_the_configuration_is_written_with_every_default(tmp_path: Path) -> None:
    config = pippin.SimulationConfig()

    RunFolder(tmp_path).write_config(config)

    assert tomllib.loads((tmp_path / "config.toml").read_text())["simulation"]["substeps"] == "auto"
    assert pippin.load(tmp_path / "config.toml") == config


def test_a_folder_that_cannot_be_made_is_refused_before_the_run(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(pippin.ConfigError, match=r"^out: .* cannot be created, as '.*file' is a file"):
        RunFolder(tmp_path / "file" / "run")


def test_a_file_for_which_there_is_no_room_is_an_error_with_its_cure(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # [bytes]
    try:
        with pytest.raises(pippin.ConfigError, match=r"^out: '.*page\.html' cannot be written \(File too large\); "):
            RunFolder(tmp_path / "run").write_text("page.html", 1000 * "x")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
