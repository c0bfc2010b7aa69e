"""Block and allow lists, of the environment and of a file: what is left to choose, and who took the rest away."""

import json
from pathlib import Path

import pippin
import pytest
import warp as wp
from click.testing import CliRunner
from pippin import PluginError
from pippin.catalog import Catalog, Entry
from pippin.catalog.entries import Limit
from pippin.cli import main

PLUGIN = """
import attrs

@attrs.frozen
class DemoConfig:
    implementation = "Demo"

class Demo:
    pass
"""


@pytest.fixture
def two(install):
    """Two distributions that offer a sensor of one name, the first of them another one as well."""
    install("plug-a", PLUGIN, 'demo = "plug_a:DemoConfig"\nown = "plug_a:DemoConfig"', kind="sensor")
    install("plug-b", PLUGIN, 'demo = "plug_b:DemoConfig"', kind="sensor")


def chosen() -> list[Entry]:
    """Return all plugins that a file chooses by name; a table is no choice."""
    return [entry for entry in Catalog.installed().entries if entry.provides != "table"]


def states() -> dict[str, str]:
    entries = Catalog.installed().entries
    return {entry.qualified_name: entry.state for entry in entries if entry.distribution.startswith("plug-")}


@pytest.mark.parametrize(
    ("names", "blocked"),
    [
        ("own", {"plug-a:own"}),
        ("demo", {"plug-a:demo", "plug-b:demo"}),
        ("Plug_B", {"plug-b:demo"}),
        ("plug-a:demo", {"plug-a:demo"}),
        ("own, plug-b", {"plug-a:own", "plug-b:demo"}),
        ("", set()),
    ],
)
def test_a_name_blocks_a_plugin_a_distribution_or_one_plugin_of_it(two, monkeypatch, names, blocked):
    monkeypatch.setenv("PIPPIN_CATALOG_BLOCK", names)

    assert {name for name, state in states().items() if state == "blocked"} == blocked


def test_what_is_blocked_is_not_a_rival_any_more(two, monkeypatch):
    assert states()["plug-a:demo"] == states()["plug-b:demo"] == "duplicate"

    monkeypatch.setenv("PIPPIN_CATALOG_BLOCK", "plug-b")

    assert states()["plug-a:demo"] == "ok"
    assert Catalog.installed().find("sensor", "demo").distribution == "plug-a"


def test_an_allow_list_blocks_everything_else_and_an_empty_one_everything(two, monkeypatch):
    monkeypatch.setenv("PIPPIN_CATALOG_ALLOW", "own")
    assert [entry.name for entry in chosen() if entry.state != "blocked"] == ["own"]

    monkeypatch.setenv("PIPPIN_CATALOG_ALLOW", "")
    assert {entry.state for entry in chosen()} == {"blocked"}


def test_blocked_beats_allowed(two, monkeypatch):
    monkeypatch.setenv("PIPPIN_CATALOG_ALLOW", "own")
    monkeypatch.setenv("PIPPIN_CATALOG_BLOCK", "plug-a")

    assert states()["plug-a:own"] == "blocked"


def test_what_is_blocked_is_neither_offered_nor_loaded(two, monkeypatch):
    monkeypatch.setenv("PIPPIN_CATALOG_BLOCK", "own")
    catalog = Catalog.installed()

    with pytest.raises(PluginError) as caught:
        catalog.find("sensor", "own").load()

    assert "own" not in catalog.names("sensor")
    assert str(caught.value) == (
        "sensor 'own' of plug-a 1.0: blocked by PIPPIN_CATALOG_BLOCK; change that, or choose another one"
    )


@pytest.fixture
def file(tmp_path) -> Path:
    """A file that chooses a sensor, over one that blocks its distribution."""
    (tmp_path / "lab.toml").write_text('[catalog]\nblock = ["plug-a"]\n')
    path = tmp_path / "scene.toml"
    path.write_text('extends = ["lab.toml"]\n\n[sensors.one]\ntype = "own"\n')
    return path


def test_a_chosen_plugin_that_a_file_blocks_is_an_error_with_both_places(two, file):
    with pytest.raises(PluginError) as caught:
        pippin.load(file)

    assert str(caught.value) == (
        f"{file}:4: sensors.one.type: sensor 'own' of plug-a 1.0: blocked by catalog.block"
        f" ({file.parent / 'lab.toml'}:2); change that, or choose another one"
    )


