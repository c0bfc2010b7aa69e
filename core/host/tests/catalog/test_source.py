"""The version of the contract: where a distribution declares it, and the three answers that the host gives."""

import sys

import pytest
from pippin import PluginError
from pippin.catalog.entries import Catalog
from pippin.catalog.source import CONTRACT_VERSIONS, age_of, declared_version

PLUGIN = """
import attrs

@attrs.frozen
class DemoConfig:
    implementation = "Demo"

class Demo:
    pass
"""


@pytest.fixture
def declare(install):
    """Install a plugin that declares a version, and return its entry."""

    def declare(version):
        install("demo-plug", PLUGIN, 'demo = "demo_plug:DemoConfig"', kind="sensor", contract=version)
        return Catalog.installed().find("sensor", "demo")

    return declare


@pytest.mark.parametrize("version", [None, str(CONTRACT_VERSIONS[-1])])
def test_the_current_version_is_accepted_and_so_is_none_which_is_the_first(declare, version):
    entry = declare(version)

    assert (entry.contract, entry.state, entry.problem) == (1, "ok", None)
    assert entry.load().__name__ == "Demo"


@pytest.mark.parametrize(
    ("version", "state", "cure"), [("0", "too-old", "update the plugin"), ("99", "too-new", "update pippin")]
)
def test_another_version_is_told_without_an_import_and_refused_where_it_is_chosen(declare, version, state, cure):
    entry = declare(version)

    with pytest.raises(PluginError) as caught:
        entry.load()

    assert (entry.contract, entry.state) == (int(version), state)
    assert entry.problem == f"it keeps to contract {version}, and Pippin 0.1.0 to 1; {cure}"
    assert str(caught.value) == f"sensor 'demo' of demo-plug 1.0: {entry.problem}"
    assert "demo_plug" not in sys.modules


@pytest.mark.parametrize("version", ["one", "1.5"])
def test_a_version_that_is_not_an_integer_breaks_the_plugin(declare, version):
    entry = declare(f'"{version}"')

    assert (entry.contract, entry.state) == (None, "broken")
    assert entry.problem == f"group pippin.contract declares {version!r}; name one entry point there, by an integer"


def test_two_versions_are_one_too_many():
    with pytest.raises(ValueError, match="declares '1', '2'; name one entry point there, by an integer"):
        declared_version(["2", "1"])


@pytest.mark.parametrize(("version", "age"), [(1, "too-old"), (2, None), (3, None), (4, "too-new")])
def test_a_host_may_keep_several_versions(version, age):
    found = age_of(version, range(2, 4))

    assert (found and found[0]) == age
    assert found is None or "to 2 to 3;" in found[1]


def test_a_version_that_cannot_be_read_cannot_be_chosen(declare):
    with pytest.raises(PluginError, match=r"group pippin\.contract declares 'one'"):
        declare("one").load()
