"""Passports of policies: what a network reads and what its actions mean, as JSON in its ONNX file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
from pippin import ComponentConfig, ConfigError, Simulation, SimulationConfig
from pippin.arrays import on_host
from pippin.config import unstructure
from pippin.extras import import_library

from pippin_task.all_terms import make_term
from pippin_task.config import ObservationConfig, TaskConfig
from pippin_task.events.configs import JointStartConfig
from pippin_task.task import Task
from pippin_task.terms import Term

KEY = "pippin.passport"
"""Key of the metadata of an ONNX file."""

VERSION = 1
"""Version of the keys; a reader of another version refuses."""

_STEPS = 6
"""Control steps of the record that lets a reader check itself."""

_MOST = 4000
"""Numbers of the record's observations beyond which it is shorter, since images are wide."""

_READ = ("type", "unit", "labels", "recipe", "clip", "scale", "history")
"""Keys of a term of observations that change what a network reads."""

_LEFT_OUT = ("rewards", "terminations", "events", "curricula", "metrics", "symmetry")
"""Tables of a task that no policy reads."""

Passport = dict[str, Any]
"""The keys of a passport, as JSON has them: see the page *Run a policy on a robot*."""


def write_passport(
    file: Path, passport: Passport, inputs: np.ndarray | None = None, outputs: np.ndarray | None = None
) -> None:
    """Write a passport into an ONNX file, with a row of its observations and the actions that the network gives.

    Args:
        file: The ONNX file, which is written anew.
        passport: The passport, as `passport_of` returns it.
        inputs: What turns the observations into those of the network, shape [observations, numbers of the network],
            which the new file contains; by default they are the same.
        outputs: What turns the numbers of the network into actions, shape [numbers of the network, actions], likewise.

    Raises:
        ConfigError: The network has not one input and one output of these widths.
        PluginError: The extra `policy` is not installed.
    """
    onnx = import_library("onnx", "policy")
    model = onnx.load(file)
    if inputs is not None and outputs is not None:
        _enclose(onnx, model.graph, inputs, outputs)
    evaluator = import_library("onnx.reference", "policy").ReferenceEvaluator(model)
    rows = np.array(passport["record"]["observations"], dtype=np.float32)
    weights = {each.name for each in model.graph.initializer}
    first, *states = [each for each in model.graph.input if each.name not in weights]
    given = {first.name: rows}
    for each in states:  # each row is the first of an episode
        shape = [dim.dim_value or len(rows) for dim in each.type.tensor_type.shape.dim]
        given[each.name] = np.zeros(shape, dtype=np.float32)
    (outcome, *_) = evaluator.run(None, given)
    whole = passport | {"network": np.asarray(outcome, dtype=np.float32).reshape(len(rows), -1).tolist()}
    kept = {each.key: each.value for each in model.metadata_props}
    onnx.helper.set_model_props(model, kept | {KEY: json.dumps(whole | {"digest": digest_of(whole)})})
    file.write_bytes(model.SerializeToString(deterministic=True))


def _enclose(onnx: Any, graph: Any, inputs: np.ndarray, outputs: np.ndarray) -> None:
    """Put a product with a matrix before a network, and one behind it."""
    weights = {each.name for each in graph.initializer}
    ends = [*(each for each in graph.input if each.name not in weights), *graph.output[:1]]
    found = [[each.dim_value for each in end.type.tensor_type.shape.dim[1:]] for end in ends]
    wanted = [[inputs.shape[1]], [outputs.shape[0]]]
    if len(found) != 2 or any(own not in ([0], width) for own, width in zip(found, wanted, strict=True)):
        shown = ", ".join(f"{end.name} {shape}" for end, shape in zip(ends, found, strict=True))
        raise ConfigError(f"path: the network has {shown}, and its policy is said to have {wanted}; export it anew")
    helper, names = onnx.helper, ("pippin_observations", "pippin_actions")
    values = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", width])
        for name, width in zip(names, (inputs.shape[0], outputs.shape[1]), strict=True)
    ]
    tensors = [
        onnx.numpy_helper.from_array(np.asarray(matrix, np.float32), name)
        for name, matrix in (("pippin_inputs", inputs), ("pippin_outputs", outputs))
    ]
    nodes = [
        helper.make_node("MatMul", [names[0], "pippin_inputs"], [ends[0].name]),
        *graph.node,
        helper.make_node("MatMul", [ends[1].name, "pippin_outputs"], [names[1]]),
    ]
    others = [each for each in graph.input if each.name in weights]
    whole = helper.make_graph(nodes, graph.name, [values[0], *others], values[1:], [*graph.initializer, *tensors])
    graph.CopyFrom(whole)


