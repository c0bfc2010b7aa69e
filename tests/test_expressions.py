"""Patterns of others: those that could take for ever are refused before they are compared with a label."""

import re
import time

import pippin
import pytest
from pippin.expressions import compiled
from pippin.labels import match

SLOW = ("(a+)+$", "(a|aa)+$", "(a|a)*b", "(a{1,20})+$", "(?:a?){50}b", "a?" * 40 + "b", "(.*a){12}", "((a*)*)*b")
QUICK = (
    ".*",
    ".*left.*foot.*",
    "(FL|FR|RL|RR)_(hip|thigh|calf)_joint",
    r".*_(\d+)_.*_(\d+).*",
    "(fl|fr)(_[a-z]+){2}",
    "(?!base).*",
    "(.*)?x",
    "[a-z]*_?[0-9]*",
)


@pytest.mark.parametrize("pattern", SLOW)
def test_a_pattern_that_may_never_end_is_refused_with_its_key(pattern):
    start = time.monotonic()
    with pytest.raises(pippin.ConfigError, match=r"^actuators\.a\.joints: .* could take for ever: repeat nothing"):
        match(pattern, ["a" * 40 + "c"], "joint", "actuators.a.joints")

    assert time.monotonic() - start < 1.0


@pytest.mark.parametrize("pattern", QUICK)
def test_other_patterns_match_as_before(pattern):
    labels = ["left_foot", "FL_hip_joint", "a_1_b_2", "fl_a_b", "base", "x"]

    assert [bool(compiled(pattern).fullmatch(each)) for each in labels] == [
        bool(re.fullmatch(pattern, each)) for each in labels
    ]


def test_a_long_label_counts():
    assert match(".*a.*b.*c", ["xaxbxc"], "joint", "joints") == [0]
    with pytest.raises(pippin.ConfigError, match="for ever"):
        match(".*a.*b.*c", ["a" * 5000], "joint", "joints")


def test_a_huge_height_field_is_refused_at_once(tmp_path):
    (tmp_path / "field.xml").write_text(
        '<mujoco><asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'
        '<worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>'
    )
    tables = {"scene": {"assets": [{"path": str(tmp_path / "field.xml")}]}, "solver": {"type": "featherstone"}}
    start = time.monotonic()

    with pytest.raises(pippin.ConfigError, match=r'<hfield nrow="100000"> \(field\.xml, line 1\) has too many points'):
        pippin.Simulation(pippin.structure(tables))

    assert time.monotonic() - start < 10.0
