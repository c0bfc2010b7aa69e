"""Tests of the contract of every subcommand."""

import pippin
from click.testing import CliRunner
from pippin_subcommand_demo import subcommand_demo


def test_a_missing_file_is_a_fault_that_pippin_tells_in_one_line():
    result = CliRunner().invoke(subcommand_demo, ["nothing.toml"])

    assert isinstance(result.exception, pippin.ConfigError)
    assert "nothing.toml" in str(result.exception)
