"""What `import pippin` gives, and what it costs."""

import subprocess
import sys

import pippin
import pytest


def test_importing_pippin_imports_neither_newton_nor_warp():
    code = "import pippin, sys; print({'newton', 'warp', 'gymnasium'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"


@pytest.mark.parametrize("code", ["import pippin; print(pippin_task.gym.VectorEnv)", "import pippin; pippin.gmy"])
def test_a_package_is_imported_at_its_first_use_and_a_misspelt_one_is_suggested(code):
    pytest.importorskip("gymnasium")

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    expected = "<class 'pippin_task.gym." if "VectorEnv" in code else "has no attribute 'gmy'; did you mean 'gym'?"
    assert expected in done.stdout + done.stderr


@pytest.mark.parametrize("name", pippin.__all__)
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(pippin, name).__doc__
