"""Page *Tasks*: terms of each kind, and their keys."""

from __future__ import annotations

import re
from typing import Any

import attrs
from pippin.catalog.entries import Catalog
from pippin.config.fields import fields_of
from pippin.config.schema import json_schema

from .keys import Schema, key_row
from .kinds import kinds
from .rows import named_row, summary

TASKS = """\
# Tasks

<!-- Written by docs/write_reference.py from the plugins of the eight kinds of terms. Change those, then run it. -->

A `[task]` table makes a simulation an environment to learn in. Everything in it is a term, and each term is a plugin of
one of eight kinds. [Configuration](configuration.md#task) lists the keys of `[task]` itself.

- a [quantity](#quantities) is measured: numbers of each world
- an [observation](#observations) is a quantity, with noise, bounds and history
- an [action](#actions) sets targets or efforts from the numbers of a policy
- a [reward](#rewards) is a function of a quantity or a sensor, with a weight
- a [termination](#terminations) ends the episode of a world
- an [event](#events) changes a world at random, and a [command](#commands) is a target drawn at random
- a [curriculum](#curricula) changes numbers of other terms, or the levels of the terrain, while a policy learns
- a [metric](#metrics) tells how an episode goes, such as whether it is a success

```toml
extends = ["docs/examples/ant.toml"]

[scene]
worlds = 4

[task]
episode_length = 10.0         # [s]

[task.actions]
legs = { type = "joint-targets", actuator = "legs", scale = 0.5, clip = [-1.0, 1.0], smoothing = 0.2 }

[task.observations.policy]
height = { of = "root-height" }
velocity = { of = { type = "root-linear-velocity", frame = "body" }, noise = 0.1 }
gravity = { of = "projected-gravity" }
positions = { of = { type = "joint-positions", relative = true } }
velocities = { of = "joint-velocities", scale = 0.05 }
action = { of = "last-action" }

[task.rewards]
forward = { type = "value", of = "displacement-rate", axes = "x", weight = 1.0 }
smooth = { type = "l2", of = "action-acceleration", weight = -0.01 }
tall = { type = "tolerance", of = "root-height", low = 0.4, margin = 0.2, weight = 0.5 }
upright = { type = "l2", of = "projected-gravity", axes = "xy", weight = -1.0 }
effort = { type = "l2", of = "joint-efforts", weight = -1e-4 }
limits = { type = "outside", of = "joint-positions", soft_limits = 0.9, weight = -1.0 }
steps = { type = "air-time", sensor = "feet", threshold = 0.3, weight = 0.5 }

[task.terminations]
fallen = { type = "outside", of = "root-height", low = 0.2, high = 1.0 }
```

A key `of` chooses a quantity by its name, or by a table with its `type` and its keys. Equal choices are measured once.
`axes` chooses columns of a vector. A weight of 0 leaves a reward out.

A term of type `function` is a function of yours, in a module that Python finds. It launches kernels, and writes `out`:

```python
import warp as wp


@wp.kernel
def largest_speed(qd: wp.array[float], per_world: int, above: float, out: wp.array[float]):
    world = wp.tid()
    speed = float(0.0)
    for i in range(per_world):
        speed = wp.max(speed, wp.abs(qd[world * per_world + i]))
    out[world] = wp.max(speed - above, 0.0)


def too_fast(place, out, above):
    state = place.simulation.state
    inputs = [state.joint_qd, len(state.joint_qd) // place.world_count, above, out]
    wp.launch(largest_speed, place.world_count, inputs, device=out.device)
```

With `fast = { type = "function", function = "my_task:too_fast", parameters = { above = 10.0 }, weight = -0.1 }` it is a
reward. It is called while the step is recorded, and its kernels run in every step. If it reads arrays on the host, it
must not be recorded: `is_capturable = false` says so, and Pippin finds it otherwise. Then the task runs eagerly, and
`print(simulation.program)` gives the reason. [Your first term](../tutorials/first-term.md) makes a package of such a
term, and [four terms of a package](../../tests/outside/pippin-balance-terms) show memory and random draws.
"""

