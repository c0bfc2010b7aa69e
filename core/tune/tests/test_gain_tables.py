"""Tables of gains: patterns for axes that are alike."""

import re

import pytest
from pippin import labels
from pippin_tune.gain_tables import table_of


def test_equal_gains_are_one_value():
    assert table_of({"robot/hip": 20.0, "robot/knee": 21.0}) == 20.0


@pytest.mark.alone
def test_gains_that_are_alike_share_a_pattern():
    values = {"a/left_hip_joint": 40.0, "b/right_hip_joint": 41.0, "c/left_knee_joint": 9.0}

    assert table_of(values) == {".*_hip_joint": 40.0, "left_knee_joint": 9.0}


def test_each_axis_has_exactly_one_value_if_names_come_twice_or_have_signs():
    values = {"one/arm/joint": 1.0, "two/arm/joint": 5.0, "one/a.b": 1.0, "one/axb": 30.0}

    table = table_of(values)

    for label, value in values.items():
        assert [table[key] for key in table if labels.matches(re.compile(key), label)] == [value]
