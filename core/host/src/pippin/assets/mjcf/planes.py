"""Planes of bodies that are fixed to the world: Newton's solvers take planes of the world only."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
from pippin.assets.untyped import mujoco

from .merged_joints import text_of


def move_planes(root: ElementTree.Element, model: Any) -> bool:
    """Move planes from fixed bodies to the world, in their place, and tell whether there were any.

    MuJoCo allows planes on fixed bodies only, and lets them collide as those of the world.

    Args:
        root: The file as MuJoCo writes it, with a name for each geom.
        model: MuJoCo's model of it.
    """
    world = root.find("worldbody")
    planes = model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)
    names = {model.geom(int(index)).name: int(index) for index in np.flatnonzero(planes & (model.geom_bodyid > 0))}
    if world is None or not names:
        return False
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    _move(world, world, names, data, None)
    return True


def _move(
    world: ElementTree.Element, parent: ElementTree.Element, names: dict[str, int], data: Any, of_parent: str | None
) -> None:
    for body in parent.findall("body"):
        of_body = body.get("childclass", of_parent)
        for geom in [each for each in body.findall("geom") if each.get("name") in names]:
            index, turn = names[geom.get("name", "")], np.zeros(4)
            mujoco.mju_mat2Quat(turn, data.geom_xmat[index])
            body.remove(geom)
            for key in ("pos", "quat", "euler", "axisangle", "xyaxes", "zaxis"):
                geom.attrib.pop(key, None)
            geom.attrib |= {"pos": text_of(data.geom_xpos[index]), "quat": text_of(turn)}
            if of_body is not None:
                geom.attrib.setdefault("class", of_body)
            world.append(geom)
        _move(world, body, names, data, of_body)
