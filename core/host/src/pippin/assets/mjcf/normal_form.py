"""Normal form of an MJCF file: MuJoCo's own reader resolves the file before Newton's importer sees it.

MuJoCo resolves includes, default classes, attached models, replicas, composites and the options of its compiler. What
Newton then reads is one flat file in radians, with the inertia of every body.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import attrs
import mujoco
import numpy as np
from pippin.assets.fidelity.couplings import is_void
from pippin.assets.mjcf.rewriting import write_servos
from pippin.quaternions import conjugate, from_mujoco, product

from .flags import fold_flags
from .rewriting import arrange_joints, complete_vectors, move_planes, text_of

_COINCIDENT = 1e-6
"""Largest distance [m] and turn [rad] of sites that are one at the start."""

_INPUTS = {1: "pos", 2: "vel", 8: "voltage"}
"""Names of MuJoCo's inputs of DC motors that Newton has."""


@attrs.frozen(eq=False)
class NormalMJCF:
    """A file as MuJoCo understands it."""

    text: str
    """MJCF for Newton's importer."""

    model: Any
    """The `mujoco.MjModel` that MuJoCo compiles from the file."""


def normalise(
    file: Path,
    folders: Iterable[Path],
    ignored: Collection[str],
    *,
    has_integrator: bool = True,
    has_inertias: bool = True,
) -> NormalMJCF:
    """Return the normal form of a file, without the ignored geoms and their mass.

    `folders` are those of attached models, which MuJoCo forgets after reading. With `has_integrator`, the file states
    one; with `has_inertias`, the inertia of every body is written, and not left to be computed from its geoms.

    Raises:
        ValueError: MuJoCo cannot read or compile the file.
    """
    with warnings.catch_warnings():
        # The file's author may use what a later MuJoCo will not read; this MuJoCo reads it, so nothing is lost.
        warnings.filterwarnings("ignore", "(?s).*deprecated")
        spec = mujoco.MjSpec.from_file(str(file))
        for geom in spec.geoms:
            if geom.name in ignored:
                spec.delete(geom)
        name_elements(spec)
        fold_flags(spec)
        _find_files(spec, [file.parent, *folders])
        spec.compiler.saveinertial = has_inertias
        model = _compile(spec)
        root = ElementTree.fromstring(spec.to_xml())
    if move_planes(root, model):
        model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
    if root.get("model") == "MuJoCo Model":  # MuJoCo's name for a model without one
        del root.attrib["model"]
    _write_options(root, model, has_integrator=has_integrator)
    if has_inertias:
        for compiler in root.iter("compiler"):  # the bounds are in the inertias; bodies that carry a joint get none
            compiler.attrib = {key: each for key, each in compiler.attrib.items() if not key.startswith("bound")}
    _write_inertias(root, model)
    _write_surfaces(root, model)
    complete_vectors(root)
    _write_actuators(root, model)
    _write_equalities(root, model)
    write_servos(root, model)
    arrange_joints(root, model)
    return NormalMJCF(text=ElementTree.tostring(root, encoding="unicode"), model=model)


def _compile(spec: Any) -> Any:
    """Return the compiled model, without sensors that name nothing: MuJoCo refuses them, and no sensor is simulated."""
    while True:
        try:
            return spec.compile()
        except ValueError as error:
            found = re.search(r"sensorized object\s+Element name '.*?', id (\d+)", str(error))
            if found is None:
                raise
            spec.delete(spec.sensors[int(found.group(1))])


def name_elements(spec: Any) -> None:
    """Name the elements that a file leaves without a name, so that MuJoCo's model and Newton's have the same names.

    Bodies, joints and geoms get the names that Newton's importer gives them: `body_2`, `thigh_joint_0`, `foot_geom_1`.
    An actuator gets the name of what it acts on, or its number if another one has this name.
    """
    taken = {each.name for each in [*spec.bodies, *spec.joints, *spec.geoms]}
    for index, body in enumerate(spec.bodies[1:]):
        body.name = body.name or _free(f"body_{index}", taken)
        for number, joint in enumerate(body.joints):
            is_free = joint.type == mujoco.mjtJoint.mjJNT_FREE
            joint.name = joint.name or _free(f"{body.name}_{'freejoint' if is_free else f'joint_{number}'}", taken)
    for body in spec.bodies:
        for number, geom in enumerate(body.geoms):
            geom.name = geom.name or _free(f"{body.name}_geom_{number}", taken)
    for index, tendon in enumerate(spec.tendons):
        tendon.name = tendon.name or f"tendon_{index}"
    taken = {actuator.name for actuator in spec.actuators}
    for index, actuator in enumerate(spec.actuators):
        if not actuator.name:
            name = actuator.target if actuator.target not in taken else f"actuator_{index}"
            actuator.name = _free(name, taken)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _find_files(spec: Any, folders: Sequence[Path]) -> None:
    own = {"mesh": spec.meshdir, "texture": spec.texturedir}
    for kind, elements in (("mesh", [*spec.meshes, *spec.hfields, *spec.skins]), ("texture", spec.textures)):
        for element in elements:
            within = [own[kind], getattr(element.compiler, f"{kind}dir", "")] if kind == "mesh" else [own[kind]]
            find = partial(_find, folders=folders, within=within, strip=spec.strippath)
            element.file = find(element.file)
            if kind == "texture" and any(element.cubefiles):
                element.cubefiles = [find(name) for name in element.cubefiles]
    spec.meshdir = spec.texturedir = ""
    spec.strippath = False


