"""Files written for what few packages have, or in files too large for the usual run: loops, and muscles over axes."""

import math

import pytest
from pippin.assets.fidelity import worded

from .finding import survey


def point(index):
    """Return a place on the ground: the legs stand in three pairs."""
    angle = math.pi / 3 * index + (0.35 if index % 2 else -0.35)
    return f"{0.3 * math.cos(angle):.6f} {0.3 * math.sin(angle):.6f} 0"


LEG = """<body name="leg{0}" pos="{1}"><joint name="x{0}" axis="1 0 0"/><joint name="y{0}" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 .2" size=".01"/>
  <body name="rod{0}"><joint name="slide{0}" type="slide" axis="0 0 1" damping="2"/>
    <geom type="capsule" fromto="0 0 .2 0 0 .4" size=".01"/><site name="end{0}" pos="0 0 .4"/></body></body>"""
STEWART = (
    "<mujoco><option integrator='Euler'/><default><geom contype='0' conaffinity='0'/></default><worldbody>"
    + "".join(LEG.format(index, point(index)) for index in range(6))
    + "<body name='plate' pos='0 0 .4'><freejoint/><geom type='cylinder' size='.2 .01'/></body></worldbody><equality>"
    + "".join(f"<connect body1='rod{index}' body2='plate' anchor='0 0 .4'/>" for index in range(6))
    + "</equality></mujoco>"
)
FOUR_BAR = """<mujoco><default><geom contype="0" conaffinity="0" type="capsule" size=".02"/></default><worldbody>
  <body name="left"><joint axis="0 1 0"/><geom fromto="0 0 0 0 0 -.4"/>
    <body name="bar" pos="0 0 -.4"><joint axis="0 1 0"/><geom fromto="0 0 0 .3 0 0"/></body></body>
  <body name="right" pos=".3 0 0"><joint axis="0 1 0"/><geom fromto="0 0 0 0 0 -.4"/>
    <body name="end" pos="0 0 -.4"><joint axis="0 1 0"/><geom type="sphere" mass=".1"/></body></body></worldbody>
  <equality><weld body1="bar" body2="end" relpose=".3 0 0 1 0 0 0"/></equality></mujoco>"""
ELBOW = """<mujoco><default><geom contype="0" conaffinity="0" type="capsule" size=".02"/></default><worldbody>
  <site name="origin" pos=".05 0 0"/>
  <body name="upper"><joint name="flex" axis="0 1 0" pos="0 0 .01"/><joint name="turn" axis="0 0 1" range="-60 60"/>
    <joint name="swing" axis="1 0 0" stiffness="1"/><geom fromto="0 0 0 0 0 -.3"/>
    <body name="lower" pos="0 0 -.3"><joint name="elbow" axis="0 1 0" range="-10 140" damping=".1"/>
      <geom fromto="0 0 0 0 0 -.3"/><site name="insertion" pos=".03 0 -.05"/></body></body></worldbody>
  <tendon><spatial name="biceps"><site site="origin"/><site site="insertion"/></spatial></tendon>
  <actuator><muscle name="biceps" tendon="biceps" lengthrange=".1 .6" force="200"/></actuator></mujoco>"""

FILES = {"stewart": STEWART, "four_bar": FOUR_BAR, "elbow": ELBOW}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_and_moves_as_in_mujoco(name, tmp_path):
    (tmp_path / f"{name}.xml").write_text(FILES[name])

    finding = survey(name, tmp_path / f"{name}.xml")

    assert (finding.reason, worded(finding.faults)) == ("", [])
    assert finding.distance is not None
    assert finding.is_moved_alike, f"{finding.distance:.0e} m apart, and rounding makes {finding.rounding:.0e} m"
