"""What `import orchard` gives, and what it costs."""

import subprocess
import sys

import orchard
import pytest


def test_importing_orchard_imports_neither_newton_nor_warp():
    code = "import orchard, sys; print({'newton', 'warp'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"


@pytest.mark.parametrize("name", orchard.__all__)
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(orchard, name).__doc__
