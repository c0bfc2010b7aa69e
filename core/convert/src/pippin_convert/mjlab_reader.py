"""Runs in an environment of mjlab, by its path: writes the settings of a task as JSON, and the files of its robot.

    python mjlab_reader.py NAME FOLDER

Neither Pippin nor its libraries are there. What crosses is JSON, in FOLDER/task.json.
"""

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree


def plain(value: Any) -> Any:
    """Return settings as JSON has them: a dataclass with its `type`, a function as the `function` module:name."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if callable(value):
        return {"function": f"{value.__module__}:{value.__qualname__}"}
    return repr(value)


def owned(pattern: str, names: list[str]) -> list[str]:
    """Return the names that a pattern of mjlab matches."""
    return [name for name in names if re.fullmatch(pattern, name)]


def actuator(config: Any, joints: list[str]) -> dict[str, Any]:
    """Return the settings of a group of actuators, and the joints that it drives."""
    names = [name for pattern in config.target_names_expr for name in owned(pattern, joints)]
    return {**plain(config), "joints": [name for name in joints if name in names]}


def entity(config: Any, folder: Path, flags: tuple[str, ...]) -> dict[str, Any]:
    """Write the file of a robot with all that mjlab changes in it, and return what the file does not tell."""
    import mujoco

    built = config.build()
    spec = built.spec
    groups = [] if config.articulation is None else config.articulation.actuators
    joints = list(built.joint_names)
    facts: dict[str, Any] = {
        "joints": joints,
        "bodies": list(built.body_names),
        "actuators": [actuator(group, joints) for group in groups],
        "inputs": {each.name: each.target for each in spec.actuators},
        "sites": {},
        "sensors": {},
        "geoms": {geom.name: geom.parent.name for geom in spec.geoms if geom.name},
        "soft_limits": 1.0 if config.articulation is None else config.articulation.soft_joint_pos_limit_factor,
    }
    for site in spec.sites:
        facts["sites"][site.name] = {"body": site.parent.name, "place": list(site.pos), "turn": list(site.quat)}
    for sensor in spec.sensors:
        kind = sensor.type.name.removeprefix("mjSENS_").lower()
        facts["sensors"][sensor.name] = {"type": kind, "of": sensor.objname}
    key = spec.compile().key("init_state").qpos.tolist() if spec.keys else []
    is_free = any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints)
    facts["is_free"] = is_free
    facts["initial"] = dict(zip(joints, key[7:] if is_free else key, strict=False))
    if is_free and key:
        root = next(joint.parent for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_FREE)
        root.pos, root.quat = key[:3], key[3:7]
    if any("BuiltinPosition" in group["type"] for group in facts["actuators"]):
        for each in list(spec.actuators):
            spec.delete(each)
    for each in [*spec.keys, *spec.sensors]:
        spec.delete(each)
    if "contact" in flags:
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    write_file(spec, folder)
    return facts


def write_file(spec: Any, folder: Path) -> None:
    """Write `scene.xml`, and the meshes and textures that it names below `assets`."""
    folder.mkdir(parents=True, exist_ok=True)
    root = ElementTree.fromstring(spec.to_xml())
    source = Path(spec.modelfiledir)
    for outer in list(root.iter("default")):  # MuJoCo writes some without a name below others, and does not read them
        for inner in [each for each in outer if each.tag == "default" and not each.get("class")]:
            outer.remove(inner)
            outer.extend(inner)
    for element in root.iter():
        if name := element.get("file"):
            of_kind = spec.texturedir if element.tag == "texture" else spec.meshdir
            found = next((data for key, data in spec.assets.items() if key.endswith(name)), None)
            target = folder / "assets" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((source / of_kind / name).read_bytes() if found is None else found)
    compiler = root.find("compiler")
    if compiler is not None:
        compiler.attrib |= {"meshdir": "assets", "texturedir": "assets"}
    ElementTree.ElementTree(root).write(folder / "scene.xml", encoding="unicode")


def main(name: str, folder: Path) -> None:
    """Write `task.json` and a folder with `scene.xml` for each robot."""
    import mjlab.tasks  # noqa: F401  (it registers the tasks)
    from mjlab.tasks.registry import list_tasks, load_env_cfg

    if name not in list_tasks():
        (folder / "task.json").write_text(json.dumps({"tasks": list_tasks()}))
        return
    config = load_env_cfg(name)
    flags = config.sim.mujoco.disableflags
    robots = {label: entity(each, folder / label, flags) for label, each in config.scene.entities.items()}
    (folder / "task.json").write_text(json.dumps({"settings": plain(config), "robots": robots}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
