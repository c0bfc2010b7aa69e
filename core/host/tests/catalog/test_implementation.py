"""The class that a configuration names: where it is looked for, when it is imported, and what is wrong with it."""

import sys

import pytest
from pippin import PluginError
from pippin.catalog.entries import Catalog

CONFIG = """
import attrs

@attrs.frozen(kw_only=True)
class DemoConfig:
    implementation = {place!r}

class Demo:
    pass

NUMBER = 3
"""
HOT = """
class Demo:
    pass
"""


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """Write a package with a configuration and a module `hot`; return its entry."""

    def write(place, config=CONFIG, hot=HOT):
        package = tmp_path / "cold_demo"
        package.mkdir()
        (package / "__init__.py").write_text(config.format(place=place))
        (package / "hot.py").write_text(hot)
        monkeypatch.syspath_prepend(tmp_path)
        return Catalog.installed().find("plugin", "cold_demo:DemoConfig")

    yield write
    for module in [name for name in sys.modules if name.partition(".")[0] == "cold_demo"]:
        del sys.modules[module]


@pytest.mark.parametrize(
    ("place", "module"),
    [("cold_demo.hot:Demo", "cold_demo.hot"), (".hot:Demo", "cold_demo.hot"), ("Demo", "cold_demo")],
)
def test_an_implementation_is_absolute_or_relative_or_of_the_same_module(demo, place, module):
    plugin = demo(place).load()

    assert (plugin.__module__, plugin.__name__) == (module, "Demo")


def test_the_implementation_is_not_imported_with_the_configuration(demo):
    config = demo(".hot:Demo").load_config()

    assert config.__name__ == "DemoConfig"
    assert "cold_demo" in sys.modules
    assert "cold_demo.hot" not in sys.modules


def test_the_name_of_an_implementation_is_not_a_key(demo):
    config = demo(".hot:Demo").load_config()

    assert config.__attrs_attrs__ == ()


def test_an_inherited_place_is_relative_to_the_class_that_states_it(demo, tmp_path):
    demo(".hot:Demo")
    text = "import attrs, cold_demo\n@attrs.frozen\nclass MyConfig(cold_demo.DemoConfig):\n    x: int = 1\n"
    (tmp_path / "mine.py").write_text(text)

    plugin = Catalog.installed().find("plugin", f"{tmp_path}/mine.py:MyConfig").load()

    assert plugin.__module__ == "cold_demo.hot"


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        ("", r"is malformed, got ''; write \".module:Class\" for a class of the same package, \"Class\" for"),
        (".hot", "is malformed, got '.hot'"),
        (".hot:", "is malformed"),
        (3, "is malformed, got 3"),
        (".cold:Demo", r": could not be imported \(ModuleNotFoundError: No module named 'cold_demo.cold'\); repair it"),
        (".hot:Dmeo", r": module 'cold_demo.hot' has no class 'Dmeo'; correct the attribute; did you mean 'Demo'\?"),
        ("NUMBER", r": expected a class at 'NUMBER' of cold_demo, got 3; name the plugin's class"),
        ("DemoConfig", r": .*got the configuration itself; name the plugin's class"),
    ],
)
def test_a_wrong_implementation_names_the_attribute_and_the_cure(demo, place, fault):
    where = r"^plugin 'DemoConfig' of module cold_demo: DemoConfig\.implementation ?"

    with pytest.raises(PluginError, match=where + fault):
        demo(place).load()


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("implementation", "implementaton", r"implementation is missing; .*; it has 'implementaton'"),
        ("implementation", "implementation: str", r"implementation is a field; write it without an annotation"),
        (
            "@attrs.frozen(kw_only=True)",
            "",
            r"DemoConfig is not an attrs class; an entry point names the configuration of",
        ),
    ],
)
def test_a_configuration_that_names_no_implementation_is_refused(demo, old, new, fault):
    with pytest.raises(PluginError, match=fault):
        demo(".hot:Demo", CONFIG.replace(old, new)).load_config()


def test_the_name_of_a_plugin_is_refused_with_that_of_its_configuration(tmp_path):
    (tmp_path / "file.py").write_text(CONFIG.format(place="Demo"))

    with pytest.raises(PluginError, match=r"Demo is not an attrs class; .*of a plugin: write 'DemoConfig'$"):
        Catalog.installed().find("plugin", f"{tmp_path}/file.py:Demo").load_config()


def test_a_subclass_without_a_decorator_is_refused_for_its_keys(demo):
    text = CONFIG.replace("DemoConfig", "Base") + "\nclass DemoConfig(Base):\n    x: int = 1\n"

    with pytest.raises(PluginError, match="DemoConfig is not an attrs class"):
        demo("Demo", text).load_config()


def test_a_file_has_no_relative_implementation(tmp_path):
    (tmp_path / "file.py").write_text(CONFIG.format(place=".hot:Demo"))

    with pytest.raises(PluginError, match=r"'.hot:Demo' is relative to a package; write 'Demo' for a class of"):
        Catalog.installed().find("plugin", f"{tmp_path}/file.py:DemoConfig").load_config()
