"""Selection: by label and world, segment by segment, in the order that was asked for."""

import re
from pathlib import Path

import numpy as np
import pippin
import pytest
from pippin import labels
from pippin.views.selection import SelectionError, select

BODIES = ["/ant/torso", "/ant/leg_1", "/ant/leg_2", "/ant/leg_2/foot"]
LABELS = BODIES * 2 + ["/ground"]
WORLDS = np.array([0] * 4 + [1] * 4 + [-1])


def chosen(patterns, named=LABELS, worlds=WORLDS, **options):
    return select(patterns, named, worlds, what="body", **options).tolist()


def test_a_label_is_selected_in_every_world():
    assert chosen("/ant/torso") == [0, 4]


def test_a_star_stays_within_its_segment():
    assert chosen("/ant/*") == [0, 1, 2, 4, 5, 6]
    assert chosen("/*/leg_2/*") == [3, 7]
    assert chosen("/ant/leg*") == [1, 2, 5, 6]


def test_two_stars_stand_for_any_number_of_segments():
    assert chosen("/ant/**") == [0, 1, 2, 3, 4, 5, 6, 7]
    assert chosen("**/foot") == [3, 7]
    assert chosen("/ant/**/foot") == chosen("/ant/**/leg_2/**/foot") == [3, 7]
    assert chosen("**/leg_2") == [2, 6]


def test_brackets_are_classes_of_characters():
    assert chosen("/ant/leg_[1-2]") == [1, 2, 5, 6]
    assert chosen("/ant/leg_[!1]") == [2, 6]
    assert chosen("/ant/leg_[12]/foot") == [3, 7]


def test_other_characters_stand_for_themselves():
    named = ["a.b", "aXb", "a+b", "a(b)", "a?b"]
    worlds = np.zeros(5, dtype=int)

    for index, label in enumerate(named):
        assert chosen(label, named, worlds) == [index]


def test_the_star_of_regular_expressions_is_taken_for_a_star():
    assert chosen("/ant/.*") == chosen("/ant/*")


def test_case_counts_and_a_part_of_a_segment_is_not_a_match():
    for pattern in ("/Ant/torso", "/ant/tors", "torso"):
        with pytest.raises(LookupError):
            chosen(pattern)


def test_outer_and_double_slashes_mean_nothing():
    """`add_world(label_prefix=...)` over absolute labels leaves a double slash."""
    assert chosen("ant/torso/") == [0, 4]
    assert chosen("/envs/env0/ant", ["/envs/env0//ant"], np.zeros(1)) == [0]


@pytest.mark.parametrize(
    "expression", ["torso", "leg_[12]", ".*/(torso|foot)", "/ant/torso", "/ant", "leg", "torso/.*"]
)
def test_a_regular_expression_matches_what_it_matches_in_a_configuration(expression):
    found = [index for index, label in enumerate(BODIES) if labels.covers([expression], label)]

    assert chosen(re.compile(expression), BODIES, np.zeros(4), allow_empty=True) == found


def test_a_regular_expression_covers_a_label_or_its_last_segment():
    assert chosen(re.compile(r".*/(torso|foot)")) == [0, 3, 4, 7]
    assert chosen(re.compile("torso|foot")) == [0, 3, 4, 7]
    with pytest.raises(LookupError):
        chosen(re.compile("tors"))


def test_several_patterns_keep_their_order_and_nothing_comes_twice():
    assert chosen(["**/foot", "/ant/*", "/ant/torso"]) == [3, 7, 0, 1, 2, 4, 5, 6]


def test_within_a_pattern_the_order_is_by_world_and_index():
    """Even where the worlds of the model lie one within the other."""
    assert chosen("/b*", ["/b1", "/b0", "/b2", "/b3"], np.array([1, 0, 1, 0])) == [1, 3, 0, 2]


def test_indices_are_taken_as_they_are():
    assert chosen([5, 0, 5]) == chosen(np.array([5, 0])) == [5, 0]
    assert chosen(3) == [3]
    assert chosen(["/ant/torso", 1]) == [0, 4, 1]


