"""MuJoCo's own reading of a URDF: the second opinion of the survey.

MuJoCo reads the text that Newton's importer gets, with the repairs that the page on URDF lists. What URDF says nothing
about, such as the stiffness of contacts and limits, is set to what our model has, so that the rest can be compared.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
from pippin.assets.asset import find_assets
from pippin.assets.fidelity.matching import Match
from pippin.config.model import AssetConfig, SceneConfig
from pippin.errors import ConfigError

READABLE = (".stl", ".obj", ".msh")
"""Suffixes of meshes that MuJoCo reads."""

_OPEN = {
    "geom": ("solref", "solimp", "friction", "condim", "priority", "solmix", "margin", "gap"),
    "jnt": ("solref", "solimp", "margin"),
}
"""Fields of geoms and joints that URDF says nothing about."""

_DOF = ("armature", "solref", "solimp")

_OPTIONS = (
    *("timestep", "impratio", "iterations", "ls_iterations", "tolerance", "ls_tolerance", "noslip_iterations"),
    *("ccd_iterations", "ccd_tolerance", "integrator", "cone", "solver", "disableflags", "enableflags"),
)


def load_urdf(path: Path) -> Any:
    """Return MuJoCo's model of a URDF; meshes in formats that MuJoCo cannot read are written anew for it.

    Raises:
        ValueError: Pippin or MuJoCo cannot read it, or it has more than MuJoCo's reader takes.
    """
    try:
        [asset] = find_assets(SceneConfig(assets=[AssetConfig(path=str(path))]).assets)
    except ConfigError as error:
        raise ValueError(str(error)) from error
    assert asset.urdf is not None
    root = ElementTree.fromstring(asset.urdf.text)
    for link in root.iterfind("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
    for settings in root.findall("mujoco"):
        root.remove(settings)
    compiler = {"strippath": "false", "fusestatic": "false", "balanceinertia": "false"}
    ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler", compiler)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _convert_meshes(root, Path(folder))
        return mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode")).compile()


def _convert_meshes(root: ElementTree.Element, folder: Path) -> None:
    """Give each mesh a file of its own name, by which MuJoCo tells meshes apart, in a format that it reads."""
    import trimesh

    for number, mesh in enumerate(root.iterfind("link/collision/geometry/mesh")):
        source = Path(mesh.attrib["filename"])
        if source.suffix.lower() in READABLE:
            file = folder / f"mesh{number}{source.suffix}"
            file.symlink_to(source)
        else:
            file = folder / f"mesh{number}.obj"
            parts: Any = trimesh.load(source)
            (parts.to_geometry() if isinstance(parts, trimesh.Scene) else parts).export(file)
        mesh.set("filename", str(file))


def fill_in(match: Match) -> None:
    """Set what URDF says nothing about to what our model has."""
    theirs, ours = match.theirs, match.ours
    for name in _OPTIONS:
        setattr(theirs.opt, name, getattr(ours.opt, name))
    for kind, pairs in (("geom", match.geoms), ("jnt", match.joints)):
        for field in _OPEN[kind]:
            for i, j in pairs.items():
                getattr(theirs, f"{kind}_{field}")[i] = getattr(ours, f"{kind}_{field}")[j]
    for i, j in match.joints.items():
        for field in _DOF:
            getattr(theirs, f"dof_{field}")[theirs.jnt_dofadr[i]] = getattr(ours, f"dof_{field}")[ours.jnt_dofadr[j]]
    mujoco.mj_setConst(theirs, mujoco.MjData(theirs))
