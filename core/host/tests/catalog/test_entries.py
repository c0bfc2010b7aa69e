"""The catalog against plugin packages that are really installed: good ones, and one for each way to be wrong."""

import subprocess
import sys
from importlib import metadata

import pytest
from pippin import PluginError
from pippin.catalog.entries import Catalog
from pippin.catalog.source import Source
from pippin.components.contract import load_plugin

GOOD = """
import attrs
import pippin

@attrs.frozen
class DemoConfig:
    implementation = "Demo"

class Demo:
    @pippin.hookimpl
    def build_solver(self, model):
        return model
"""


def load_fault(kind="solver", name="demo") -> str:
    with pytest.raises(PluginError) as caught:
        load_plugin(Catalog.installed().find(kind, name))
    return str(caught.value)


def test_installed_plugins_are_listed_by_kind_without_an_import(install):
    install("demo-plug", GOOD, 'demo = "demo_plug:DemoConfig"')

    catalog = Catalog.installed()
    entry = catalog.find("solver", "demo")

    assert "demo" in catalog.names("solver")
    assert "demo" not in catalog.names("sensor")
    assert (entry.distribution, entry.version, entry.value) == ("demo-plug", "1.0", "demo_plug:DemoConfig")
    assert (entry.state, entry.problem) == ("ok", None)
    assert "demo_plug" not in sys.modules


def test_a_good_plugin_loads_as_its_class(install):
    install("demo-plug", GOOD, 'demo = "demo_plug:DemoConfig"')

    plugin = Catalog.installed().find("solver", "demo").load()

    assert plugin.__name__ == "Demo"
    assert plugin.__module__ == "demo_plug"


def test_entries_are_sorted_by_kind_name_and_distribution(install):
    install("plug-b", GOOD, 'same = "plug_b:DemoConfig"')
    install("plug-a", GOOD, 'same = "plug_a:DemoConfig"')
    install("plug-c", GOOD, 'aaa = "plug_c:DemoConfig"', kind="sensor")

    entries = [entry for entry in Catalog.installed().entries if entry.distribution.startswith("plug-")]

    assert [entry.distribution for entry in entries] == ["plug-a", "plug-b", "plug-c"]


def test_unknown_name_tells_the_nearest_one_and_who_offers_what(install):
    install("demo-plug", GOOD, 'demo = "demo_plug:DemoConfig"')

    with pytest.raises(PluginError) as caught:
        Catalog.installed().find("solver", "dmo")

    assert str(caught.value).startswith("solver 'dmo': not installed; installed solvers: ")
    assert "demo (demo-plug)" in str(caught.value)
    assert str(caught.value).endswith("did you mean 'demo'?")


def test_unknown_name_of_a_kind_nobody_offers_says_so():
    kinds = metadata.EntryPoints(metadata.entry_points(group="pippin.kinds"))

    with pytest.raises(PluginError) as caught:
        Catalog(Source(kinds)).find("sensor", "imu")

    assert str(caught.value) == (
        "sensor 'imu': not installed; install it by `uv pip install pippin-sensor-imu`; installed sensors: none"
    )


def test_unknown_distribution_tells_the_qualified_name(install):
    install("demo-plug", GOOD, 'demo = "demo_plug:DemoConfig"')

    with pytest.raises(PluginError, match="did you mean 'demo-plug:demo'"):
        Catalog.installed().find("solver", "demo-plugs:demo")


def test_one_name_of_two_distributions_is_an_error_that_names_both(install):
    install("plug-a", GOOD, 'demo = "plug_a:DemoConfig"')
    install("plug-b", GOOD, 'demo = "plug_b:DemoConfig"', version="2.0")

    catalog = Catalog.installed()
    with pytest.raises(PluginError) as caught:
        catalog.find("solver", "demo")

    assert str(caught.value) == (
        "solver 'demo': offered by plug-a 1.0 and plug-b 2.0; write 'plug-a:demo' or 'plug-b:demo'"
    )
    assert catalog.names("solver").count("demo") == 1


