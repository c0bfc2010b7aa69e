"""Run a policy that Pippin trained, on a robot or anywhere else: one file, NumPy and onnxruntime, no Pippin.

    runner = Runner("policy.onnx", joints=["hip", "knee"], rate=50.0)
    runner.reset()
    while True:
        targets = runner.step({"positions": q, "velocities": qd, "commands": {"velocity": [0.5, 0.0, 0.0]}})
        send(targets["legs"])

What a step takes, in the order of `joints`, SI units throughout: `positions` [rad, m], `velocities` [rad/s, m/s]; of
the body `runner.passport["body"]`, `orientation` (a unit quaternion x, y, z, w, from its axes to the world's) and
`angular_velocity` [rad/s] in its own axes, as a gyroscope has it; `commands` by label; and in `given`, by label, the
numbers of terms that no formula says. What it returns: by label of the action, the targets of `runner.driven[label]`.

`python runner.py policy.onnx` prints what the policy needs, and checks it.
"""

import hashlib
import json
import math
import sys
from typing import Any

import numpy as np
import onnxruntime

KEY, VERSION = "pippin.passport", 1
FORMS = {"angle": np.asarray, "cosine": np.cos, "sine": np.sin}
BEYOND, LYING = 0.2, 1.0  # of a first reading: way beyond a limit [rad, m], and angle to the one of the training [rad]
single = np.float32


class RobotError(ValueError):
    """The policy is not for this robot, or its passport is damaged."""