def read_passport(file: Path) -> Passport | None:
    """Return the passport of an ONNX file; None if it has none.

    Args:
        file: The ONNX file.

    Raises:
        ConfigError: The file cannot be read; or its passport is damaged, was changed, or is of another version.
        PluginError: The extra `policy` is not installed.
    """
    text = metadata_of(file).get(KEY)
    if text is None:
        return None
    try:
        passport = json.loads(text)
        found, digest = passport["version"], passport.get("digest")
    except (ValueError, TypeError, LookupError) as error:
        raise ConfigError(f"path: the passport of '{file}' is damaged ({error}); export the policy anew") from error
    if found != VERSION:
        raise ConfigError(f"path: the passport of '{file}' has version {found!r}, and this Pippin reads {VERSION}")
    if digest != digest_of(passport):
        raise ConfigError(f"path: the passport of '{file}' was changed after it was written; export the policy anew")
    return passport


def metadata_of(file: Path) -> dict[str, str]:
    """Return the metadata of an ONNX file; errors are those of `read_passport`."""
    onnx = import_library("onnx", "policy")
    try:
        model = onnx.load(file, load_external_data=False)
    except Exception as error:  # that of a library below
        raise ConfigError(f"path: '{file}' is not a readable ONNX file: {error}") from error
    return {each.key: each.value for each in model.metadata_props}


