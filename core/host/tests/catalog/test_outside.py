"""Classes of files and modules, which nobody has installed, chosen where the name of a plugin may stand."""

import sys

import pytest
from pippin import ConfigError, PluginError
from pippin.catalog.entries import ALLOW_VARIABLE, Catalog
from pippin.components.contract import load_plugin
from pippin.config import dump_toml, load, structure
from pippin.workers import WorkerProcess

PUSH = """
import attrs
import pippin

@attrs.frozen(kw_only=True)
class PushConfig:
    implementation = "Push"

    force: float = {force}

class Push:
    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def before_substep(self, state):
        pass
"""


@pytest.fixture
def push(tmp_path):
    """Return a file with a plugin."""
    file = tmp_path / "push.py"
    file.write_text(PUSH.format(force=1.0))
    return file


def test_a_class_of_a_file_is_found_with_a_digest_as_its_version(push):
    entry = Catalog.installed().find("plugin", f"{push}:PushConfig")
    again = Catalog.installed().find("plugin", f"{push}:PushConfig")

    assert str(entry) == f"plugin 'PushConfig' of {push}"
    assert load_plugin(entry) is load_plugin(again)
    assert len(entry.version) == 8


def test_a_changed_file_is_another_class_in_the_same_process(push):
    before = Catalog.installed().find("plugin", f"{push}:PushConfig").load_config()
    push.write_text(PUSH.format(force=2.0))
    after = Catalog.installed().find("plugin", f"{push}:PushConfig").load_config()

    assert (before().force, after().force) == (1.0, 2.0)


def test_a_class_of_a_module_is_found_if_no_distribution_has_the_name(push, monkeypatch):
    monkeypatch.syspath_prepend(push.parent)

    entry = Catalog.installed().find("plugin", "push:PushConfig")

    assert str(entry) == "plugin 'PushConfig' of module push"
    assert "push" not in sys.modules
    assert entry.load().__module__ == "push"
    del sys.modules["push"]


def test_a_distribution_of_the_name_comes_before_a_module(install):
    install("push", PUSH.format(force=1.0), 'near = "push:PushConfig"', kind="plugin")

    with pytest.raises(PluginError, match=r"plugin 'push:PushConfig': not installed.*near \(push\)"):
        Catalog.installed().find("plugin", "push:PushConfig")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("raise RuntimeError('no')", r"could not be imported \(RuntimeError: no\); correct the file"),
        ("import beside_it", r"No module named 'beside_it'\); correct the file; it can import what is installed"),
        ("raise SystemExit", r"could not be imported \(SystemExit"),
        ("class PashConfig: ...", r"has no class .PushConfig.; name one of its classes; did you mean 'PashConfig'\?"),
        ("PushConfig = 1", r"expected a class"),
        ("class PushConfig: ...", r"PushConfig is not an attrs class"),
        (PUSH.format(force=1.0).replace("before_sub", "befor_sub"), r"hook 'befor_substep' is unknown"),
    ],
)
def test_a_fault_of_a_file_names_class_and_file(push, text, fault):
    push.write_text(text)

    with pytest.raises(PluginError, match=fault) as caught:
        load_plugin(Catalog.installed().find("plugin", f"{push}:PushConfig"))

    assert str(caught.value).startswith(f"plugin 'PushConfig' of {push}: ")


def test_a_path_is_relative_to_the_file_that_names_it(push, tmp_path, monkeypatch):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "robot.toml").write_text('[plugins.push]\ntype = "../push.py:PushConfig"\nforce = 3\n')
    monkeypatch.chdir(inner)

    written = load(tmp_path / "inner" / "robot.toml").plugins["push"]
    set_here = load(inner / "robot.toml", ['plugins.other.type="../push.py:PushConfig"']).plugins["other"]

    assert written.config.force == 3.0
    assert written.type == f"{inner}/../push.py:PushConfig"
    assert set_here.type == written.type


def test_a_dumped_configuration_names_the_same_class(push):
    config = structure({"plugins": {"push": {"type": f"{push}:PushConfig", "force": 2}}})

    assert f'type = "{push}:PushConfig"' in dump_toml(config)


def test_a_configuration_that_names_it_reaches_other_processes(push, tmp_path, monkeypatch):
    """As those of shards, whose arguments have configurations."""
    (tmp_path / "functions_of_a_reader.py").write_text("def read(connection, sent):\n    connection.send(sent)\n")
    monkeypatch.syspath_prepend(tmp_path)
    from functions_of_a_reader import read

    config = structure({"plugins": {"push": {"type": f"{push}:PushConfig", "force": 2}}}).plugins["push"].config
    with WorkerProcess("reader", read, config) as process:
        received = process.receive(120.0)

    assert received == config


def test_a_missing_file_and_unknown_keys_are_faults_of_the_configuration(push):
    with pytest.raises(PluginError, match=r"plugins\.a\.type: .*there is no such file; correct the path"):
        structure({"plugins": {"a": {"type": f"{push}x.py:PushConfig"}}})
    with pytest.raises(ConfigError, match=r"plugins\.a\.forse: .*did you mean 'force'"):
        structure({"plugins": {"a": {"type": f"{push}:PushConfig", "forse": 1}}})


@pytest.mark.parametrize(
    ("catalog", "reason"),
    [
        ({"installed_only": True}, r"not installed, which catalog\.installed_only asks for"),
        ({"allow": ["pd"]}, r"not in catalog\.allow"),
        ({"allow": ["PushConfig"]}, r"not in catalog\.allow"),
        ({"allow": ["other/push.py"]}, r"not in catalog\.allow"),
        ({"block": ["push.py"]}, r"blocked by catalog\.block"),
        ({"block": ["push.py:PushConfig"]}, r"blocked by catalog\.block"),
    ],
)
@pytest.mark.filterwarnings("ignore:catalog")
def test_the_catalog_of_a_file_refuses_what_is_not_installed(push, catalog, reason):
    with pytest.raises(PluginError, match=reason):
        structure({"plugins": {"push": {"type": f"{push}:PushConfig"}}, "catalog": catalog})


def test_a_list_of_allowed_names_lets_a_named_file_through(push, monkeypatch):
    tables = {"plugins": {"push": {"type": f"{push}:PushConfig"}}}

    assert structure({**tables, "catalog": {"allow": ["push.py"]}}).plugins["push"].config.force == 1.0
    monkeypatch.setenv(ALLOW_VARIABLE, "xpbd")
    with pytest.raises(PluginError, match="not in PIPPIN_CATALOG_ALLOW"):
        structure(tables)