class Runner:
    """A policy with all that stands between measurements and targets.

    Args:
        policy: The ONNX file.
        joints: Names of the joints in the robot's order: those of the passport, whole or their last part.
        rate: Frequency of the steps [Hz]; it must be that of the training within one percent.
        gains: By name of a parameter such as `kp`, the robot's value of each joint by its name; it must be that of the
            training within ten percent.
        given: Labels of the terms whose numbers each step gives.
        late: Control steps by which the readings of a term are made late, by label: 0, as a robot is late by itself.

    Raises:
        RobotError: One of these does not fit the passport; names it.
    """

    def __init__(self, policy, joints=None, rate=None, gains=None, given=(), late=None):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(policy), options, providers=["CPUExecutionProvider"])
        first, *states = self._session.get_inputs()
        shapes = {each.name: [1 if isinstance(size, str) else size for size in each.shape] for each in states}
        self._input, self._fresh = first.name, {name: np.zeros(shape, single) for name, shape in shapes.items()}
        self.passport = passport = _read(self._session.get_modelmeta().custom_metadata_map)
        names = [each["name"] for each in passport["joints"]]
        #: Names of the joints, in the order of the robot's numbers.
        self.joints: list[str] = list(names if joints is None else joints)
        columns = [_found(name, self.joints) for name in names]
        if rate is not None and not math.isclose(rate * passport["control_dt"], 1.0, rel_tol=0.01):
            raise RobotError(f"rate: the policy has {1.0 / passport['control_dt']:g} Hz, and the robot {rate:g} Hz")
        self._terms = [_TermReader(each, names) for each in passport["observations"]]
        labels = [term.label for term in self._terms]
        for label in {*given, *(late or {})} - {*labels, "*"}:
            raise RobotError(f"given, late: there is no term {label!r}; terms: {', '.join(labels)}")
        missing = [term.label for term in self._terms if not (term.kind or term.label in given or "*" in given)]
        if missing:
            raise RobotError(f"given: no formula says {', '.join(missing)}; name them, and hand numbers to each step")
        for each in passport["actions"]:
            if (each["recipe"] or {}).get("kind") not in ("targets", "gripper"):
                raise RobotError(f"actions.{each['label']}: {each['type']} needs a simulation; run it in Pippin")
        #: Names of the joints that each action drives, by label, in the order of its targets.
        self.driven: dict[str, Any] = {a["label"]: a["recipe"].get("joints", a["labels"]) for a in passport["actions"]}
        self._own = {label: [names.index(each) for each in own if each in names] for label, own in self.driven.items()}
        for name, values in (gains or {}).items():
            self._refuse_gains(name, values)
        self._columns, self._width = list(range(len(names))), len(names)  # those of the record
        self._check()
        self._columns, self._width = columns, len(self.joints)
        for term in self._terms:
            term.delay = (late or {}).get(term.label, 0)
        self.reset()

    def reset(self):
        """Begin an episode: no action was taken, no reading is kept, and the targets are those of the start."""
        actions = self.passport["actions"]
        self._actions = [np.zeros(sum(len(each["labels"]) for each in actions), single)] * 3  # the latest one first
        self._targets = {each["label"]: np.array(each["recipe"].get("start", ()), single) for each in actions}
        self._count, self._memory = 0, self._fresh
        for term in self._terms:
            term.readings = None

    def step(self, measured):
        """Return the targets for what was `measured`, by label of the action; see the module for both.

        Raises:
            RobotError: The first readings cannot be those of this robot; or numbers are missing or not finite.
        """
        return self.act(self._network(self.observe(measured)), measured)

    def _network(self, observations):
        action, *after = self._session.run(None, {self._input: observations[None], **self._memory})
        self._memory = dict(zip(self._memory, after, strict=False))
        return action.reshape(-1)

    def observe(self, measured):
        """Return the observations of what was measured, shape [width]; a RobotError names what is wrong in it."""
        seen = self._ordered(measured)
        if not self._count:
            self._refuse_first(seen)
        try:
            return np.concatenate([term.observe(self._numbers(term, seen)) for term in self._terms])
        except KeyError as missing:
            raise RobotError(f"measured: {missing} is missing, and the policy reads it") from None

    def act(self, action, measured):
        """Return the targets of an action of the network, shape [width], for what was `measured`."""
        action, first, seen = _finite("action", action), 0, self._ordered(measured)
        for each in self.passport["actions"]:
            numbers = action[first : first + len(each["labels"])]
            first += len(numbers)
            self._targets[each["label"]] = self._target(each, numbers, seen)
        self._actions = [action, *self._actions[:2]]
        self._count += 1
        return dict(self._targets)

    def _target(self, action, numbers, seen):
        recipe, label = action["recipe"], action["label"]
        if recipe["kind"] == "gripper":
            return np.array(recipe["open" if numbers[0] > 0.0 else "closed"], single)
        if recipe["clip"] is not None:
            numbers = np.clip(numbers, single(recipe["clip"][0]), single(recipe["clip"][1]))
        offset = seen["positions"][self._own[label]] if recipe["offset"] is None else recipe["offset"]  # None: steps
        target = np.asarray(offset, single) + np.array(recipe["scale"], single) * numbers
        return target + single(recipe["smoothing"]) * (self._targets[label] - target)

    def _numbers(self, term, seen):
        """Return the numbers of a term before clip and scale, from readings in the order of the passport."""
        recipe, kind, (last, before, earlier) = term.recipe, term.kind, self._actions
        if not kind:
            return seen["given"][term.label]
        if kind == "command":
            return seen["commands"][recipe["command"]]
        if kind == "joint-velocities":
            return seen["velocities"][term.joints]
        if kind == "joint-positions":
            return FORMS[recipe["form"]]((seen["positions"][term.joints] - term.offset) * term.factor)
        if kind == "gravity":
            return _matrix(seen["orientation"]).T @ term.gravity
        if kind == "angular-velocity":
            own, frame = seen["angular_velocity"], recipe["frame"]
            return own if frame == "body" else _in_frame(_matrix(seen["orientation"]), own, frame)
        if kind == "orientation":
            own = seen["orientation"] * (-1.0 if recipe["unique"] and seen["orientation"][3] < 0.0 else 1.0)
            return own if recipe["order"] == "xyzw" else np.roll(own, 1)
        if kind == "remaining-time":
            return np.array([(recipe["steps"] - self._count) * single(recipe["unit"])])
        if kind in ("last-action", "action-rate"):
            return last if kind == "last-action" else last - before
        if kind == "action-acceleration":
            return (last - before) - (before - earlier)
        raise RobotError(f"observations.{term.label}: unknown kind {kind!r}; take the newest runner")

    def _ordered(self, measured):
        """Return what was measured, its joints in the order of the passport, all in single precision."""
        seen: dict[str, Any] = {"commands": {}, "given": {}, **_finite("measured", measured)}
        for key in {"positions", "velocities"} & seen.keys():
            if seen[key].shape != (self._width,):
                raise RobotError(f"{key}: {self._width} numbers are wanted, got the shape {seen[key].shape}")
            seen[key] = seen[key][self._columns]
        return seen

    def _refuse_first(self, seen):
        """Refuse a first reading that this robot cannot have: other units, another zero, another order of numbers."""
        for joint, at in zip(self.passport["joints"], seen.get("positions", ()), strict=False):
            low, high = joint["lower"], joint["upper"]
            if (low is not None and at < low - BEYOND) or (high is not None and at > high + BEYOND):
                raise RobotError(f"positions: {joint['name']} at {at:g} is out of its limits; see unit, sign, zero")
        if "orientation" in seen:
            own, start = seen["orientation"], np.array(self.passport["record"]["measured"][0]["orientation"], single)
            if abs(float(np.linalg.norm(own)) - 1.0) > 0.01:
                raise RobotError(f"orientation: {own} is no unit quaternion x, y, z, w")
            if _matrix(own)[2] @ _matrix(start)[2] < math.cos(LYING):
                raise RobotError("orientation: the robot lies, and began upright in training; or this is w, x, y, z")

    def _refuse_gains(self, name, values):
        known = {}
        for group in self.passport["actuators"].values():
            known.update(zip(group["joints"], group["parameters"].get(name, ()), strict=False))
        for joint, value in values.items():
            own = [known[label] for label in known if joint in (label, label.rpartition("/")[2])]
            if not own or not math.isclose(own[0], value, rel_tol=0.1):
                raise RobotError(f"gains: {name} of {joint} is {value:g}, in training {own or 'not known'}")

    def _check(self):
        """Repeat the record of the passport: each observation, action and target must be the same."""
        record = self.passport["record"]
        rows = zip(*(record[key] for key in ("measured", "observations", "actions", "targets")), strict=True)
        self.reset()
        for number, (measured, row, action, targets) in enumerate(rows):
            found, first = self.observe(measured), 0
            for term in self._terms:
                part = slice(first, first := first + term.width)
                _compare(f"observations.{term.label}", number, found[part], row[part])
            self._memory = self._fresh  # as each row of the record is the first one
            _compare("network", number, self._network(found), self.passport["network"][number], 1e-4)
            for label, own in self.act(action, measured).items():
                _compare(f"actions.{label}", number, own, targets[label])


