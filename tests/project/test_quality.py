"""The checks of the source itself, so that the test command is the only command to remember."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "pyrefly check", "lint-imports"])
def test_source_passes(command):
    script, *arguments = command.split()

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [SCRIPTS / script, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
