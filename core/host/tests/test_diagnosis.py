"""`pippin plugins --doctor` on packages that are really installed, each broken in its own way."""

import json

import pytest
from click.testing import CliRunner
from pippin.catalog.entries import Catalog
from pippin.cli import main
from pippin.components.contract import load_plugin
from pippin.errors import PluginError
from pippin.extras import missing_libraries

PLUGIN = """
import attrs

@attrs.frozen
class DemoConfig:
    implementation = "Demo"

class Demo:
    pass
"""

BROKEN = {
    "plug-raises": ("raise RuntimeError('no licence')", "could not be imported (RuntimeError: no licence)"),
    "plug-exits": ("raise SystemExit(5)", "could not be imported (SystemExit: 5)"),
    "plug-crashes": ("import os\nos.abort()", "the process ended with signal SIGABRT"),
    "plug-lacks": ("class DemoConfig: pass", "DemoConfig is not an attrs class"),
}


def examined(*arguments: str) -> tuple[int, dict[str, dict]]:
    """Return the exit code, and the row of each distribution."""
    result = CliRunner().invoke(main, ["plugins", "--doctor", "--json", *arguments])
    return result.exit_code, {row["distribution"]: row for row in json.loads(result.stdout)}


@pytest.mark.required
def test_every_way_to_fail_is_a_row_of_its_own_and_the_command_lives(install):
    for name, (source, _) in BROKEN.items():
        install(name, source, f'demo = "{name.replace("-", "_")}:DemoConfig"', kind="sensor")
    install("plug-works", f"import time\ntime.sleep(0.2)\n{PLUGIN}", 'works = "plug_works:DemoConfig"', kind="sensor")

    code, rows = examined(*BROKEN, "plug-works")

    assert code == 3
    for name, (_, fault) in BROKEN.items():
        (told,) = rows[name]["faults"]
        assert told.startswith(f"sensor 'demo' of {name} 1.0: ")
        assert fault in told
        assert (rows[name]["state"], rows[name]["seconds"]) == ("fails", None)
    assert (rows["plug-works"]["state"], rows["plug-works"]["faults"]) == ("ok", [])
    assert rows["plug-works"]["seconds"] >= 0.2


def test_one_that_hangs_is_given_up_after_the_time_limit(install):
    install("plug-hangs", "import time\ntime.sleep(600)", 'demo = "plug_hangs:DemoConfig"', kind="sensor")

    code, rows = examined("plug-hangs", "--timeout", "2")

    assert code == 3
    assert rows["plug-hangs"]["faults"] == [
        "sensor 'demo' of plug-hangs 1.0: no answer within 2 s; give it more time, or less to do"
    ]


def test_what_a_distribution_wants_is_held_against_what_is_installed(install):
    wanted = ["attrs>=20", "newton>=99", "no-such-thing", "gone>=1; python_version < '3'", "extra-thing; extra == 'x'"]
    install("demo-plug", PLUGIN, 'demo = "demo_plug:DemoConfig"', kind="sensor", dependencies=wanted)

    code, rows = examined("demo-plug")

    assert code == 3
    found = {want["requirement"]: (want["is_met"], want["installed"] is None) for want in rows["demo-plug"]["wants"]}
    assert found == {"attrs>=20": (True, False), "newton>=99": (False, False), "no-such-thing": (False, True)}
    newton, missing = rows["demo-plug"]["faults"]
    assert newton.startswith("sensor 'demo' of demo-plug 1.0: wants newton>=99 (1.8")
    assert missing.endswith("wants no-such-thing (missing); install a version that it wants")
    assert rows["demo-plug"]["seconds"] is not None


def test_another_contract_is_a_fault_and_a_blocked_plugin_is_left_alone(install, monkeypatch):
    install("plug-new", "raise RuntimeError", 'new = "plug_new:DemoConfig"', contract="9")
    install("plug-off", "raise RuntimeError", 'off = "plug_off:DemoConfig"')
    monkeypatch.setenv("PIPPIN_CATALOG_BLOCK", "off")

    code, rows = examined("plug-new", "plug-off")

    assert code == 3
    assert (rows["plug-new"]["state"], rows["plug-new"]["contract"]) == ("too-new", 9)
    assert rows["plug-new"]["faults"][0].endswith("it keeps to contract 9, and Pippin 0.1.0 to 1; update pippin")
    assert (rows["plug-off"]["state"], rows["plug-off"]["faults"]) == ("blocked", [])
    assert "blocked by" in rows["plug-off"]["problem"]


def test_the_table_has_times_and_requirements_and_the_exit_code_is_0(install):
    install("plug-works", PLUGIN, 'works = "plug_works:DemoConfig"', kind="sensor", dependencies=["attrs"])

    result = CliRunner().invoke(main, ["plugins", "works", "--doctor"])

    assert result.exit_code == 0
    *_, head, row, wants = result.stdout.splitlines()
    assert head.split() == ["kind", "name", "distribution", "version", "state", "contract", "import"]
    assert row.split()[:6] == ["sensor", "works", "plug-works", "1.0", "ok", "1"]
    assert row.split()[-1] == "s"
    assert wants.startswith("plug-works 1.0 wants attrs (")


def test_a_library_of_an_extra_may_be_missing(install):
    source = PLUGIN.replace('implementation = "Demo"', 'implementation = ".gone:Demo"; extra = "fast"')
    wanted = ["attrs", "no-such-thing; extra == 'fast'"]
    install("plug-fast", source, 'demo = "plug_fast:DemoConfig"', kind="sensor", dependencies=wanted)

    code, rows = examined("plug-fast")
    text = CliRunner().invoke(main, ["plugins", "plug-fast", "--doctor"]).stdout

    assert code == 0
    assert (rows["plug-fast"]["state"], rows["plug-fast"]["faults"]) == ("needs-extra", [])
    lack = "sensor 'demo' of plug-fast 1.0: needs no-such-thing; install it by `uv pip install 'plug-fast[fast]'`"
    assert rows["plug-fast"]["lack"] == lack
    assert lack in text.splitlines()


@pytest.mark.parametrize("arguments", [["--timeout", "3"], ["--doctor", "--timeout", "0"]])
def test_a_time_limit_is_positive_and_for_the_doctor(arguments):
    assert CliRunner().invoke(main, ["plugins", *arguments]).exit_code == 2


@pytest.mark.required
def test_a_doctor_examines_plugins_of_this_workspace():
    code, rows = examined("pd", "xpbd")

    assert code == 0
    assert {row["state"] for row in rows.values()} == {"ok"}


@pytest.mark.parametrize("entry", Catalog.installed().entries, ids=str)
def test_an_installed_plugin_keeps_to_the_contract(entry):
    """The doctor finds nothing: it does the same in a process for each plugin."""
    try:
        named = {"command": entry.load_command, "table": entry.load_table, "configuration": entry.load_config}
        found = named[entry.provides]()
        if hasattr(found, "implementation"):
            load_plugin(entry)
    except PluginError:
        extra = getattr(found, "extra", None)
        if extra is None or not missing_libraries(extra, entry.distribution):
            raise
        pytest.skip(f"the extra {extra} is not installed")
