"""Newton's examples from files, judged by Newton's own checks."""

import pytest

from .cases import CASES
from .judge import judge


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.is_slow else []) for case in CASES]
)
def test_an_example_passes_newtons_check(case):
    judge(case)
