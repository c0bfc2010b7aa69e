# ruff: noqa: D102  (a method is named after the function of mjlab whose twin it returns)
"""The twin of each term of mjlab that has one: observations, rewards, ends, events, curricula and metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .mjlab_scene import MjlabScene
from .written import NoTwinError

Params = Mapping[str, Any]
Tables = dict[str, dict[str, Any]]
"""Tables of one kind of term, by what follows the label of the original: nothing, if it is one alone."""


def _alone(table: dict[str, Any]) -> Tables:
    return {"": table}


class MjlabTerms:
    """Writes terms of mjlab as tables of Pippin, in a scene.

    Each method has the name of a function or class of mjlab, and takes its parameters. It raises `NoTwinError` for what
    it cannot write.
    """

    def __init__(self, scene: MjlabScene) -> None:
        self._scene = scene

    # Observations and what else is measured.

    def builtin_sensor(self, params: Params) -> Tables:
        kind, site, body = self._scene.sensor_of_file(params["sensor_name"])
        if kind == "gyro":
            return _alone({"type": "root-angular-velocity", "frame": "body", **body})
        if kind == "velocimeter":
            return _alone({"type": "root-linear-velocity", "frame": "body", **body, "offset": site["place"]})
        raise NoTwinError(f"a sensor {kind!r} of the file")

    def base_lin_vel(self, params: Params) -> Tables:
        return _alone(self._velocity("linear", params) | {"point": "origin"})

    def base_ang_vel(self, params: Params) -> Tables:
        return _alone(self._velocity("angular", params))

    def projected_gravity(self, params: Params) -> Tables:
        return _alone({"type": "projected-gravity", **self._scene.root(params)})

    def joint_pos_rel(self, params: Params) -> Tables:
        encoders = self._scene.encoders if params.get("biased") else None
        biased = {} if encoders is None else {"offsets": encoders}
        return _alone({"type": "joint-positions", **self._scene.joints(params), "relative": True, **biased})

    def joint_vel_rel(self, params: Params) -> Tables:
        return _alone({"type": "joint-velocities", **self._scene.joints(params)})

    def last_action(self, params: Params) -> Tables:
        if params.get("action_name") is not None:
            raise NoTwinError("of one action of several")
        return _alone({"type": "last-action"})

    def generated_commands(self, params: Params) -> Tables:
        return _alone({"type": "command", "command": self._scene.command(params)})

    def height_scan(self, params: Params) -> Tables:
        label, sensor = self._scene.sensor(params)
        missed = params.get("miss_value")
        missed = sensor["max_distance"] if missed is None else missed
        offset = {"offset": params["offset"]} if params.get("offset") else {}
        return _alone({"type": "height-scan", "sensor": label, "no_hit": missed, **offset})

    def foot_height(self, params: Params) -> Tables:
        return _alone(self._heights(params["sensor_name"]))

    def foot_air_time(self, params: Params) -> Tables:
        return _alone(self._reading(params, "air_time"))

    def foot_contact(self, params: Params) -> Tables:
        return _alone(self._reading(params, "in_contact"))

    def foot_contact_forces(self, params: Params) -> Tables:
        # The force on the ground there, and on the foot here.
        return _alone(self._reading(params, "net_force") | {"form": "signed-log", "factor": -1.0})

    def pole_angle_cos_sin(self, params: Params) -> Tables:
        joints = self._scene.joints(params)
        forms = {"cosine": "cosine", "sine": "sine"}
        return {end: {"type": "joint-positions", **joints, "form": form} for end, form in forms.items()}

    def motion_anchor_pos_b(self, params: Params) -> Tables:
        return _alone(self._anchor(params, form="pose"))

    def motion_anchor_ori_b(self, params: Params) -> Tables:
        return _alone(self._anchor(params, what="rotation", form="pose", order="rows"))

    def robot_body_pos_b(self, params: Params) -> Tables:
        return _alone({"type": "body-positions", **self._tracked(params)})

    def robot_body_ori_b(self, params: Params) -> Tables:
        return _alone({"type": "body-rotations", **self._tracked(params), "order": "rows"})

    # Rewards, without their weight.

    def track_linear_velocity(self, params: Params) -> Tables:
        velocity = self._velocity("linear", params) | {"point": "origin"}
        return _alone(self._track(velocity, params, "xy", "z"))

    def track_angular_velocity(self, params: Params) -> Tables:
        return _alone(self._track(self._velocity("angular", params), params, "z", "xy"))

    def upright(self, params: Params) -> Tables:
        quantity = {"type": "projected-gravity", **self._scene.body(params)}
        if names := params.get("terrain_sensor_names"):
            if len(names) > 1:
                raise NoTwinError("the ground below several sensors")
            label, _ = self._scene.sensor({"sensor_name": names[0]})
            quantity = {"type": "ground-normal", "sensor": label, **self._scene.body(params)}
        return _alone({"type": "exp", "of": quantity, "axes": "xy", "std": params["std"]})

    def posture(self, params: Params) -> Tables:
        return _alone(self._posture(params, params["std"]))

    def variable_posture(self, params: Params) -> Tables:
        slow, fast = params.get("walking_threshold", 0.5), params.get("running_threshold", 1.5)
        ranges = {"standing": {"high": slow}, "walking": {"low": slow, "high": fast}, "running": {"low": fast}}
        if params["std_walking"] == params["std_running"]:
            ranges = {"standing": {"high": slow}, "walking": {"low": slow}}
        speed = {"type": "command", "command": self._scene.command(params), "form": "speed"}
        return {
            name: self._posture(params, params[f"std_{name}"])
            | {"times": {"type": "inside", "weight": 1.0, "of": speed, **ends}}
            for name, ends in ranges.items()
        }

    def body_angular_velocity_penalty(self, params: Params) -> Tables:
        spin = {"type": "root-angular-velocity", **self._scene.body(params)}
        return _alone({"type": "l2", "of": spin, "axes": "xy"})

    def angular_momentum_penalty(self, params: Params) -> Tables:
        kind, body = self._scene.subtree(params["sensor_name"])
        if kind != "subtreeangmom":
            raise NoTwinError(f"a sensor {kind!r} of the file")
        return _alone({"type": "l2", "of": {"type": "angular-momentum", **body}})

    def joint_pos_limits(self, params: Params) -> Tables:
        quantity = {"type": "joint-positions", **self._scene.joints(params)}
        return _alone({"type": "outside", "of": quantity, "soft_limits": self._scene.soft_limits(params)})

    def action_rate_l2(self, params: Params) -> Tables:
        return _alone({"type": "l2", "of": "action-rate"})

    def action_acc_l2(self, params: Params) -> Tables:
        return _alone({"type": "l2", "of": "action-acceleration"})

    def joint_vel_l2(self, params: Params) -> Tables:
        return _alone({"type": "l2", "of": {"type": "joint-velocities", **self._scene.joints(params)}})

    def flat_orientation_l2(self, params: Params) -> Tables:
        return _alone({"type": "l2", "of": self.projected_gravity(params)[""], "axes": "xy"})

    def is_alive(self, params: Params) -> Tables:
        return _alone({"type": "alive"})

    def is_terminated(self, params: Params) -> Tables:
        return _alone({"type": "terminated"})

    def feet_clearance(self, params: Params) -> Tables:
        table = {"type": "clearance", "of": self._heights(params["height_sensor_name"])}
        table |= {"target": params["target_height"], **self._scene.points(params)}
        return _alone(table | self._gate(params, 0.01))

    def feet_swing_height(self, params: Params) -> Tables:
        label, _ = self._scene.sensor(params)
        table = {"type": "swing-height", "sensor": label, "of": self._heights(params["height_sensor_name"])}
        return _alone(table | {"target": params["target_height"], "first": True} | self._gate(params, 0.01))

    def feet_slip(self, params: Params) -> Tables:
        label, _ = self._scene.sensor(params)
        table = {"type": "slip", "sensor": label, **self._scene.points(params), "squared": True}
        return _alone(table | self._gate(params, 0.01))

    def soft_landing(self, params: Params) -> Tables:
        label, _ = self._scene.sensor(params)
        return _alone({"type": "landing", "sensor": label, "first": True} | self._gate(params, 0.05))

    def self_collision_cost(self, params: Params) -> Tables:
        label, sensor = self._scene.sensor(params)
        if not sensor["history_length"]:
            raise NoTwinError("a count of contacts, from a sensor without a history")
        by_partner = {"partners": True} if self._scene.is_of_itself(sensor) else {}
        threshold = params.get("force_threshold", 10.0)
        return _alone({"type": "contacts", "sensor": label, "threshold": threshold, "readings": True, **by_partner})

    def motion_global_anchor_position_error_exp(self, params: Params) -> Tables:
        return _alone({"type": "exp", "of": self._anchor(params), "std": params["std"]})

    def motion_global_anchor_orientation_error_exp(self, params: Params) -> Tables:
        return _alone({"type": "exp", "of": self._anchor(params, what="rotation"), "std": params["std"]})

    def motion_relative_body_position_error_exp(self, params: Params) -> Tables:
        return _alone(self._near(params))

    def motion_relative_body_orientation_error_exp(self, params: Params) -> Tables:
        return _alone(self._near(params, what="rotation"))

    def motion_global_body_linear_velocity_error_exp(self, params: Params) -> Tables:
        return _alone(self._near(params, what="linear-velocity", point="origin", frame="world"))

    def motion_global_body_angular_velocity_error_exp(self, params: Params) -> Tables:
        return _alone(self._near(params, what="angular-velocity", frame="world"))

    def cartpole_smooth_reward(self, params: Params) -> Tables:
        hinge = self._scene.joints({"asset_cfg": params["hinge_cfg"]})
        cart = self._scene.joints({"asset_cfg": params["cart_cfg"]})
        speed = _tolerance({"type": "joint-velocities", **hinge}, 5.0, 0.5)
        control = _tolerance("last-action", 1.0, 0.8, form="quadratic", times=speed)
        centred = _tolerance({"type": "joint-positions", **cart}, 2.0, 0.5, times=control)
        height = {"type": "joint-positions", **hinge, "form": "cosine"}
        return _alone({"type": "value", "factor": 0.5, "of": height, "target": -1.0, "times": centred})

    # Ends of episodes.

    def bad_orientation(self, params: Params) -> Tables:
        gravity = self.projected_gravity(params)[""]
        return _alone({"type": "outside", "of": gravity, "axes": "z", "high": -math.cos(params["limit_angle"])})

    def root_height_below_minimum(self, params: Params) -> Tables:
        height = {"type": "root-height", **self._scene.root(params)}
        return _alone({"type": "outside", "of": height, "low": params["minimum_height"]})

    def illegal_contact(self, params: Params) -> Tables:
        label, sensor = self._scene.sensor(params)
        threshold = params.get("force_threshold", 10.0) if sensor["history_length"] else 0.0
        history = {"history": True} if sensor["history_length"] else {}
        return _alone({"type": "contact", "sensor": label, "threshold": threshold, **history})

    def out_of_terrain_bounds(self, params: Params) -> Tables:
        if not self._scene.has_patches:
            return {}
        return _alone({"type": "out-of-bounds", "margin": params.get("margin", 0.3), **self._scene.root(params)})

    def bad_anchor_pos_z_only(self, params: Params) -> Tables:
        return _alone(_within(self._anchor(params), "z", params["threshold"]))

    def bad_anchor_ori(self, params: Params) -> Tables:
        return _alone(_within(self._anchor(params, what="gravity"), "z", params["threshold"]))

    def bad_motion_body_pos_z_only(self, params: Params) -> Tables:
        return _alone(_within(self._bodies(params), "z", params["threshold"]))

    # Metrics.

    def mean_action_acc(self, params: Params) -> Tables:
        return _alone({"type": "mean", "of": "action-acceleration", "form": "mean-absolute"})

    # Events.

    def reset_root_state_uniform(self, params: Params) -> Tables:
        speeds = {axis: each for axis, each in params.get("velocity_range", {}).items() if any(each)}
        moving = {"velocity": speeds} if speeds else {}
        return _alone({"type": "root", **self._scene.root(params), **params["pose_range"], **moving})

    def reset_joints_by_offset(self, params: Params) -> Tables:
        ranges = {"position": params["position_range"], "velocity": params["velocity_range"]}
        return _alone({"type": "joints", **self._scene.joints(params), **ranges})

    def reset_scene_to_default(self, params: Params) -> Tables:
        return {}

    def push_by_setting_velocity(self, params: Params) -> Tables:
        return _alone({"type": "push", "when": "interval", **self._scene.root(params), **params["velocity_range"]})

    def geom_friction(self, params: Params) -> Tables:
        axes, shared = params.get("axes") or [0], {"shared": True} if params.get("shared_random") else {}
        if params.get("operation", "abs") != "abs" or len(axes) > 1 or isinstance(params["ranges"], Mapping):
            raise NoTwinError("friction that is scaled, added, or of several axes at once")
        kind = {0: {}, 1: {"coefficient": "spin"}, 2: {"coefficient": "roll"}}[axes[0]]
        law = {"distribution": "log-uniform"} if params.get("distribution") == "log_uniform" else {}
        return _alone(
            {"type": "friction", **self._scene.shapes(params), **kind, "range": params["ranges"], **law, **shared}
        )

    def body_com_offset(self, params: Params) -> Tables:
        if params.get("operation", "add") != "add":
            raise NoTwinError("a centre of mass that is not added to")
        bodies = self._scene.patterns(params, "body_names")
        ranges = {"xyz"[int(axis)]: each for axis, each in params["ranges"].items()}
        return _alone({"type": "centre-of-mass", "bodies": bodies, **ranges})

    def encoder_bias(self, params: Params) -> Tables:
        low, high = params["bias_range"]
        return _alone({"type": "joint-offsets", "action": self._scene.position_action, "range": [-high, -low]})

    # Curricula.

    def commands_vel(self, params: Params) -> Tables:
        names = {"lin_vel_x": "x", "lin_vel_y": "y", "ang_vel_z": "yaw"}
        stages = [
            {"step": stage["step"], "numbers": {names[key]: each for key, each in stage.items() if key in names}}
            for stage in params["velocity_stages"]
        ]
        return _alone({"type": "stages", "of": f"commands.{self._scene.command(params)}", "stages": stages})

    def terrain_levels_vel(self, params: Params) -> Tables:
        if not self._scene.has_patches:
            return {}
        return _alone({"type": "terrain-levels", "command": self._scene.command(params)})

    # Parts of them.

    def _velocity(self, kind: str, params: Params) -> dict[str, Any]:
        return {"type": f"root-{kind}-velocity", "frame": "body", **self._scene.root(params)}

    def _track(self, velocity: dict[str, Any], params: Params, wanted: str, still: str) -> dict[str, Any]:
        law = {"type": "exp", "of": velocity, "std": params["std"]}
        rest = {**law, "weight": 1.0, "axes": still}
        return {**law, "axes": wanted, "target": self._scene.command(params), "times": rest}

    def _posture(self, params: Params, std: Any) -> dict[str, Any]:
        quantity = {"type": "joint-positions", **self._scene.joints(params), "relative": True}
        return {"type": "exp", "of": quantity, "std": std, "mean": True}

    def _heights(self, sensor: str) -> dict[str, Any]:
        label, found = self._scene.sensor({"sensor_name": sensor})
        names = {"mean": "mean", "min": "least", "max": "most"}
        if found.get("reduction") not in names:
            raise NoTwinError(f"heights with the reduction {found.get('reduction')!r}")
        return {
            "type": "height-over-ground",
            "sensor": label,
            "reduction": names[found["reduction"]],
            "no_hit": found["max_distance"],
            "clip": [0.0, found["max_distance"]],  # a site below the ground is at 0 there, as its rays meet nothing
        }

    def _reading(self, params: Params, output: str) -> dict[str, Any]:
        return {"type": "sensor", "sensor": self._scene.sensor(params)[0], "output": output}

    def _gate(self, params: Params, default: float) -> dict[str, Any]:
        if params.get("command_name") is None:
            return {}
        speed = {"type": "command", "command": self._scene.command(params), "form": "speed"}
        least = params.get("command_threshold", default)
        return {"times": {"type": "beyond", "weight": 1.0, "of": speed, "high": least}}

    def _anchor(self, params: Params, **keys: str) -> dict[str, Any]:
        return {"type": "motion-anchor", "command": self._scene.command(params), **keys}

    def _bodies(self, params: Params, **keys: str) -> dict[str, Any]:
        names = params.get("body_names") or self._scene.settings_of_command(params)["body_names"]
        bodies = self._scene.in_order(names)
        return {"type": "motion-bodies", "command": self._scene.command(params), "bodies": bodies, **keys}

    def _tracked(self, params: Params) -> dict[str, Any]:
        command = self._scene.settings_of_command(params)
        return {"bodies": self._scene.in_order(command["body_names"]), "reference": command["anchor_body_name"]}

    def _near(self, params: Params, **keys: str) -> dict[str, Any]:
        # The mean is over x, y and z of each body here, and over bodies there.
        return {"type": "exp", "of": self._bodies(params, **keys), "mean": True, "std": params["std"] / math.sqrt(3.0)}


def _tolerance(of: Any, margin: float, least: float, **keys: Any) -> dict[str, Any]:
    return {"type": "tolerance", "weight": 1.0, "of": of, "margin": margin, "least": least, **keys}


def _within(of: dict[str, Any], axes: str, size: float) -> dict[str, Any]:
    return {"type": "outside", "of": of, "axes": axes, "low": -size, "high": size}


OBSERVATIONS = (
    "base_ang_vel", "base_lin_vel", "builtin_sensor", "foot_air_time", "foot_contact", "foot_contact_forces",
    "foot_height", "generated_commands", "height_scan", "joint_pos_rel", "joint_vel_rel", "last_action",
    "motion_anchor_ori_b", "motion_anchor_pos_b", "pole_angle_cos_sin", "projected_gravity", "robot_body_ori_b",
    "robot_body_pos_b",
)  # fmt: skip
REWARDS = (
    "action_acc_l2", "action_rate_l2", "angular_momentum_penalty", "body_angular_velocity_penalty",
    "cartpole_smooth_reward", "feet_clearance", "feet_slip", "feet_swing_height", "flat_orientation_l2", "is_alive",
    "is_terminated", "joint_pos_limits", "joint_vel_l2", "motion_global_anchor_orientation_error_exp",
    "motion_global_anchor_position_error_exp", "motion_global_body_angular_velocity_error_exp",
    "motion_global_body_linear_velocity_error_exp", "motion_relative_body_orientation_error_exp",
    "motion_relative_body_position_error_exp", "posture", "self_collision_cost", "soft_landing",
    "track_angular_velocity", "track_linear_velocity", "upright", "variable_posture",
)  # fmt: skip
TERMINATIONS = (
    "bad_anchor_ori", "bad_anchor_pos_z_only", "bad_motion_body_pos_z_only", "bad_orientation", "illegal_contact",
    "out_of_terrain_bounds", "root_height_below_minimum",
)  # fmt: skip
EVENTS = (
    "body_com_offset", "encoder_bias", "geom_friction", "push_by_setting_velocity", "reset_joints_by_offset",
    "reset_root_state_uniform", "reset_scene_to_default",
)  # fmt: skip
CURRICULA = ("commands_vel", "terrain_levels_vel")
METRICS = ("mean_action_acc",)


def twin(terms: MjlabTerms, names: Sequence[str], function: str, params: Params) -> Tables:
    """Return the twin of a function of mjlab, one of some names.

    Raises:
        NoTwinError: It has none.
    """
    module, _, name = function.partition(":")
    if not module.startswith("mjlab.") or name not in names:
        raise NoTwinError("Pippin has no such term" if module.startswith("mjlab.") else f"a function of {module}")
    method: Callable[[Params], Tables] = getattr(terms, name)
    return method(params)
