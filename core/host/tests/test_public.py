"""What `import pippin` gives, and what it costs."""

import subprocess
import sys

import pippin
import pytest


def test_importing_pippin_imports_neither_newton_nor_warp():
    code = "import pippin, sys; print({'newton', 'warp', 'gymnasium'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"


def test_a_misspelt_name_is_suggested():
    with pytest.raises(AttributeError, match="has no attribute 'verfy'; did you mean 'verify'"):
        pippin.verfy  # noqa: B018


@pytest.mark.parametrize("name", pippin.__all__)
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(pippin, name).__doc__
