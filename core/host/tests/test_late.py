"""Names of a package that are imported at their first use."""

import importlib
import sys

import pytest

PACKAGE = """
from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from collections import OrderedDict

    from .slow import answer, question

__getattr__ = late(__name__)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with names of a module of its own, and of another package."""
    (tmp_path / "of_late").mkdir()
    (tmp_path / "of_late" / "__init__.py").write_text(PACKAGE)
    (tmp_path / "of_late" / "slow.py").write_text("answer, question = 42, None")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("of_late")
    for name in ("of_late", "of_late.slow"):
        sys.modules.pop(name, None)


def test_a_name_is_imported_at_its_first_use(package):
    assert "of_late.slow" not in sys.modules

    assert (package.answer, package.question) == (42, None)
    assert package.OrderedDict.__name__ == "OrderedDict"
    assert "of_late.slow" in sys.modules


def test_a_misspelt_name_is_an_error_with_the_nearest_one(package):
    with pytest.raises(AttributeError, match="module 'of_late' has no attribute 'anwser'; did you mean 'answer'"):
        package.anwser  # noqa: B018
    assert "of_late.slow" not in sys.modules
