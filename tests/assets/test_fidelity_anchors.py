"""Anchors of loops, whose places differ by rounding where a chain is long."""

import mujoco
import pytest
from pippin.assets.fidelity import compare

LOOP = """<mujoco><worldbody><body name="a"><joint axis="0 1 0"/><geom size=".1"/><body name="b" pos="1 0 0">
<joint axis="0 1 0"/><geom size=".1"/></body></body></worldbody>
<equality><connect name="c" body1="a" body2="b" anchor=".5 0 0"/></equality></mujoco>"""


@pytest.mark.parametrize(("shift", "expected"), [(0.0, []), (5e-5, [False]), (1e-3, [True])])
def test_an_anchor_is_another_mechanism_only_far_beyond_rounding(shift, expected):
    theirs, ours = (mujoco.MjModel.from_xml_string(LOOP) for _ in range(2))
    ours.eq_data[0, 3] += shift

    found = [each for each in compare(theirs, ours) if each.kind == "equality"]

    assert [(each.field, each.is_structural) for each in found] == [
        ("anchor on the second body", is_structural) for is_structural in expected
    ]
