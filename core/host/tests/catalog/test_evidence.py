"""Records of checks: which versions they are of, and that no stale one is told as honoured."""

import json
import re
from importlib import metadata

import attrs
import pytest
from click.testing import CliRunner
from pippin.catalog import Catalog, CheckEvidence
from pippin.cli import main

SENSOR = """
import attrs


@attrs.frozen
class Config:
    implementation = "Thermometer"


class Thermometer:
    pass
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PIPPIN_EVIDENCE", str(tmp_path / "records"))


def entry(kind="solver", name="mujoco"):
    return Catalog.installed().find(kind, name)


def recorded(found, **outcomes):
    record = CheckEvidence.now(found, outcomes or {"entry_point": "passed"}, {"iterations": 8})
    return record.save(found)


def test_a_record_has_the_versions_of_the_plugin_its_engine_newton_and_warp():
    recorded(entry())

    record = CheckEvidence.of(entry())
    names = ("pippin", "newton", "warp-lang", "mujoco-warp", "mujoco")
    assert {name: record.versions[name] for name in names} == {name: metadata.version(name) for name in names}
    assert record.versions["contract"] == "1"
    assert re.fullmatch(r"0\.1\.0 \(files [0-9a-f]{8}\)", record.versions["pippin-solver-mujoco"])
    assert (record.verdict, record.stale) == ("honoured", {})
    assert str(record).startswith("honoured on contract 1, ")
    assert f"newton {metadata.version('newton')}" in str(record)
    assert str(record).endswith(", cpu, iterations = 8")


def test_the_engine_of_an_extra_is_one_of_the_versions(tmp_path, monkeypatch):
    folder = tmp_path / "pippin_solver_wheel-0.3.dist-info"
    folder.mkdir()
    extras = "".join(
        f'Requires-Dist: {name}; extra == "{extra}"\n' for name, extra in [("cattrs>=1", "engine"), ("pluggy", "draw")]
    )
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: pippin-solver-wheel\nVersion: 0.3\n{extras}")
    monkeypatch.syspath_prepend(tmp_path)

    record = CheckEvidence.now(attrs.evolve(entry(), distribution="pippin-solver-wheel"), {}, {})
    assert record.versions["cattrs"] == metadata.version("cattrs")
    assert "pluggy" not in record.versions


def test_failures_are_named_and_expected_ones_are_counted():
    recorded(entry(), reset="failed", worlds="expected failure", capture="passed")

    record = CheckEvidence.of(entry())
    assert record.verdict == "broken"
    assert str(record).startswith("broken (reset) on contract 1")
    assert str(record).endswith(", but for 1 checks that are expected to fail")


@pytest.mark.parametrize("name", ["newton", "warp-lang", "mujoco-warp", "contract"])
def test_a_record_of_another_version_is_stale_and_never_honoured(name):
    file = recorded(entry())
    record = json.loads(file.read_text())
    now, record["versions"][name] = record["versions"][name], "0.1"
    file.with_name(file.name.replace(file.stem[-8:], "00000000")).write_text(json.dumps(record))
    file.unlink()

    found = CheckEvidence.of(entry())
    assert (found.verdict, found.stale) == ("not checked", {name: now})
    assert str(found).startswith(f"not checked with {name} {now}; last on 20")
    assert "honoured" not in CheckEvidence.told(entry())


def test_a_change_of_the_files_of_a_plugin_makes_its_record_stale(tmp_path):
    file = tmp_path / "thermometer.py"
    file.write_text(SENSOR)
    name = f"{file}:Config"
    recorded(entry("sensor", name))
    assert CheckEvidence.of(entry("sensor", name)).verdict == "honoured"

    file.write_text(f"{SENSOR}\n")

    assert CheckEvidence.told(entry("sensor", name)).startswith(f"not checked with {file} ")


def test_a_record_that_was_cut_off_is_none():
    file = recorded(entry())
    file.write_text(file.read_text()[:20])

    assert CheckEvidence.of(entry()) is None
    assert CheckEvidence.told(entry()) == "not checked with these versions; `pippin check-plugin mujoco` does it"


def test_plugins_are_listed_with_what_the_kit_found():
    recorded(entry())
    recorded(entry(name="xpbd"), reset="failed")

    rows = [line.split() for line in CliRunner().invoke(main, ["plugins"]).stdout.splitlines()]
    named = CliRunner().invoke(main, ["plugins", "mujoco", "steel"]).stdout
    listed = json.loads(CliRunner().invoke(main, ["plugins", "mujoco", "steel", "--json"]).stdout)

    verdicts = {row[1]: row[-1] for row in rows if row[:1] == ["solver"]}
    assert (verdicts["mujoco"], verdicts["xpbd"], verdicts["steel"]) == ("honoured", "broken", "ok")
    assert "mujoco 0.1.0: honoured on contract 1, pippin 0.1.0" in named
    assert "steel 0.1.0: not checked with these versions; `pippin check-plugin steel` does it" in named
    assert [each["evidence"] is None for each in listed] == [False, True]
