"""Newton's examples from files, judged by Newton's own checks."""

import pytest
import warp as wp

from .cases import CASES
from .judge import Case, judge

PARAMETERS = [
    pytest.param(case, id=case.name, marks=[getattr(pytest.mark, mark) for mark in case.marks]) for case in CASES
]


@pytest.mark.parametrize("case", PARAMETERS)
def test_an_example_passes_newtons_check(case: Case):
    if "cuda" in case.marks and not wp.is_cuda_available():
        pytest.skip("no CUDA device")

    judge(case)