class _TermReader:
    """A term of the observations, with its last readings, the oldest first."""

    def __init__(self, said, names):
        self.label, self.delay, self.recipe = said["label"], 0, said["recipe"] or {}
        self.kind = self.recipe.get("kind")
        self.joints = [names.index(name) for name in self.recipe.get("joints", ())]
        self.offset, self.factor = (np.array(self.recipe.get(key, ()), single) for key in ("offset", "scale"))
        self.gravity = np.array(self.recipe.get("gravity", (0, 0, -1)), single)
        self.gravity = self.gravity / np.linalg.norm(self.gravity)
        self._clip, self._scale, self._history = said["clip"], single(said["scale"]), said["history"]
        self._chosen = said["columns"] if self.kind else slice(None)
        self.width = len(said["labels"]) * said["history"]

    def observe(self, numbers):
        numbers = np.asarray(numbers, single)[self._chosen]
        if self._clip is not None:
            numbers = np.clip(numbers, single(self._clip[0]), single(self._clip[1]))
        numbers = numbers * self._scale
        length = self._history + self.delay
        self.readings = [numbers] * length if self.readings is None else [*self.readings[1:], numbers]
        return np.concatenate(self.readings[: self._history])


def _read(metadata):
    if KEY not in metadata:
        raise RobotError(f"the policy has no passport ({KEY}); write one by `pippin deploy POLICY --file FILE`")
    try:
        passport = json.loads(metadata[KEY])
        version, digest = passport["version"], passport.pop("digest")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise RobotError(f"the passport is damaged: {error!r}") from error
    if version != VERSION:
        raise RobotError(f"version: the passport has {version!r}, and this runner reads {VERSION}")
    if digest != hashlib.sha256(json.dumps(passport, sort_keys=True, separators=(",", ":")).encode()).hexdigest():
        raise RobotError("digest: the passport was changed after it was written")
    return passport


def _finite(place, value) -> Any:
    if isinstance(value, dict):
        return {key: _finite(key, each) for key, each in value.items()}
    numbers = np.asarray(value, single)
    if not np.isfinite(numbers).all():
        raise RobotError(f"{place}: not finite: {numbers}")
    return numbers


def _found(name, joints):
    found = [column for column, own in enumerate(joints) if own in (name, name.rpartition("/")[2])]
    if len(found) != 1:
        raise RobotError(f"joints: {name.rpartition('/')[2]!r} is {len(found)} times among {', '.join(joints)}")
    return found[0]


def _compare(place, step, found, wanted, tolerance=2e-6):
    wanted = np.asarray(wanted, single)
    if np.shape(found) != wanted.shape or np.any(np.abs(found - wanted) > tolerance * np.maximum(1.0, np.abs(wanted))):
        raise RobotError(f"{place}: step {step} of the record has {wanted}, found {found}")


def _matrix(rotation):
    x, y, z, w = rotation
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], single)
    return np.eye(3, dtype=single) + single(2) * (w * across + across @ across)


def _in_frame(turn, vector, frame):
    """Return a vector of the body in the axes of the world, or in these turned about z by the body's heading."""
    if frame == "yaw":
        c, s = turn[:2, 0] / single(math.hypot(*turn[:2, 0]))
        turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]], single) @ turn
    return turn @ vector


def main(policy):
    """Check a policy, and print what it needs."""
    passport = Runner(policy, given="*").passport
    print(f"{policy}: the record of its passport is repeated")
    print(f"{1.0 / passport['control_dt']:g} Hz; joints: {', '.join(each['name'] for each in passport['joints'])}")
    for each in passport["observations"] + passport["actions"]:
        print(f"{each['label']}: {each['type']}, {', '.join(each['labels'])}")


if __name__ == "__main__":
    main(sys.argv[1])
