"""Every array of MuJoCo's model is compared, or is an exception that has a reason."""

import copy

import mujoco
import numpy as np
import pytest
from pippin.assets.fidelity import compare
from pippin.assets.fidelity.arrays import reason_of

KINDS = ("actuator", "body", "dof", "eq", "geom", "jnt", "pair", "tendon")

RICH = """<mujoco><option density="1000"/><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="a" pos="0 0 1" euler="20 30 40"><joint name="h" axis="1 2 1" range="-20 30" stiffness="2" damping=".1"
frictionloss=".2" armature=".01" actuatorfrcrange="-5 5"/><geom name="ga" type="box" size=".1 .2 .3"/>
<site name="sa" pos=".1 0 0"/><body name="b" pos=".5 0 0"><joint name="s" type="slide" axis="0 1 1" range="-1 1"
frictionloss=".2"/><geom name="gb" size=".1 .1 .1" type="ellipsoid" fluidshape="ellipsoid"/></body></body>
<body name="c" pos="2 0 1" mocap="true"><geom name="gc" size=".1"/></body>
<body name="d" pos="3 0 1"><freejoint/><geom name="gd" size=".1"/><site name="sd"/></body></worldbody>
<contact><pair geom1="ga" geom2="gd" condim="3"/></contact>
<tendon><fixed name="t" range="-1 1" stiffness="3" frictionloss=".1" springlength=".2" actuatorfrcrange="-3 3">
<joint joint="h" coef="1"/><joint joint="s" coef="2"/></fixed>
<fixed name="t2"><joint joint="s" coef="1"/></fixed></tendon>
<equality><joint joint1="h" joint2="s"/><weld body1="a" body2="d"/></equality>
<actuator><motor name="m" joint="h" gear="3" ctrlrange="-1 1" forcerange="-2 2"/>
<general name="f" joint="s" dyntype="filter" dynprm=".1" actrange="-1 1" actlimited="true" group="1"/>
<muscle name="u" tendon="t" lengthrange="0 1" force="50"/>
<dcmotor name="e" joint="h" motorconst=".1" resistance="2"/></actuator></mujoco>"""

OTHER = {
    **dict.fromkeys(("actuator_group", "geom_dataid", "jnt_bodyid", "geom_bodyid", "tendon_adr"), "another tree"),
    "eq_objtype": "bodies are no sites",
    **dict.fromkeys(("geom_contype", "geom_conaffinity"), "one mask alone leaves the pairs that can collide"),
}
"""Arrays of which another value is another element, or no difference; the tests of trees and pairs change them."""

VALUES = {"trnid": 1, "obj1id": 2, "obj2id": 2, "parentid": 0, "mocapid": -1, "num": 1, "geom1": 0, "geom2": 0}
"""Indices of other elements."""


def arrays():
    for kind in KINDS:
        for name in dir(mujoco.MjModel):
            if name.startswith(f"{kind}_") and reason_of(kind, name.removeprefix(f"{kind}_")) is None:
                yield name


@pytest.fixture(scope="module")
def model():
    return mujoco.MjModel.from_xml_string(RICH)


@pytest.mark.parametrize("name", list(arrays()))
def test_another_value_of_an_array_is_a_difference(model, name):
    if name in OTHER:
        pytest.skip(OTHER[name])
    found = []
    for row in range(len(getattr(model, name))):
        ours = copy.deepcopy(model)
        array, short = getattr(ours, name), name.partition("_")[2]
        if short in VALUES:
            array[row] = VALUES[short]
        elif short.endswith("quat"):
            array[row] = [0.6, 0.0, 0.8, 0.0]
        elif array.dtype == bool or short in ("type", "dyntype", "gaintype", "biastype", "objtype", "active0"):
            array[row] = 0 if np.all(array[row]) else 1
        else:
            array[row] = array[row] * 1.5 + 1
        found += compare(model, ours)

    assert found


def test_an_array_has_one_place_at_most():
    known = [name for name in dir(mujoco.MjModel) if name.startswith(tuple(f"{kind}_" for kind in KINDS))]

    assert len(known) > 170
    assert all(reason_of(kind, "new") is None for kind in KINDS)
