"""Indices read from what a user gives."""

import numpy as np
import pytest
from pippin.errors import ConfigError, SimulationError
from pippin.indices import IndexRange
from pippin.validators import whole_number

WORLDS = IndexRange(4)


@pytest.mark.parametrize(
    "given",
    [
        *([0, 2], (0, 2), np.array([0, 2], dtype=np.uint16), {0, 2}, range(0, 4, 2), iter([0, 2])),
        *([True, False, True, False], np.array([True, False, True, False]), iter([True, False, True, False])),
    ],
)
def test_indices_and_the_mask_of_them_are_the_same(given):
    assert WORLDS.indices(given, "reset").tolist() == [0, 2]


def test_all_none_and_one_can_be_chosen():
    assert WORLDS.indices(None, "reset").tolist() == [0, 1, 2, 3]
    assert WORLDS.indices([], "reset").tolist() == WORLDS.indices([False] * 4, "reset").tolist() == []
    assert WORLDS.indices(3, "reset").tolist() == [3]


def test_indices_keep_their_order_and_a_mask_has_none():
    assert WORLDS.indices([3, 0], "reset").tolist() == [3, 0]
    assert WORLDS.mask([3, 0, 3], "reset").tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([4], "reset: 4 is not a world; there are 4, counted from 0"),
        ([-1], "reset: -1 is not a world"),
        ([1, 1], "reset: 1 is listed twice; list each world once"),
        ([1.0], "reset: expected integers or booleans, got float64; pass indices, or a mask of shape [4]"),
        ([True, False], "reset: expected a mask of shape [4], got [2]; give one boolean for each world"),
        (True, "reset: expected a mask of shape [4], got []"),
        ([True, 2], "reset: the list mixes indices and booleans"),
        (np.ones((4, 1), dtype=bool), "reset: expected a mask of shape [4], got [4, 1]"),
        ([[1], [2]], "reset: expected a list of indices, got int64 of shape [2, 1]; flatten it"),
        ([[1], [2, 3]], "reset: expected integers or booleans, got list"),
        (np.array([1, 0, 1, 0], dtype=np.uint8), "reset: uint8 may be indices or a mask; convert a mask to bool"),
        ("01", "reset: expected integers or booleans, got '01'"),
        (b"\0", "reset: expected integers or booleans, got b'\\x00'"),
        ([None], "reset: expected integers or booleans, got object"),
    ],
)
def test_what_names_no_worlds_is_refused(given, message):
    with pytest.raises(ConfigError) as caught:
        WORLDS.indices(given, "reset")

    assert str(caught.value).startswith(message)


def test_the_lowest_index_may_stand_for_no_world():
    known = IndexRange(2, lowest=-1)

    assert known.indices([-1, 1], "worlds").tolist() == [-1, 1]
    with pytest.raises(ConfigError, match="-2 is not a world"):
        known.indices([-2], "worlds")


@pytest.mark.parametrize("given", [-1, 1.0, True, "1", None])
def test_a_count_is_a_whole_number(given):
    assert whole_number(np.int32(3), "steps") == 3
    with pytest.raises(SimulationError, match=f"steps: expected a whole number of at least 0, got {given!r}"):
        whole_number(given, "steps", error=SimulationError)