def test_duplicates_are_marked_and_each_names_the_other(install):
    install("plug-a", GOOD, 'demo = "plug_a:DemoConfig"')
    install("plug-b", GOOD, 'demo = "plug_b:DemoConfig"')

    entries = [each for each in Catalog.installed().entries if (each.kind, each.name) == ("solver", "demo")]

    assert [entry.state for entry in entries] == ["duplicate", "duplicate"]
    assert {entry.distribution: entry.problem for entry in entries} == {
        "plug-a": "offered by plug-b 1.0 as well; write 'plug-a:demo' for this one",
        "plug-b": "offered by plug-a 1.0 as well; write 'plug-b:demo' for this one",
    }


@pytest.mark.parametrize("spelling", ["plug-b", "plug_b", "Plug.B"])
def test_distribution_and_name_select_one_of_two_however_the_distribution_is_spelt(install, spelling):
    install("plug-a", GOOD, 'demo = "plug_a:DemoConfig"')
    install("plug-b", GOOD, 'demo = "plug_b:DemoConfig"')

    plugin = Catalog.installed().find("solver", f"{spelling}:demo").load()

    assert plugin.__module__ == "plug_b"


def test_a_name_of_two_kinds_is_not_a_duplicate(install):
    install("plug-a", GOOD, 'demo = "plug_a:DemoConfig"')
    install("plug-b", GOOD, 'demo = "plug_b:DemoConfig"', kind="sensor")

    catalog = Catalog.installed()

    assert catalog.find("solver", "demo").distribution == "plug-a"
    assert catalog.find("sensor", "demo").distribution == "plug-b"


def test_a_distribution_found_twice_on_the_path_counts_once(install):
    install("demo-plug", GOOD, 'demo = "demo_plug:DemoConfig"', site="wheel")
    install("demo-plug", GOOD, 'demo = "demo_plug:DemoConfig"', site="editable", version="1.1")

    entry = Catalog.installed().find("solver", "demo")

    assert (entry.version, entry.state) == ("1.1", "ok")


def test_missing_module_is_known_without_an_import(install):
    install("demo-plug", GOOD, 'demo = "gone_module.solver:DemoConfig"')

    entry = Catalog.installed().find("solver", "demo")

    assert entry.state == "broken"
    assert entry.problem == "no module named 'gone_module'; reinstall the distribution"
    assert "ModuleNotFoundError: No module named 'gone_module'" in load_fault()


@pytest.mark.parametrize("value", ["demo_plug", "demo-plug:Demo", "demo_plug:", "demo_plug:Demo()"])
def test_malformed_entry_point_is_known_without_an_import(install, value):
    install("demo-plug", GOOD, f'demo = "{value}"')

    entry = Catalog.installed().find("solver", "demo")

    assert entry.state == "broken"
    assert entry.problem == f"the entry point is malformed, got {value!r}; write 'module:Class'"
    assert load_fault() == f"solver 'demo' of demo-plug 1.0: {entry.problem}"


def test_a_plugin_that_raises_on_import_is_named_with_the_reason(install):
    install("demo-plug", "raise RuntimeError('no licence\\nfound')", 'demo = "demo_plug:DemoConfig"')

    with pytest.raises(PluginError) as caught:
        Catalog.installed().find("solver", "demo").load()

    assert str(caught.value) == (
        "solver 'demo' of demo-plug 1.0: could not be imported (RuntimeError: no licence found); "
        "repair or reinstall demo-plug"
    )
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_class_that_does_not_exist_is_named_with_the_nearest_one(install):
    install("demo-plug", GOOD, 'demo = "demo_plug:DmeoConfig"')

    assert load_fault() == (
        "solver 'demo' of demo-plug 1.0: module 'demo_plug' has no class 'DmeoConfig'; "
        "correct the entry point of demo-plug; did you mean 'DemoConfig'?"
    )


def test_a_library_that_a_plugin_lacks_is_named_with_its_cure(install):
    install("demo-plug", f"import notthere.tables\n{GOOD}", 'demo = "demo_plug:DemoConfig"')

    assert load_fault().endswith(
        "No module named 'notthere'); install 'notthere', or add it to the dependencies of demo-plug"
    )


def test_an_entry_point_to_something_else_than_a_class_is_refused(install):
    install("demo-plug", "DemoConfig = 3", 'demo = "demo_plug:DemoConfig"')

    assert "expected a class at 'demo_plug:DemoConfig', got 3" in load_fault()


