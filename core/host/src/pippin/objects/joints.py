"""Joints of a world's objects: trees of bodies become articulations, and other joints close loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import newton
import warp as wp
from pippin.assets.start_poses import start_poses
from pippin.config import joints as configs
from pippin.errors import ConfigError
from pippin.spelling import did_you_mean

from .attributes import counts_of, set_attributes

_RENAMED = {"rest_position": "rest_q"}
"""Newton's names of the properties of axes that have others here; `limits` become two numbers."""

_AXIS = tuple(field.name for field in attrs.fields(configs.AxisConfig) if field.name not in ("axis", "limits"))


@attrs.define(kw_only=True)
class Joint:
    """A joint to add: its table, and its bodies."""

    where: str
    """Key path of the table, for errors."""

    config: configs.JointConfig

    label: str

    child: int
    """The body that it moves."""

    parent: int = -1
    """The body that carries it; -1 for the world."""

    origin: Any = attrs.field(factory=wp.transform_identity)
    """Pose of the static object that carries it, if the parent is the world."""

    index: int = -1
    """Number of the joint in the builder, once it is added."""


def add_joints(builder: newton.ModelBuilder, joints: Sequence[Joint], first_body: int) -> None:
    """Add the joints of the bodies from `first_body` on, and one articulation for each tree of them.

    A body that no joint moves gets a free joint. The first joint of a body belongs to its tree; others close loops.

    Raises:
        ConfigError: Bodies hang on each other in a circle, or on a body of a robot file; or two joints of a mimic are
            no hinges or sliders.
    """
    complete = set(builder.joint_child)
    new = [body for body in range(first_body, builder.body_count) if body not in complete]
    moved = {joint.child for joint in joints}
    tree: dict[int, Joint] = {}
    for joint in (*joints, *(_free(builder, body) for body in new if body not in moved)):
        if joint.parent in complete and joint.child not in complete:
            raise ConfigError(
                f"{joint.where}.parent: {builder.body_label[joint.parent]!r} is a body of a robot file or of a rod,"
                " whose joints are complete; add the joint to that file, or let that body be the child of a loop"
            )
        if joint.child not in complete:
            tree.setdefault(joint.child, joint)
    loops = [joint for joint in joints if tree.get(joint.child) is not joint]
    poses = start_poses(builder)
    for group in _articulations(builder, tree):
        for joint in group:
            joint.index = _add(builder, joint, poses)
        builder.add_articulation(
            [joint.index for joint in group], label=f"{builder.body_label[group[0].child]}_articulation"
        )
    for joint in loops:
        joint.index = _add(builder, joint, poses)
    by_label = {joint.label: joint for joint in joints}
    for joint in joints:
        _follow(builder, joint, by_label)


def _free(builder: newton.ModelBuilder, body: int) -> Joint:
    label = builder.body_label[body]
    joint = configs.FreeJointConfig()
    return Joint(where=f"object {label!r}", config=joint, label=f"{label}_free_joint", child=body)


def _articulations(builder: newton.ModelBuilder, tree: dict[int, Joint]) -> list[list[Joint]]:
    """Return the joints of each tree, in the order of their first bodies; a mimic joins two trees.

    Joints of a tree come depth first, as MuJoCo has them: each is followed by all that hang on its child.
    """
    children: dict[int, list[Joint]] = {}
    for body in sorted(tree):
        _refuse_circle(builder, tree, body)
        children.setdefault(tree[body].parent, []).append(tree[body])
    groups = {root.child: [*_depth_first(root, children)] for root in children.get(-1, ())}
    of_label = {joint.label: root for root, group in groups.items() for joint in group}
    for joint in tree.values():
        mimic = getattr(joint.config, "mimic", None)
        ends = {of_label[label] for label in (joint.label, mimic and mimic.of) if label in of_label}
        if len(ends) == 2:
            first, second = sorted(ends)
            groups[first] += groups.pop(second)
            of_label = {label: first if root == second else root for label, root in of_label.items()}
    return [groups[root] for root in sorted(groups)]


def _depth_first(root: Joint, children: Mapping[int, Sequence[Joint]]) -> Iterator[Joint]:
    waiting = [root]
    while waiting:
        joint = waiting.pop()
        yield joint
        waiting += reversed(children.get(joint.child, ()))


