"""Passports by the word of other programs, in the keys of a passport of Pippin; what is not said is `...`."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pippin import ConfigError, did_you_mean
from pippin.config import toml_text
from pippin.extras import import_library
from pippin_task import read_passport

from .formats import FORMATS

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
"""Quantities and actions of Pippin, with keys of their tables, by the functions and classes of Isaac Lab."""


def foreign_passport(policy: Path, beside: Path | None = None, motors: Sequence[str] = ()) -> dict[str, Any] | None:
    """Return what another program says of a policy, and in `missing` the key paths of the rest; None if none is known.

    Args:
        policy: The ONNX file.
        beside: The file that the program wrote beside it; then that file alone counts.
        motors: Names of the joints by the numbers of their motors, for a program that has only these.

    Raises:
        ConfigError: A file, or what it says, cannot be read.
        PluginError: The extra `policy` is not installed.
    """
    if read_passport(policy) is not None:
        return None
    model = import_library("onnx", "policy").load(policy, load_external_data=False)
    metadata = {} if beside else {each.key: each.value for each in model.metadata_props}
    document = None if beside is None else _document(beside)
    for program, read in FORMATS.items():
        try:
            if (raw := read(metadata, document)) is not None:
                said = _passport(raw, motors)
                return {"program": program, **said, "missing": list(_unsaid(said))}
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else error
            raise ConfigError(f"policy: '{beside or policy}' is of {program}: {reason}; export it anew") from error
    if beside is not None:
        raise ConfigError(f"--from: '{beside}' is of none of {', '.join(FORMATS)}; name the file of one")
    return None


def task_text(said: dict[str, Any], robot: str) -> str:
    """Return the file of a task as another program says it; what it does not say, or no file says, has the value "?".

    Args:
        said: What the program says, as `foreign_passport` returns it.
        robot: The file of the robot.
    """
    dt, control_dt, gains = said["physics"]["dt"], said["control_dt"], said["actuators"]["robot"]["parameters"]
    starts = {each["name"]: each["start"] for each in said["joints"]}
    terms, actions, driven = {}, {}, list[str]()
    for each in said["observations"]:
        of = {"type": each["type"], **each["settings"]} | ({"joints": each["labels"]} if each["labels"] else {})
        scale = 1.0 if isinstance(each["scale"], list) else each["scale"]  # the network takes several over
        terms[each["label"]] = {"of": of, "scale": scale} | {key: each[key] for key in ("clip", "history", "delay")}
    for each in said["actions"]:
        law, names = each["recipe"], each["labels"]
        rows = {"initial": [starts[name] for name in names], "zero": [0.0] * len(names)}
        offset = next((word for word, row in rows.items() if row == law["offset"]), ...)
        scale = dict(zip(names, law["scale"], strict=True)) if isinstance(law["scale"], list) else law["scale"]
        keys = {"scale": scale, "clip": law["clip"] and ..., "offset": None if "velocity" in each["type"] else offset}
        actions[each["label"]] = {"type": each["type"], "actuator": "robot", **keys}
        driven += names
    places = {name: place for place, name in enumerate(starts) if name in driven}
    group = {key: row if row is ... else {name: row[at] for name, at in places.items()} for key, row in gains.items()}
    tables = {
        "simulation": {"dt": dt, "decimation": ... if ... in (dt, control_dt) else round(control_dt / dt)},
        "scene": {"assets": [{"path": robot, "joint_positions": starts}]},
        "actuators": {"robot": {"type": "pd", "joints": driven, **group}},
        "task": {key: said[key] for key in ("action_delay", "commands")}
        | {"actions": actions, "observations": {"policy": terms}},
    }
    return toml_text(_plain(tables))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if each is not None}
    return [_plain(each) for each in value] if isinstance(value, list) else "?" if value is ... else value


def _unsaid(said: Any, place: str = "") -> Iterator[str]:
    for key, value in said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, list) else ():
        own = place + str(value.get("label", key) if isinstance(value, dict) else key)
        yield from [own] if value is ... else _unsaid(value, f"{own}.")


def _document(file: Path) -> Any:
    loader: Any = type("Loader", (yaml.SafeLoader,), {})  # these programs write slices and tuples as Python's own
    loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda own, _, node: own.construct_sequence(node))
    try:
        return yaml.load(file.read_text(encoding="utf-8"), loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"--from: '{file}' cannot be read: {error}; name the file of the other program") from error


def _passport(raw: Mapping[str, Any], motors: Sequence[str]) -> dict[str, Any]:
    ids, unknown = raw["joints"], {} if motors or isinstance(raw["joints"][0], str) else {"motors": ...}
    if motors and (isinstance(ids[0], str) or len(motors) != max(ids) + 1):
        raise ValueError(f"motors: {len(motors)} names, and its joints are {ids}; name the motors from 0 to the last")
    names = [motors[each] if motors else f"motor {each}" if unknown else each for each in ids]
    start, kp, kd = rows = [raw.get(key, ...) for key in ("start", "kp", "kd")]
    if any(row is not ... and len(row) != len(names) for row in rows):
        raise ValueError(f"the positions or gains are not those of {len(names)} joints")
    return {
        "rounding": raw.get("rounding", {}),
        "control_dt": raw.get("control_dt", ...),
        "physics": {"dt": raw.get("dt", ...)},
        "layout": raw.get("layout", "terms"),
        **unknown,
        "joints": [{"name": name, "start": ... if start is ... else start[i]} for i, name in enumerate(names)],
        **{kind: [_part(kind, each, names) for each in raw[kind]] for kind in ("observations", "actions")},
        "action_delay": ...,
        "actuators": {"robot": {"joints": names, "parameters": {"kp": kp, "kd": kd}}},
        "commands": {label: {"type": ...} | own for label, own in raw["commands"].items()},
    }


def _part(kind: str, raw: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    known, ids = _WORDS[kind], raw.get("joints")
    if raw["name"] not in known:
        raise ValueError(f"{kind}.{raw['label']}: {raw['name']!r} is unknown{did_you_mean(raw['name'], known)}")
    settings = {key: raw.get(key, value) for key, value in known[raw["name"]].items()}
    own = names if not ids or None in ids else [each if isinstance(each, str) else names[each] for each in ids]
    kept = own if "joint" in raw["name"].lower() else []  # a slice, which is three times nothing, is all of them
    law = {key: raw.get(key, ...) for key in ("scale", "offset", "clip")} | {"smoothing": 0.0}
    meaning = {"recipe": law} if kind == "actions" else {"settings": settings, **_reading(raw)}
    return {"label": raw["label"], "type": settings.pop("type"), "labels": kept, **meaning}


def _reading(raw: Mapping[str, Any]) -> dict[str, Any]:
    scale, clip, history, delay = (raw.get(key, ...) for key in ("scale", "clip", "history_length", "delay"))
    if not raw.get("flatten_history_dim", True) and history > 1:
        raise ValueError(f"observations.{raw['label']}: its {history:g} readings are no row (flatten_history_dim)")
    same = scale[0] if isinstance(scale, list) and len(set(scale)) == 1 else scale
    bounds = None if clip not in (None, ...) and all(map(math.isinf, clip)) else clip
    count = history if history is ... else max(1, int(history))
    return {"scale": 1.0 if same is None else same, "clip": bounds, "history": count, "delay": delay}
