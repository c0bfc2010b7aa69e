"""Words of errors and notes."""

import pytest
from pippin.spelling import key_elsewhere, listed


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


def test_a_key_of_another_library_is_the_one_of_its_table_or_else_one_elsewhere():
    known = ["worlds", "spacing"]

    assert key_elsewhere("num_envs", known) == "; did you mean 'worlds'?"
    assert key_elsewhere("num_envs", ["spacing"]) == "; did you mean 'scene.worlds'?"
    assert key_elsewhere("clip_param", known) == "", "it has no meaning here"
    assert key_elsewhere("num", known) == ""
