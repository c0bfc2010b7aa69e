"""Axes of joints: their names, their labels, and their selection by patterns.

An axis is a degree of freedom with a coordinate of its own: hinges and sliders have one, a D6 joint has up to six.
Newton labels joints only, and merges several joints of an MJCF body into one D6 joint. A builder therefore keeps the
names of axes in a custom attribute, which survives copies, replication and `finalize`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pippin import labels
from pippin.arrays import on_host
from pippin.errors import ConfigError

from .spelling import listed

if TYPE_CHECKING:
    import newton

__all__ = ["axis_labels", "choose_axes", "choose_joints", "name_axes"]

_NAMESPACE, _NAME = "pippin", "axis_name"
_WITH_AXES = "revolute, prismatic or D6"


def name_axes(builder: newton.ModelBuilder, joint: int, names: Sequence[str]) -> None:
    """Name the axes of a joint, so that patterns can choose each of them.

    Args:
        builder: The builder that has the joint.
        joint: Index of the joint.
        names: One name for each axis, in the order of the joint's degrees of freedom: linear axes first. An axis with
            an empty name stays unnamed.

    Raises:
        ConfigError: The joint has no axes or another number of them, or a name contains a `/` or comes twice.
    """
    joints, where = _Joints(builder), f"name_axes: joint {builder.joint_label[joint]!r}"
    dofs, named = joints.dofs(joint), [name for name in names if name]
    if not joints.has_axes(joint):
        raise ConfigError(f"{where}: a {joints.kind(joint)} joint has no axes; name those of {_WITH_AXES} joints")
    if len(names) != len(dofs):
        raise ConfigError(f"{where}: {len(names)} names for {len(dofs)} axes, {list(names)}; give one for each")
    if len(set(named)) < len(named) or any("/" in name for name in named):
        raise ConfigError(f"{where}: names must differ and have no '/', got {list(names)}; choose other names")
    declare_axis_names(builder)
    values: Any = builder.custom_attributes[f"{_NAMESPACE}:{_NAME}"].values
    values.update(zip(dofs, names, strict=True))


def declare_axis_names(builder: newton.ModelBuilder) -> None:
    """Prepare a builder for names of axes. An MJCF file that is added later gives the names of its joints."""
    import newton

    builder.add_custom_attribute(
        newton.ModelBuilder.CustomAttribute(
            name=_NAME,
            namespace=_NAMESPACE,
            dtype=str,
            frequency=newton.Model.AttributeFrequency.JOINT_DOF,
            mjcf_attribute_name="name",
            mjcf_value_transformer=_as_newton_labels,
        )
    )


def forget_needless_names(builder: newton.ModelBuilder) -> None:
    """Forget the names that the labels of joints say as well: only joints with several axes need names."""
    joints, attribute = _Joints(builder), builder.custom_attributes[f"{_NAMESPACE}:{_NAME}"]
    several = (joints.dofs(joint) for joint in joints.indices if joints.has_axes(joint))
    needed = {dof for dofs in several if len(dofs) > 1 for dof in dofs}
    values: Any = attribute.values
    attribute.values = {dof: name for dof, name in values.items() if dof in needed}


def axis_labels(of: newton.ModelBuilder | newton.Model, joints: Iterable[int] | None = None) -> list[str]:
    """Return the label of each degree of freedom of some joints, in order.

    A named axis has the path of its joint with the axis's name at the end. Otherwise the only degree of freedom of a
    joint has the joint's label, and several have `LABEL:0`, `LABEL:1` and so on.

    Args:
        of: A builder, or a finalized model.
        joints: Indices of the joints; by default all.
    """
    found = _Joints(of)
    return [label for joint in (found.indices if joints is None else joints) for label in found.axis_labels(joint)]


def choose_axes(
    builder: newton.ModelBuilder | newton.Model, patterns: str | Iterable[str], where: str
) -> tuple[dict[tuple[int, int], str], str | None]:
    """Return the axes that patterns match, and a note on the joints that are left out because they have none.

    A pattern matches an axis by the axis's label; and all unnamed axes of a joint by the joint's label.

    Args:
        builder: One world; or a model, of which all worlds count.
        patterns: One pattern or several.
        where: Key path of the patterns in the configuration, for the error.

    Returns:
        The label of each axis, by pairs of a joint and one of its axes, in the order of the model; and the note, None
        if nothing is left out.

    Raises:
        NoMatchError: No pattern matches anything, or all of them match joints without axes only.
        ConfigError: A pattern is not a regular expression, matches nothing, or matches joints without axes only.
    """
    joints = _Joints(builder)
    pairs, names, unfit = [], [], {}
    for joint in joints.indices:
        if not joints.has_axes(joint):
            unfit[len(pairs)] = joints.kind(joint)
        own = joints.axis_labels(joint) if joints.has_axes(joint) else [joints.labels[joint]]
        pairs += [(joint, axis) for axis in range(len(own))]
        names += own
    found = labels.match_each(patterns, names, "joint", where)
    fit, cure = "with an axis of one coordinate", f"choose {_WITH_AXES} joints"
    indices, note = _fitting(found, names, unfit, where, fit, cure)
    return {pairs[index]: names[index] for index in indices}, note


def choose_joints(
    builder: newton.ModelBuilder, patterns: str | Iterable[str], where: str, without: Collection[str], fit: str
) -> tuple[list[int], str | None]:
    """Return the joints that patterns match, by their labels or that of an axis, and a note on those left out.

    Args:
        builder: One world.
        patterns: One pattern or several.
        where: Key path of the patterns in the configuration, for the error.
        without: Types of joints that are left out, in lower case, such as `free`.
        fit: The property that these types lack, for the error, such as `that transmits a load`.

    Raises:
        ConfigError: As `choose_axes`.
    """
    joints = _Joints(builder)
    several = [joint for joint in joints.indices if joints.has_axes(joint) and len(joints.dofs(joint)) > 1]
    owners = [*joints.indices, *(joint for joint in several for _ in joints.dofs(joint))]
    names = [*joints.labels, *(label for joint in several for label in joints.axis_labels(joint))]
    unfit = {index: joints.kind(joint) for index, joint in enumerate(owners) if joints.kind(joint) in without}
    found = labels.match_each(patterns, names, "joint", where)
    indices, note = _fitting(found, names, unfit, where, fit, "choose others")
    return sorted({owners[index] for index in indices}), note


class _Joints:
    """The joints of a builder or a model."""

    def __init__(self, of: newton.ModelBuilder | newton.Model) -> None:
        self.labels = of.joint_label
        self.indices = range(len(of.joint_label))
        self._dof_count = of.joint_dof_count
        self._starts, self._types = (
            values if isinstance(values, list) else on_host(values) for values in (of.joint_qd_start, of.joint_type)
        )
        self._name_of = _names(of)

    def dofs(self, joint: int) -> range:
        """Return the degrees of freedom of a joint."""
        end = self._starts[joint + 1] if joint + 1 < len(self.labels) else self._dof_count
        return range(int(self._starts[joint]), int(end))

    def kind(self, joint: int) -> str:
        """Return the type of a joint in lower case."""
        import newton

        return newton.JointType(int(self._types[joint])).name.lower()

    def has_axes(self, joint: int) -> bool:
        """Return whether a joint has axes of one coordinate each."""
        return self.kind(joint) in ("revolute", "prismatic", "d6") and len(self.dofs(joint)) > 0

    def axis_labels(self, joint: int) -> list[str]:
        """Return the label of each degree of freedom of a joint."""
        label, dofs = self.labels[joint], self.dofs(joint)
        # A ball in an MJCF file has one name for three degrees of freedom.
        names = [self._name_of(dof) for dof in dofs] if self.has_axes(joint) else [""] * len(dofs)
        if len(names) == 1 and not names[0]:
            return [label]
        parent = label[: len(label) - len(labels.name_of(label))]
        return [parent + name if name else labels.AxisLabel(f"{label}:{axis}") for axis, name in enumerate(names)]


def _names(of: newton.ModelBuilder | newton.Model) -> Callable[[int], str]:
    """Return a function from a degree of freedom to the name of its axis, empty if it has none."""
    import newton

    if isinstance(of, newton.ModelBuilder):
        attribute: Any = of.custom_attributes.get(f"{_NAMESPACE}:{_NAME}")
        return lambda dof: "" if attribute is None else attribute.values.get(dof, "")
    names = getattr(getattr(of, _NAMESPACE, None), _NAME, None)
    return lambda dof: "" if names is None else names[dof]


def _fitting(
    found: Mapping[str, Sequence[int]], names: Sequence[str], unfit: Mapping[int, str], where: str, fit: str, cure: str
) -> tuple[list[int], str | None]:
    wrong = {pattern: indices for pattern, indices in found.items() if all(index in unfit for index in indices)}
    faults = [
        f"{where}: {pattern!r} matches no joint {fit}, only {_with_kinds(indices, names, unfit)}; {cure}"
        for pattern, indices in wrong.items()
    ]
    if faults:
        raise (labels.NoMatchError if len(wrong) == len(found) else ConfigError)(*faults)
    indices = sorted(set().union(*found.values()))
    others = [index for index in indices if index in unfit]
    note = f"{where}: leaves out {_with_kinds(others, names, unfit)}, no joint {fit}" if others else None
    return [index for index in indices if index not in unfit], note


def _with_kinds(indices: Sequence[int], names: Sequence[str], kinds: Mapping[int, str]) -> str:
    return listed((f"{names[index]!r} ({kinds[index]})" for index in indices), labels.LISTED_NAME_COUNT)


def _as_newton_labels(name: str, _context: Any) -> str:
    return name.replace("-", "_")