def _find(name: str, folders: Sequence[Path], within: Sequence[str], *, strip: bool) -> str:
    """Return the first file that exists; the name itself if there is none, since MuJoCo then names it in its error."""
    if not name:
        return name
    stem = Path(name.replace("\\", "/")).name if strip else name
    candidates = [folder / inner / stem for folder in folders for inner in (*within, "")]
    return next((str(each.resolve()) for each in candidates if each.is_file()), name)


def _write_options(root: ElementTree.Element, model: Any, *, has_integrator: bool) -> None:
    """Write the options that Newton would otherwise choose itself: MuJoCo leaves out what equals its own default.

    A file that states no integrator gets Newton's, implicitfast: with MuJoCo's, Euler, drives are not implicit.
    """
    option = root.find("option")
    if option is None:
        option = ElementTree.SubElement(root, "option")
    if has_integrator and model.opt.integrator == int(mujoco.mjtIntegrator.mjINT_EULER):
        option.set("integrator", "Euler")
    if model.opt.solver == int(mujoco.mjtSolver.mjSOL_PGS):
        option.attrib.pop("solver", None)  # Newton refuses it, since MuJoCo Warp has none
        option.set("constraint_solver", str(model.opt.solver))
    flag = option.find("flag")
    if flag is None:
        flag = ElementTree.SubElement(option, "flag")
    is_off = model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)
    flag.set("multiccd", "disable" if is_off else "enable")


def _write_inertias(root: ElementTree.Element, model: Any) -> None:
    for body in root.iter("body"):
        inertial = body.find("inertial")
        if inertial is not None:
            compiled = model.body(body.get("name"))
            values = {"mass": compiled.mass, "pos": compiled.ipos, "quat": compiled.iquat}
            inertial.attrib = {key: text_of(value) for key, value in values.items()}
            inertial.set("diaginertia", text_of(compiled.inertia))


def _write_actuators(root: ElementTree.Element, model: Any) -> None:
    """Write what Newton would take from the default of another kind of actuator: the input of a DC motor, `actdim`."""
    for index, element in enumerate(root.iterfind("actuator/*")):
        if model.actuator_gaintype[index] == int(mujoco.mjtGain.mjGAIN_DCMOTOR):
            element.set("input", _INPUTS.get(int(model.actuator_ctrlspec[index]), element.get("input", "voltage")))
        elif count := int(model.actuator_actnum[index]):
            element.set("actdim", str(count))


def _write_equalities(root: ElementTree.Element, model: Any) -> None:
    """Leave out equalities of a body with itself, which hold nothing: Newton refuses them. Hold bodies, not sites."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for group in root.iterfind("equality"):  # MuJoCo writes one
        for row, element in enumerate(list(group)):
            if is_void(model, row):
                group.remove(element)
            elif "site1" in element.attrib and _is_open(element, model, data):
                _hold_bodies(element, model)


def _is_open(element: ElementTree.Element, model: Any, data: Any) -> bool:
    first, second = (model.site(element.get(key)).id for key in ("site1", "site2"))
    places = data.site_xpos if element.tag == "connect" else np.hstack([data.site_xpos, data.site_xmat])
    return bool(np.abs(places[first] - places[second]).max() > _COINCIDENT)


def _hold_bodies(element: ElementTree.Element, model: Any) -> None:
    """Replace the sites of an equality by points of their bodies: Newton takes the second site to be at the first.

    A connection has one point in MJCF, where all joints are at zero; a weld without a torque is one with two.
    """
    sites = [model.site(element.attrib.pop(key)) for key in ("site1", "site2")]
    first, second = (from_mujoco(site.quat) for site in sites)
    turn = np.roll(product(first, conjugate(second)), 1)
    if element.tag == "connect":
        element.tag = "weld"
        element.set("torquescale", "0")
    element.attrib |= {f"body{side}": model.body(int(each.bodyid[0])).name for side, each in enumerate(sites, 1)}
    element.attrib |= {"anchor": text_of(sites[1].pos), "relpose": text_of(np.append(sites[0].pos, turn))}


def _write_surfaces(root: ElementTree.Element, model: Any) -> None:
    for field in root.iterfind("asset/hfield[@file]"):
        compiled = model.hfield(field.get("name") or Path(field.get("file", "")).stem)
        field.set("nrow", str(int(compiled.nrow[0])))
        field.set("ncol", str(int(compiled.ncol[0])))
    for mesh in root.iterfind("asset/mesh[@normal]"):
        if len(mesh.get("normal", "").split()) != len(mesh.get("vertex", "").split()):
            del mesh.attrib["normal"]
