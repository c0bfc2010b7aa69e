"""Words of errors and notes."""

import pytest
from pippin.spelling import listed


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], ""),
        (["hip", "knee", "hip"], "hip, knee"),
        (["a", "b", "c", "d", "e", "a"], "a, b, c and 2 more"),
    ],
)
def test_the_first_of_many_texts_are_listed_each_once(texts, expected):
    assert listed(iter(texts)) == expected