TASK_SIGNS = """
q and qd are positions and velocities of joints, q_0 the initial positions, t efforts; R, p, v and w are rotation,
position, velocity of the centre of mass, and angular velocity of a body, in the world; a and a' are the action and the
one before; g is gravity. Quaternions are x, y, z, w if nothing else is said. Rates count from the start of the episode
in its first step, and are zero right after a reset.

MuJoCo's free joint has the velocity of the body's origin in the world, its angular velocity in the body, and w first:
take `root-linear-velocity` with `point = "origin"`, `root-angular-velocity` with `frame = "body"`, and
`root-orientation` with `order = "wxyz"` and `unique = false`.
"""

TASK_KINDS = {
    "quantity": "Numbers of each world, measured at the end of each control step, and again after a reset.",
    "action": "Numbers of the action, side by side in the order of `[task.actions]`.",
    "reward": "x stands for the numbers of the quantity `of`, minus the `target`.",
    "termination": "Besides these, an episode ends by `task.episode_length`, and if the state of its world diverges.",
    "event": "Random changes, drawn for each world; changes of the model start from the values that it was built with.",
    "command": "Targets for each world, drawn at each reset and from time to time.",
    "curriculum": "Changes of numbers in arrays on the device while a policy learns; no graph is recorded anew.",
    "metric": "Numbers of each episode that nothing is learned from. The label `success` is for one that is 0 or 1.",
}
"""First sentence of the section of each kind of terms."""

TASK_ELSEWHERE = """
## Names elsewhere

| Isaac Lab | here |
|---|---|
| `lin_vel_z_l2`, `ang_vel_xy_l2` | `l2` of `root-linear-velocity`, `root-angular-velocity` in the body, with `axes` |
| `flat_orientation_l2` | `l2` of `projected-gravity` with `axes = "xy"` |
| `base_height_l2` | `l2` of `root-height` with a `target` |
| `joint_torques_l2`, `joint_vel_l1`, `joint_vel_l2`, `joint_acc_l2` | `l1` or `l2` of `joint-efforts` and so on |
| `joint_deviation_l1` | `l1` of `joint-positions` with `relative = true` |
| `joint_pos_target_l2` | `l2` of `joint-positions` with `target` and `wrap = true` |
| `joint_pos_limits` | `outside` of `joint-positions` with `soft_limits` |
| `action_l2`, `action_rate_l2`, `action_acc_l2` | `l2` of `last-action`, `action-rate`, `action-acceleration` |
| `track_lin_vel_xy_exp`, `track_ang_vel_z_exp` | `exp` with a command as `target`, and `axes` |
| `feet_air_time`, `feet_slide`, `undesired_contacts` | `air-time`, `slip`, `contacts` |
| `feet_clearance`, `feet_swing_height`, `soft_landing` of mjlab | `clearance`, `swing-height`, `landing` |
| `variable_posture` of mjlab | `exp` with `mean = true`, and `times` a gate for each table of `std` |
| `command_threshold` of mjlab | `times = { type = "beyond", of = { type = "command", form = "speed", … } }` |
| `imu_lin_vel` of mjlab | `root-linear-velocity` with the `offset` of the site |
| `robot_body_pos_b`, `robot_body_ori_b` of mjlab | `body-positions`, `body-rotations` with a `reference` |
| `foot_contact_forces` of mjlab | `sensor` with `form = "signed-log"` |
| `mean_action_acc` of mjlab | metric `mean` with `form = "mean-absolute"` |
| `geom_friction` of mjlab with `axes` | `friction` with `coefficient`, and `shapes` |
| `apply_external_force_torque`, `apply_body_impulse` of mjlab | `wrench`, at resets or in intervals |
| `randomize_joint_parameters` | `joint-parameters`, and `gains` |
| `RelativeJointPositionAction` | `joint-targets` with `offset = "current"` |
| `EMAJointPositionToLimitsAction` | `joint-targets` with `smoothing`, and `scale` by joint |
| `encoder_bias` of mjlab | event `joint-offsets`, and `offsets` of `joint-positions` |
| `tolerance` of dm_control | `tolerance`, with `times` for products of several |
| `angular_momentum_penalty` of mjlab | `l2` of `angular-momentum` |
| `self_collision_cost` of mjlab | `contacts` with `readings = true`; or with `partners = true` |
| `upright` of mjlab on rough ground | `exp` of `ground-normal` |
| `rel_heading_envs`, `rel_forward_envs` of mjlab | `heading_share`, `straight` of `velocity` |
| `is_alive`, `is_terminated` | `alive`, `terminated` |
| `root_height_below_minimum`, `joint_pos_out_of_manual_limit` | `outside` of `root-height`, of `joint-positions` |
| `bad_orientation` | `outside` of `projected-gravity` with `axes = "z"`, and `high` = -cos of the limit |
| `illegal_contact` | `contact` |
| `terrain_levels_vel`, `terrain_out_of_bounds` | `terrain-levels`, `out-of-bounds` |
| `UniformPoseCommand`, `position_command_error`, `orientation_command_error` | `pose`, `norm` of `pose-error` |
| `modify_reward_weight`, `reward_curriculum`, `commands_vel` | `stages` of a reward or a command |
| `height_scan` | `height-scan` |
| `MotionCommand`, `motion_global_anchor_position_error_exp` of mjlab | `motion`, `exp` of `motion-anchor` |
| `motion_relative_body_position_error_exp`, `bad_motion_body_pos_z_only` | `exp`, `outside` of `motion-bodies` |
| `motion_anchor_pos_b`, `motion_anchor_ori_b` of mjlab | `motion-anchor` with `form = "pose"`, `order = "rows"` |

[Convert a task of mjlab](../how-to/convert-a-task.md) writes them, and tells where the numbers differ.
"""