def digest_of(passport: Passport) -> str:
    """Return the digest of all other keys of a passport."""
    keys = {key: value for key, value in passport.items() if key != "digest"}
    return hashlib.sha256(json.dumps(keys, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def passport_of(config: SimulationConfig, group: str, **trained: Any) -> Passport:
    """Return the passport of policies that read a group of observations of a task.

    One world is built without noise, delays, events, rewards and ends, and takes a few steps of random actions: what a
    robot would measure, the observations and the targets are the record by which a reader checks itself.

    Args:
        config: The file of the task.
        group: Name of the group.
        **trained: What the passport says of the training, as JSON has it.
    """
    with Simulation(_clean(config)) as simulation:
        passport = described(simulation, group)
        record = _record(simulation, passport, group)
    for term, (label, choice) in zip(passport["observations"], config.task.observations[group].items(), strict=True):
        term |= {"label": label, "delay": list(choice.delay), "noise": choice.noise, "noise_std": choice.noise_std}
    delay = {"action_delay": list(config.task.action_delay)}
    return passport | delay | {"trained": trained, "record": record}


def described(simulation: Any, group: str) -> Passport:
    """Return what a simulation says of a group of observations and of its actions, before its first step."""
    task, model = simulation.task, simulation.model
    names, coordinates, dofs = task.context("passport").joints((".*",))
    rows = on_host(coordinates)[0].tolist(), on_host(dofs)[0].tolist()
    terms = list(_observed(task, group))
    bodies = [each["recipe"]["body"] for each in terms if each["recipe"] and "body" in each["recipe"]]
    for each in terms:
        if (each["recipe"] or {}).get("body") not in (None, *bodies[:1]):
            each["recipe"] = None  # one body has the robot's inertial unit; the numbers of another one are given
    free = on_host(model.joint_type)[: int(on_host(model.joint_world_start)[1])] == int(newton.JointType.FREE)
    low, high, start = (on_host(each) for each in (model.joint_limit_lower, model.joint_limit_upper, model.joint_q))
    joints = [
        {"name": name, "lower": _finite(low[dof]), "upper": _finite(high[dof]), "start": float(start[coordinate])}
        for name, coordinate, dof in zip(names, *rows, strict=True)
    ]
    settings = simulation.config.simulation
    return {
        "version": VERSION,
        "pippin": version("pippin"),
        "joints": joints,
        "body": bodies[0] if bodies else None,
        "floating": bool(free.any()),
        "control_dt": float(simulation.control_dt),
        "physics": {"dt": settings.dt, "substeps": settings.substeps, "solver": simulation.config.solver.type},
        "observations": terms,
        "actions": [
            {"label": label, "type": task.config.actions[label].type, "labels": list(each.labels), "recipe": said(each)}
            for label, each in task.actions.items()
        ],
        "actuators": {label: _actuated(each) for label, each in simulation.actuators.items()},
        "commands": {
            label: {"labels": list(each.labels), "unit": each.unit, **unstructure(task.config.commands[label])}
            for label, each in task.commands.items()
        },
    }


def differences(passport: Passport, present: Passport) -> Iterator[str]:
    """Yield in what a simulation differs from the passport of its policy, such that the network would misread it.

    Noise, delays, gains, the solver and the names of terms may differ.

    Args:
        passport: The passport of the policy.
        present: What the simulation says, as `described` returns it.
    """
    if not np.isclose(passport["control_dt"], present["control_dt"], rtol=1e-3):
        yield f"a control step of {passport['control_dt']:g} s, here {present['control_dt']:g} s"
    for kind, keys in (("observations", _READ), ("actions", ("type", "labels", "recipe"))):
        if len(passport[kind]) != len(present[kind]):
            yield f"{len(passport[kind])} terms of {kind}, here {len(present[kind])}"
            continue
        for then, now in zip(passport[kind], present[kind], strict=True):
            for key in keys:
                yield from _changes(f"{kind}.{then['label']}.{key}", then[key], now[key])


def said(term: Term) -> Mapping[str, Any] | None:
    """Return the recipe of a term; None if its own class has none."""
    return term.recipe() if "recipe" in vars(type(term)) else None


def _clean(config: SimulationConfig) -> SimulationConfig:
    """Return a file with one world, and of its task what a policy reads and does."""
    task = config.task
    assert isinstance(task, TaskConfig)
    groups = {name: {label: _exact(each) for label, each in terms.items()} for name, terms in task.observations.items()}
    empty: dict[str, Any] = {key: {} for key in _LEFT_OUT}
    own = attrs.evolve(task, observations=groups, action_delay=(0, 0), solvers=(), autoreset="disabled", **empty)
    one = attrs.evolve(config.unobserved(), scene=attrs.evolve(config.scene, worlds=1))
    return one.with_tables(task=own, policy=None)


def _exact(config: ObservationConfig) -> ObservationConfig:
    choice = config.of
    if getattr(choice.config, "offsets", None) is not None:  # errors of encoders, which a robot has in its readings
        choice = attrs.evolve(choice, config=attrs.evolve(choice.config, offsets=None))
    return attrs.evolve(config, of=choice, noise=0.0, noise_std=0.0, delay=(0, 0))


def _observed(task: Task, group: str) -> Iterator[dict[str, Any]]:
    """Yield what a passport says of each term of a group."""
    configs = task.config.observations[group].items()
    for (label, config), part in zip(configs, task.observations[group].parts, strict=True):
        _, quantity, columns, history = part
        yield {
            "label": label,
            "type": config.of.type,
            "unit": quantity.unit,
            "labels": [quantity.labels[column] for column in columns],
            "columns": columns,
            "recipe": said(quantity),
            "clip": None if config.clip is None else list(config.clip),
            "scale": config.scale,
            "history": history,
        }


def _actuated(group: Any) -> dict[str, Any]:
    """Return the settings of an actuator group, and its parameters of each joint of the first world."""
    numbers = {name: group.get(name).numpy()[0].tolist() for name in getattr(group, "parameters", ())}
    joints = list(getattr(group, "joint_labels", ()))
    return {"joints": joints, "parameters": numbers, "settings": unstructure(getattr(group, "config", {}))}


def _record(simulation: Any, passport: Passport, group: str) -> dict[str, Any]:
    """Return some steps of random actions: what a robot measures, the observations, the actions and the targets."""
    task, state = simulation.task, simulation.state
    values = task.observations[group].values
    if passport["joints"]:  # else clips, limits and offsets would not show
        choice = ComponentConfig(type="joints", config=JointStartConfig(position=(-0.4, 0.4), velocity=(-3.0, 3.0)))
        task.events["record"] = make_term("event", choice, task.context("record"), "record", "record")
    simulation.reset()
    coordinates, dofs = (on_host(each)[0] for each in task.context("passport").joints((".*",))[1:])
    body = None if passport["body"] is None else simulation.model.body_label.index(passport["body"])
    draws = np.random.default_rng(0).normal(0.0, 0.5, (_STEPS, len(task.action_labels)))
    found: dict[str, list[Any]] = {key: [] for key in ("measured", "observations", "actions", "targets")}
    for action in draws[: max(1, min(_STEPS, _MOST // values.shape[1]))].astype(np.float32):
        seen = {
            "positions": on_host(state.joint_q)[coordinates],
            "velocities": on_host(state.joint_qd)[dofs],
            "commands": {label: on_host(each.value)[0] for label, each in task.commands.items()},
            "given": dict(_given(task, passport, group)),
        }
        if body is not None:
            rotation, turning = on_host(state.body_q)[body, 3:], on_host(state.body_qd)[body, 3:]
            seen |= {"orientation": rotation, "angular_velocity": _in_body(rotation, turning)}
        found["measured"].append(_plain(seen))
        found["observations"].append(on_host(values)[0].tolist())
        found["actions"].append(action.tolist())
        task.episodes.action.assign(action[None])
        simulation.step()
        state = simulation.state
        found["targets"].append(_plain(dict(_targets(simulation, passport))))
    return found


def _given(task: Task, passport: Passport, group: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the numbers of the terms without a recipe, by label."""
    for term, (label, quantity, columns, _) in zip(
        passport["observations"], task.observations[group].parts, strict=True
    ):
        if term["recipe"] is None:
            yield label, on_host(quantity.values)[0][columns]


def _targets(simulation: Any, passport: Passport) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the targets of each action that has a recipe, by label."""
    for action in passport["actions"]:
        if recipe := action["recipe"]:
            yield action["label"], on_host(getattr(simulation.actuators[recipe["actuator"]], recipe["target"]))[0]


def _in_body(rotation: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return a vector of the world in the axes of a body, by its quaternion x, y, z, w."""
    axis, w = rotation[:3], rotation[3]
    return vector - 2.0 * w * np.cross(axis, vector) + 2.0 * np.cross(axis, np.cross(axis, vector))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return np.asarray(value, dtype=np.float32).tolist()


def _finite(value: float) -> float | None:
    """Return a limit of a joint; None without one."""
    return float(value) if abs(value) < 1e6 else None


def _changes(place: str, then: Any, now: Any) -> Iterator[str]:
    """Yield the places at which two values differ, numbers by more than single precision does."""
    if isinstance(then, Mapping) and isinstance(now, Mapping) and then.keys() == now.keys():
        for key in then:
            yield from _changes(f"{place}.{key}", then[key], now[key])
    elif not _alike(then, now):
        yield f"{place} = {_shown(then)}, here {_shown(now)}"


def _alike(then: Any, now: Any) -> bool:
    if isinstance(then, float) and isinstance(now, float | int):
        return bool(np.isclose(then, now, rtol=1e-5, atol=1e-6))
    if isinstance(then, Sequence) and isinstance(now, Sequence) and not isinstance(then, str):
        return len(then) == len(now) and all(map(_alike, then, now))
    return bool(then == now)


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