def test_a_misspelt_hook_is_refused_with_the_nearest_name(install):
    install("demo-plug", GOOD.replace("build_solver", "bulid_solver"), 'demo = "demo_plug:DemoConfig"')

    assert "hook 'bulid_solver' is unknown; did you mean 'build_solver'? hooks: configure_builder, " in load_fault()


def test_a_hook_for_a_later_pippin_may_be_optional(install):
    source = GOOD.replace("build_solver", "later_hook").replace("hookimpl\n", "hookimpl(optionalhook=True)\n")
    install("demo-plug", source, 'demo = "demo_plug:DemoConfig"')

    assert Catalog.installed().find("solver", "demo").load().__name__ == "Demo"


def test_a_hook_that_asks_for_an_unknown_argument_is_refused(install):
    install("demo-plug", GOOD.replace("self, model", "self, modle"), 'demo = "demo_plug:DemoConfig"')

    assert load_fault() == (
        "solver 'demo' of demo-plug 1.0: hook 'build_solver' has no argument 'modle'; arguments: model, "
        "collision, pipeline, dt, substeps; did you mean 'model'?"
    )


def test_all_faults_of_the_hooks_are_told_at_once_one_a_line(install):
    second = "\n    @pippin.hookimpl\n    def step_solver(self, sovler):\n        pass\n"
    install("demo-plug", GOOD.replace("build_solver", "bulid_solver") + second, 'demo = "demo_plug:DemoConfig"')

    faults = load_fault().splitlines()

    assert [fault.split(":")[0] for fault in faults] == ["solver 'demo' of demo-plug 1.0"] * 2
    assert any("'bulid_solver'" in fault for fault in faults)
    assert any("'sovler'" in fault for fault in faults)


def test_a_broken_package_leaves_the_others_alone(install):
    install("plug-a", "raise RuntimeError", 'bad = "plug_a:DemoConfig"')
    install("plug-b", GOOD, 'demo = "plug_b:DemoConfig"')

    assert Catalog.installed().find("solver", "demo").load().__module__ == "plug_b"


def test_a_name_in_a_misspelt_group_is_not_called_absent(install):
    install("demo-plug", GOOD, 'demo = "demo_plug:DemoConfig"', kind="sensr")

    with pytest.raises(PluginError) as raised:
        Catalog.installed().find("sensor", "demo")

    assert str(raised.value) == (
        "sensor 'demo': demo-plug has this name, but it is in the group 'pippin.sensrs', which nothing reads;"
        " did you mean 'pippin.sensors'?"
    )


def test_a_long_import_says_what_is_imported(install, caplog, monkeypatch):
    monkeypatch.setattr("pippin.catalog.entry.SLOW_IMPORT", 0.05)
    source = f"import time\ntime.sleep(0.3)\n{GOOD}"
    install("demo-plug", source, 'demo = "demo_plug:DemoConfig"')

    Catalog.installed().find("solver", "demo").load()

    (record,) = caplog.records
    assert record.getMessage() == (
        "importing solver 'demo' of demo-plug 1.0 takes more than 0.05 s; if it hangs, see `pippin plugins --doctor`"
    )


def test_an_import_that_ends_the_process_says_so_and_is_no_success(install):
    source = "import os\nif os.fork() == 0:\n    os._exit(7)\nos.wait()\nos._exit(0)\n"
    install("demo-plug", source, 'demo = "demo_plug:DemoConfig"')
    program = "from pippin.catalog.entries import Catalog; Catalog.installed().find('solver', 'demo').load()"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "error: solver 'demo' of demo-plug 1.0: its import ends the process; repair or reinstall demo-plug"
        " (os._exit(0))"
    ]


def test_what_is_installed_into_a_known_folder_is_found_and_so_is_its_removal(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    before = Catalog.installed().names("solver")
    (tmp_path / "late_plug.py").write_text(GOOD)
    record = tmp_path / "late_plug-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: late-plug\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text("[pippin.solvers]\nlate = late_plug:DemoConfig\n")

    during = Catalog.installed().names("solver")
    record.rename(tmp_path / "late_plug.gone")
    after = Catalog.installed().names("solver")

    assert set(during) - set(before) == {"late"}
    assert after == before
