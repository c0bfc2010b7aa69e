"""Selection of the degrees of freedom that an actuator drives, or a sensor measures, by patterns of labels."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import newton
from pippin import labels
from pippin.assets.actuators.replaced import mark_driven
from pippin.axes import choose_axes
from pippin.errors import ConfigError

from .config import Parameter, Uniform


@attrs.frozen(eq=False)
class Axes:
    """Axes of one world, driven or measured: pairs of a joint and one of its degrees of freedom."""

    pairs: tuple[tuple[int, int], ...]
    """Joint of the builder, and degree of freedom of this joint, counted from 0."""
    labels: tuple[str, ...]
    """Label of each axis."""
    notes: tuple[str, ...] = ()
    """A note on joints that the patterns match beside axes; such joints are left out."""

    @classmethod
    def of(cls, builder: newton.ModelBuilder, patterns: str | Sequence[str]) -> Axes:
        """Return the axes that patterns match, by their labels or by those of their joints.

        Raises:
            ConfigError: A pattern matches nothing, or joints without axes of one coordinate each only.
        """
        found, note = choose_axes(builder, patterns, where="joints")
        return cls(tuple(found), tuple(found.values()), () if note is None else (note,))

    def assign(self, builder: newton.ModelBuilder, attribute: str, value: Parameter | None, where: str) -> None:
        """Set the values of these axes in a builder's DOF-shaped list; of a range, the highest one. None sets nothing.

        Args:
            builder: One world.
            attribute: Name of the list.
            value: One value for all joints, or a table from patterns of joint labels to values.
            where: Name of the field, for errors.

        Raises:
            ConfigError: A pattern matches nothing, or a joint has no value, or two.
        """
        if value is None:
            return
        try:
            values = labels.lookup(value, self.labels, where)
        except labels.NoMatchError as error:
            # The joints exist, so the table is wrong; a `NoMatchError` would only exclude this world.
            raise ConfigError(*error.faults) from error
        for dof, found in zip(self.dofs(builder), values, strict=True):
            getattr(builder, attribute)[dof] = max(found.uniform) if isinstance(found, Uniform) else found

    def dofs(self, builder: newton.ModelBuilder) -> list[int]:
        """Return the index of each axis into a builder's DOF-shaped lists."""
        return [builder.joint_qd_start[joint] + axis for joint, axis in self.pairs]

    def joint_labels(self, builder: newton.ModelBuilder) -> list[str]:
        """Return the label of the joint of each axis."""
        return [builder.joint_label[joint] for joint, _ in self.pairs]

    def noted_after(self, notes: Sequence[str]) -> tuple[str, ...]:
        """Return the notes so far, of other worlds, and those of these axes, each once."""
        return tuple(dict.fromkeys((*notes, *self.notes)))

    def switch_off_drives(self, builder: newton.ModelBuilder, *, has_delay: bool = False) -> None:
        """Switch off the asset's drives of these axes; otherwise two drives would act together.

        Its other actuators that drive one of these axes are off as well: motors, muscles, actuators of tendons. Their
        delay becomes that of the axes if the drive in their place may have one.

        Args:
            builder: One world.
            has_delay: Whether the drive may have a delay.

        Raises:
            ConfigError: Another group sets the input of one of these actuators.
        """
        dofs = self.dofs(builder)
        mark_driven(builder, dofs, has_delay=has_delay)
        for dof in dofs:
            builder.joint_target_mode[dof] = int(newton.JointTargetMode.NONE)
            builder.joint_target_ke[dof] = builder.joint_target_kd[dof] = 0.0