def page() -> str:
    """Return the tables of terms, by kind, and of their keys."""
    tables = json_schema(Catalog.installed())[0]["properties"]["task"]["properties"]
    observation = tables["observations"]["additionalProperties"]["additionalProperties"]
    schemas = {kind: tables[kinds()[kind]]["additionalProperties"] for kind in TASK_KINDS if kind != "quantity"}
    schemas["quantity"] = observation["properties"]["of"]["anyOf"][1]
    parts = [TASKS]
    for kind, lead in TASK_KINDS.items():
        parts.append(f"\n## {kinds()[kind].capitalize()}\n\n{lead}\n")
        parts.append(TASK_SIGNS if kind == "quantity" else "")
        parts.append(_terms(kind, schemas[kind]))
        if kind == "quantity":
            rows = [key_row(key, value, key == "of") + "\n" for key, value in observation["properties"].items()]
            head = (
                "\n## Observations\n\n" + observation["description"] + "\n\n| key | type | unit | default | meaning |\n"
            )
            parts += [head, "|---|---|---|---|---|\n", *rows]
    return "".join([*parts, TASK_ELSEWHERE])


def _terms(kind: str, schema: Schema) -> str:
    """Return the table of the terms of a kind, and that of their keys: terms with a key of one meaning share a row."""
    entries = [each for each in Catalog.installed().entries if each.kind == kind]
    terms: dict[str, Any] = {each.name: each.load() for each in entries}
    configs = {each.name: each.load_config() for each in entries}
    if not terms:
        return "\nPlugins of other packages. This repository has none.\n"
    has_unit = kind == "quantity"
    head = "\n| name | meaning | unit |\n|---|---|---|\n" if has_unit else "\n| name | meaning |\n|---|---|\n"
    rows = []
    for name, term in terms.items():
        meaning = re.sub(rf"^The [\w ]+ `{name}`(: |$)", "", summary(term)) or summary(configs[name])
        rows.append(named_row(name, meaning, *([term.unit] if has_unit else [])))
    owners: dict[str, list[str]] = {}
    for case in schema.get("allOf", ()):
        table = case["then"]
        for key, value in table["properties"].items() if table.get("title") in terms else ():
            if key not in ("type", "extends"):
                needed = next(each for each in fields_of(configs[table["title"]]) if each.name == key)
                row = key_row(key, value, needed.default is attrs.NOTHING)
                owners.setdefault(row, []).append(f"`{table['title']}`")
    if not owners:
        return head + "".join(rows)
    keys = "\n| key | type | unit | default | meaning | of |\n|---|---|---|---|---|---|\n"
    told = [f"{row} {'all' if len(names) == len(terms) else ', '.join(names)} |\n" for row, names in owners.items()]
    return head + "".join(rows) + keys + "".join(told)
