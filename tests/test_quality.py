"""The checks of the source itself, so that the test command is the only command to remember."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    ["ruff check", "ruff format --check", "basedpyright", "lint-imports"],
)
def test_source_passes(command):
    script, *arguments = command.split()

    done = subprocess.run([SCRIPTS / script, *arguments], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_plugin_is_under_the_import_contracts():
    members = {
        path.name for folder in ("solvers", "actuators", "sensors") for path in ROOT.glob(f"{folder}/*/src/pippin_*")
    }
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    _, forbidden, independent = rules["contracts"]

    assert set(rules["root_packages"]) == members | {"pippin"}
    assert set(forbidden["forbidden_modules"]) == members
    assert set(independent["modules"]) == members
