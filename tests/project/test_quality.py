"""The checks of the source itself, so that the test command is the only command to remember."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "pyrefly check", "lint-imports"])
def test_source_passes(command):
    script, *arguments = command.split()

    done = subprocess.run([SCRIPTS / script, *arguments], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