def test_a_file_may_allow_what_it_chooses_and_resolve_two_of_one_name(two, file):
    config = pippin.load(file, ["catalog.block=[]", "catalog.allow=['plug-b']", "sensors.one.type='demo'"])

    assert type(config.sensors["one"].config).__module__ == "plug_b"
    assert config.catalog.allow == ("plug-b",)


def test_a_simulation_finds_its_plugins_and_their_clampings_in_what_its_lists_leave(install):
    import newton

    install("plug-a", PLUGIN, 'pd = "plug_a:DemoConfig"', kind="actuator")
    install("plug-b", PLUGIN, 'max-effort = "plug_b:DemoConfig"', kind="clamping")
    clamping = [{"type": "max-effort", "max_effort": 1.0}]
    arm = {"type": "pd", "joints": ["hinge"], "kp": 1.0, "clamping": clamping}
    tables = {"solver": {"type": "featherstone"}, "actuators": {"arm": arm}, "simulation": {"device": "cpu"}}
    pendulum = newton.ModelBuilder()
    joint = pendulum.add_joint_revolute(-1, pendulum.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0))), label="hinge")
    pendulum.add_articulation([joint])

    config = pippin.structure({**tables, "catalog": {"block": ["plug-a", "plug-b"]}})
    with pippin.Simulation(config, prototype=pendulum) as simulation:
        assert type(simulation.actuators["arm"]).__module__ == "pippin_actuator_pd.actuator"
        assert simulation.actuators["arm"].get("clamping[0].max_effort").numpy() == 1.0

    with pytest.raises(PluginError, match=r"offered by pippin 0\.1\.0 and plug-b 1\.0"):
        pippin.structure({**tables, "catalog": {"block": ["plug-a"]}})


def test_a_name_on_a_list_that_nothing_has_is_a_warning_with_the_nearest_one(two):
    with pytest.warns(UserWarning, match="installed plugin or distribution is called 'plug-aa'; did you mean 'plug-a'"):
        pippin.structure({"catalog": {"block": ["plug-aa"]}})


def test_names_are_looked_for_among_all_plugins_without_applying_the_lists(two, monkeypatch):
    """Each name on the list of a file was compared with what all lists leave, for each build of the kit."""
    catalog, counted = Catalog.installed(), []
    monkeypatch.setattr(Limit, "fault", lambda *_: counted.append(1))
    catalog = catalog.without(["plug-a", "plug-b", "xpbd"], "a list")

    assert (len(catalog.limits), catalog.notes, counted) == (1, (), [])


def test_a_command_tells_it_in_one_line(two, file, monkeypatch):
    monkeypatch.setattr("warnings.filters", [])

    result = CliRunner().invoke(main, ["show", str(file), "--set", "catalog.block=['plug-aa']"])

    assert result.exit_code == 0
    assert result.stderr.splitlines()[0].startswith("warning: catalog.block (--set): no installed plugin")


@pytest.mark.parametrize(("table", "text"), [({"block": "own"}, "expected a list"), ({"blok": []}, "unknown key")])
def test_a_wrong_table_is_told_once_and_blocks_nothing(table, text):
    with pytest.raises(pippin.ConfigError, match=rf"^catalog.*{text}[^\n]*$"):
        pippin.structure({"catalog": table})


def test_plugins_shows_what_is_blocked_and_by_whom(two, file, monkeypatch):
    monkeypatch.setenv("PIPPIN_CATALOG_BLOCK", "plug-b, plug-c")

    result = CliRunner().invoke(main, ["plugins", "plug-a", "plug-b", "--file", str(file)])

    assert [line.split()[-1] for line in result.stdout.splitlines()[1:4]] == ["blocked", "blocked", "blocked"]
    assert "own, demo: blocked by catalog.block (" in result.stdout.replace("demo, own", "own, demo")
    assert "demo: blocked by PIPPIN_CATALOG_BLOCK; change that, or choose another one" in result.stdout
    assert result.stderr.startswith("warning: PIPPIN_CATALOG_BLOCK: no installed plugin or distribution is called 'pl")


def test_plugins_lists_only_those_asked_for(two):
    result = CliRunner().invoke(main, ["plugins", "plug-b", "--json"])

    assert [(row["name"], row["distribution"]) for row in json.loads(result.stdout)] == [("demo", "plug-b")]


def test_plugins_refuses_a_name_of_nothing_installed(two):
    result = CliRunner().invoke(main, ["plugins", "plug-d"])

    assert result.exit_code == 3
    assert "no installed plugin or distribution is called 'plug-d'; did you mean 'plug-" in result.stderr
