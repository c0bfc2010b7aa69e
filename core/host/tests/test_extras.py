"""Another version of a library than Pippin is made for: one sentence, where a user meets it."""

import logging
import re

import newton
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.extras import version_faults


@pytest.fixture
def later_newton(tmp_path, monkeypatch):
    """The metadata of Newton 99, as an installer writes it; the module stays the one that is there."""
    record = tmp_path / "newton-99.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: newton\nVersion: 99.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    version_faults.cache_clear()
    yield
    version_faults.cache_clear()


SENTENCE = r"newton 99\.0 is installed, and Pippin \S+ is made for newton<\S+,>=\S+; run `uv pip install 'newton<\S+'`"


def test_the_versions_of_this_environment_are_those_that_pippin_is_made_for():
    version_faults.cache_clear()

    assert version_faults() == ()


def test_a_later_newton_is_one_sentence(later_newton):
    [fault] = version_faults()

    assert re.match(SENTENCE, fault)


def test_a_build_tells_it(later_newton, caplog):
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(mass=1.0, inertia=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))

    class Bare:
        @pippin.hookimpl
        def build_solver(self, model):
            return newton.solvers.SolverSemiImplicit(model)

    with (
        caplog.at_level(logging.WARNING, "pippin"),
        pippin.Simulation(pippin.structure({"simulation": {"device": "cpu"}}), [Bare()], builder),
    ):
        pass

    assert [bool(re.match(SENTENCE, record.message)) for record in caplog.records] == [True]


def test_the_doctor_tells_it_once_for_all_plugins(later_newton):
    result = CliRunner().invoke(main, ["plugins", "--doctor", "noise", "bias"])

    [line] = [line for line in result.stdout.splitlines() if line.startswith("newton 99.0 is installed; ")]
    assert re.search(r"newton<\S+,>=\S+ is wanted by pippin \S+: run `uv pip install", line)
    assert result.exit_code == 3
    assert "error: 2 of 2 plugins fail" in result.stderr
