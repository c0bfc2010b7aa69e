"""Tests of the command."""

import json
from pathlib import Path

from click.testing import CliRunner
from pippin_subcommand_demo import subcommand_demo

SCENE = Path(__file__).parents[1] / "scene.toml"


def test_the_mass_is_that_of_one_world():
    """The box has 0.2 x 0.4 x 0.6 m and 1000 kg/m³."""
    result = CliRunner().invoke(subcommand_demo, [str(SCENE), "--json"])

    assert result.exit_code == 0, result.output
    assert abs(json.loads(result.stdout)["mass"] - 48.0) < 0.01