def test_worlds_can_be_chosen():
    assert chosen("/ant/*", chosen_worlds=[1]) == [4, 5, 6]
    assert chosen("**", chosen_worlds=[-1]) == [8]


def test_newtons_star_crosses_slashes():
    assert chosen("/ant/*", path_glob=False) == [0, 1, 2, 3, 4, 5, 6, 7]


def test_indices_are_of_32_bits():
    assert select("**", LABELS, WORLDS, what="body").dtype == np.int32


def test_nothing_may_be_selected_where_that_is_allowed():
    assert chosen("/cat", allow_empty=True) == []
    assert chosen([], allow_empty=True) == []


def test_no_match_is_an_error_with_the_nearest_label_and_the_others():
    with pytest.raises(LookupError) as caught:
        chosen("/ant/toros")

    assert caught.value.faults == (
        "pattern: no body matches '/ant/toros'; did you mean '/ant/torso'?"
        " bodies: /ground, /ant/torso, /ant/leg_1, /ant/leg_2, /ant/leg_2/foot",
    )


def test_no_match_in_an_empty_model_says_so():
    with pytest.raises(pippin.ConfigError, match="there are no bodies"):
        chosen("*", [], np.zeros(0))


def test_views_and_configurations_report_alike():
    for pattern in ("toros", ".*hipp_1", "qqq"):
        with pytest.raises(pippin.ConfigError) as in_file:
            labels.match(pattern, BODIES, "body", "pattern")
        with pytest.raises(SelectionError) as in_view:
            chosen(re.compile(pattern), BODIES, np.zeros(4))

        assert in_view.value.faults == in_file.value.faults


@pytest.mark.parametrize(
    ("patterns", "fault"),
    [
        ("/ant/leg_[1", "'\\[' is not closed"),
        ("/ant/leg_[2-1]", "bad character range"),
        ("/ant/leg**", "'\\*\\*' stands for whole segments"),
        ([9], "index 9: out of range; there are 9 labels"),
        ([-1], "index -1: out of range"),
        ([True], "expected a glob, .* got True of type bool"),
        (None, "expected a glob, .* got None of type NoneType"),
        (1.5, r"expected a glob, .* got 1\.5 of type float"),
        (b"/ant", "expected a glob, .* of type bytes"),
        ([2.0], "expected a glob, .* got 2.0 of type float"),
        ([], "patterns: none, so no"),
    ],
)
def test_a_malformed_pattern_is_an_error(patterns, fault):
    with pytest.raises(SelectionError, match=fault):
        chosen(patterns)


def test_each_pattern_that_matches_nothing_is_a_fault():
    with pytest.raises(SelectionError) as caught:
        chosen(["/cat", "/ant/torso", "/dog", 12])

    faults = [fault.split(";")[0] for fault in caught.value.faults]
    assert faults[:2] == ["pattern: no body matches '/cat'", "pattern: no body matches '/dog'"]
    assert faults[2].startswith("index 12: ")


def test_a_world_without_any_is_an_error():
    with pytest.raises(SelectionError, match="world 7 holds no body; those that do go from -1 to 1"):
        chosen("/ant/*", chosen_worlds=[0, 7])
    with pytest.raises(SelectionError, match="index 0: its body is in world 0, which is not one of the chosen"):
        chosen([0], chosen_worlds=[1])


def test_globs_and_expressions_of_the_documented_table_select_the_same():
    page = Path(__file__).parents[2] / "docs/explanation/decisions/label-patterns.md"
    rows = [line.split("|")[2:4] for line in page.read_text().splitlines() if line.startswith("| ")][1:]
    named = [
        "ant/torso",
        "ant/torso/leg_1",
        "ant/torso/leg_1/foot",
        "ant/torso/leg_3",
        "box/foot",
        "leg_2",
        "ant/torsos",
    ]

    assert len(rows) == 6
    for glob, expression in ([cell.strip(" `") for cell in row] for row in rows):
        selected = chosen(glob, named, np.zeros(len(named)))
        assert selected == labels.match(expression, named, "body", "here"), glob