def _refuse_circle(builder: newton.ModelBuilder, tree: Mapping[int, Joint], body: int) -> None:
    passed, at = {body}, tree[body].parent
    while at >= 0:
        if at in passed:
            raise ConfigError(
                f"{tree[body].where}: {builder.body_label[body]!r} hangs on itself through its parents; leave out one"
                " of the joints of the circle's bodies that come first in the file"
            )
        passed.add(at)
        at = tree[at].parent


def _add(builder: newton.ModelBuilder, joint: Joint, poses: Sequence[Any]) -> int:
    config, before = joint.config, counts_of(builder)
    common: dict[str, Any] = dict(zip(("parent_xform", "child_xform"), _frames(joint, poses), strict=True))
    common["label"] = joint.label
    if config.collides is not None:
        common["collision_filter_parent"] = not config.collides
    ends = (joint.parent, joint.child)
    match config:
        case configs.FreeJointConfig():
            index = builder.add_joint_free(joint.child, parent=joint.parent, label=joint.label)
            start = builder.joint_qd_start[index]
            builder.joint_qd[start : start + 6] = list(builder.body_qd[joint.child])
        case configs.FixedJointConfig():
            index = builder.add_joint_fixed(*ends, **common)
        case configs.BallJointConfig():
            index = builder.add_joint_ball(*ends, **common, **_given(config, ("damping", "friction", "armature")))
            _start(builder, index, config.rotation, config.angular_velocity)
        case configs.DistanceJointConfig():
            lowest, highest = (-1.0 if each is None else each for each in (config.lowest, config.highest))
            index = builder.add_joint_distance(*ends, **common, min_distance=lowest, max_distance=highest)
        case configs.D6JointConfig():
            axes: dict[str, Any] = {
                "linear_axes": [_axis(each) for each in config.linear],
                "angular_axes": [_axis(each) for each in config.angular],
            }
            index = builder.add_joint_d6(*ends, **common, **axes)
            count = len(config.linear) + len(config.angular)
            _start(builder, index, config.positions or [0.0] * count, config.velocities or [0.0] * count)
        case _:
            add = builder.add_joint_revolute if config.type == "revolute" else builder.add_joint_prismatic
            index = add(*ends, axis=_axis(config), **common)
            _start(builder, index, [config.position], [config.velocity])
    set_attributes(builder, config.attributes, before, joint.where)
    return index


def _frames(joint: Joint, poses: Sequence[Any]) -> tuple[wp.transform, wp.transform]:
    config = joint.config
    on_child: Any = wp.transform(config.child_position, config.child_rotation)
    parent: Any = joint.origin if joint.parent < 0 else poses[joint.parent]
    child: Any = poses[joint.child]
    seen: Any = wp.transform_inverse(parent) * child * on_child
    position = wp.transform_get_translation(seen) if config.parent_position is None else config.parent_position
    rotation = wp.transform_get_rotation(seen) if config.parent_rotation is None else config.parent_rotation
    on_parent: Any = wp.transform(position, rotation)
    return (joint.origin * on_parent if joint.parent < 0 else on_parent), on_child


def _axis(config: configs.AxisConfig) -> newton.ModelBuilder.JointDofConfig:
    limits: dict[str, Any] = (
        {} if config.limits is None else dict(zip(("limit_lower", "limit_upper"), config.limits, strict=True))
    )
    return newton.ModelBuilder.JointDofConfig(axis=config.axis, **limits, **_given(config, _AXIS))


def _given(config: Any, names: Sequence[str]) -> dict[str, Any]:
    values = {_RENAMED.get(name, name): getattr(config, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _start(builder: newton.ModelBuilder, index: int, position: Sequence[float], velocity: Sequence[float]) -> None:
    for values, target, starts in (
        (position, builder.joint_q, builder.joint_q_start),
        (velocity, builder.joint_qd, builder.joint_qd_start),
    ):
        target[starts[index] : starts[index] + len(values)] = list(values)


def _follow(builder: newton.ModelBuilder, joint: Joint, by_label: dict[str, Joint]) -> None:
    mimic = getattr(joint.config, "mimic", None)
    if mimic is None:
        return
    where = f"{joint.where}.mimic.of"
    if mimic.of not in by_label:
        raise ConfigError(f"{where}: no joint {mimic.of!r}{did_you_mean(mimic.of, by_label)}")
    try:
        builder.set_joint_mimic(joint.index, by_label[mimic.of].index, coeffs=(mimic.offset, mimic.ratio))
    except ValueError as error:
        raise ConfigError(f"{where}: newton refused it: {error}") from error
