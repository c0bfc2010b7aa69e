"""The `[fit]` table: logs of a robot, the parameters that they determine, and how `pippin fit` finds them; and the
settings of motions for such logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args

import attrs
from attrs.validators import deep_iterable, ge, in_, lt, min_len, optional
from pippin import ComponentConfig, ConfigError, FilePath
from pippin.validators import finite, non_negative, positive

MotionKind = Literal["multisine", "chirp", "steps", "optimal"]

NOTED = ("clock", "commands", "contact", "excitation", "lag", "rate", "stale", "units")
"""Faults of logs that may be accepted."""


def _ascending(instance: Any, attribute: Any, value: tuple[float, float]) -> None:
    if not value[0] < value[1]:
        raise ValueError(f"'{attribute.name}' must ascend, got {value[0]:g} and {value[1]:g}")


def _length(instance: Any, attribute: Any, value: float | str) -> None:
    if not isinstance(value, str):
        positive(instance, attribute, value)


def _unit(instance: Any, attribute: Any, value: float | str | Mapping[str, float]) -> None:
    for each in value.values() if isinstance(value, Mapping) else (value,):
        _length(instance, attribute, each)


def _share(instance: Any, attribute: Any, value: float | tuple[str, ...]) -> None:
    if isinstance(value, tuple):
        min_len(1)(instance, attribute, value)
    else:
        ge(0.0)(instance, attribute, value)
        lt(1.0)(instance, attribute, value)


def _above_zero(instance: Any, attribute: Any, value: str | None) -> None:
    if value == "log" and instance.range[0] < 0.0:
        raise ValueError(f"'{attribute.name}' = \"log\" needs a range of positive numbers, got {instance.range[0]:g}")


@attrs.frozen(kw_only=True)
class PriorConfig:
    """Earlier knowledge of a value: it is about `mean`."""

    std: float = attrs.field(validator=positive)
    """Standard deviation, in the unit of the parameter."""

    mean: float | None = attrs.field(default=None, validator=optional(finite))
    """The expected value; by default that of the file."""


@attrs.frozen(kw_only=True)
class FitParameterConfig:
    """A parameter that varies, from the value that the file gives it."""

    is_by_pattern: ClassVar = True
    """For the core: whether the keys of such tables are patterns, and no labels."""

    range: tuple[float, float] = attrs.field(validator=[deep_iterable(finite), _ascending])
    """Lowest and highest value."""

    each: Literal["joint", "group"] = "joint"
    """Whether each joint has a value of its own, or all have one."""

    joints: tuple[str, ...] | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Patterns of labels of the joints that vary; by default all."""

    share: tuple[tuple[str, ...], ...] = ()
    """Lists of patterns: the joints that a list matches share one value, such as those of the left and right side."""

    scale: Literal["log", "linear"] | None = attrs.field(default=None, validator=_above_zero)
    """Whether equal ratios or equal differences count the same; by default `log` for a range that is not negative."""

    prior: PriorConfig | None = None
    """What was known before, if anything."""


@attrs.frozen(kw_only=True)
class FitSignalConfig:
    """A measured signal that is compared with the simulated one."""

    std: float | None = attrs.field(default=None, validator=optional(positive))
    """Standard deviation of its noise [rad or m, per second for velocities]; by default estimated from the log."""


@attrs.frozen(kw_only=True)
class FitConfig:
    """The `[fit]` table: logs of a robot, and the parameters that `pippin fit` finds; other commands leave it alone."""

    parameters: Mapping[str, FitParameterConfig] = attrs.field(validator=min_len(1))
    """What varies, by place: `actuators.LABEL.KEY` for a number of an actuator, such as `actuators.arm.armature`;
    `bodies.PATTERN.mass` [kg], `.com` [m], `.spread` [kg·m²] and `.shear` are numbers of bodies: the spreads are
    ∫x² dm, ∫y² dm and ∫z² dm about the centre of mass, along principal axes, and shears turn these;
    `signals.offset` is what the robot's encoders read at the zero of a joint [rad or m], and `signals.delay` is the
    time from a command to its effect [s]."""

    known: Mapping[str, Mapping[str, float | tuple[float, ...]]] = attrs.field(factory=dict)
    """Numbers of the model that are known and differ between logs, such as the mass on a bench: tables by pattern of
    names of logs, such as `heavy_*.npz`, with numbers by place, as `parameters` has them. All others have those of the
    file."""

    logs: tuple[FilePath, ...] = ()
    """Files of logs, and patterns of them such as `logs/*.npz`; `--log` adds more."""

    reader: Annotated[ComponentConfig, "log"] | None = None
    """What reads the logs: the name of a reader, or a table with its settings; by default the suffix tells."""

    units: Literal["rad", "deg"] | float | Mapping[str, float] = attrs.field(default="rad", validator=_unit)
    """Unit of the angles in the logs; a number is the angle of one count of an encoder [rad], and a table gives such an
    angle for each joint that turns, by its name in the logs: units may be shares of its range."""

    signs: Mapping[str, Literal[1, -1]] = attrs.field(factory=dict)
    """-1 for each joint that counts the other way round in the logs, by its name there."""

    signals: Mapping[Literal["position", "velocity"], FitSignalConfig] = attrs.field(factory=dict)
    """The signals that count; by default positions, and velocities if the logs have them."""

    command: Literal["position_targets", "velocity_targets", "feedforward"] = "position_targets"
    """The targets of actuators that the commands of the logs are."""

    interpolation: Literal["step", "linear"] = "step"
    """What is between two commands: the earlier one, or a straight line."""

    joints: Mapping[str, str] = attrs.field(factory=dict)
    """Labels of joints by their names in the logs, where they differ."""

    leave_out: tuple[str, ...] = ()
    """Names of joints in the logs that are not read, such as that of a gripper that holds things: they stay as at a
    reset."""

    window: float | Literal["whole"] = attrs.field(default=1.0, validator=_length)
    """Length of the windows that a log is divided into [s]; each starts from the state that `start` says."""

    start: Literal["measured", "estimated"] = "measured"
    """State that a window starts from: the measured one, or one that is estimated from the window (also in validation
    windows). The estimate takes twice as many more candidates as there are joints."""

    burn_in: float = attrs.field(default=0.0, validator=non_negative)
    """Time at the start of a window that does not count [s]: the measured state forgets its noise there."""

    validation: float | tuple[str, ...] = attrs.field(default=0.0, validator=_share)
    """What the fit does not see, and what judges it: a share of the windows, the last ones of each log; or patterns of
    names of logs, such as `*, episode 3`."""

    validation_logs: tuple[FilePath, ...] = ()
    """Files of logs that the fit does not see, and that judge it, and patterns of them; `--validate` adds more."""

    method: Literal["least-squares", "cmaes"] = "least-squares"
    """Levenberg and Marquardt's method from the values of the file; or before it an evolution strategy (CMA-ES) over
    the whole ranges, which needs `pippin[fit]`: for whole numbers, and residuals that are not smooth."""

    starts: int = attrs.field(default=1, validator=ge(1))
    """Number of starts of the least squares: the values of the file, and others all over the ranges, side by side; the
    one that ends lowest is kept. More than one find their way past local minima."""

    generations: int = attrs.field(default=100, validator=ge(1))
    """Most generations of an evolution."""

    seed: int = attrs.field(default=0, validator=ge(0))
    """Seed of the starts, and of an evolution."""

    is_robust: bool = False
    """Whether large residuals count linearly, so that outliers matter less."""

    iterations: int = attrs.field(default=50, validator=ge(1))
    """Largest number of iterations."""

    tolerance: float = attrs.field(default=1e-4, validator=positive)
    """The fit ends if an iteration lowers the cost by no more than this share."""

    accept: tuple[str, ...] = attrs.field(default=(), validator=deep_iterable(in_(NOTED)))
    """Faults of logs that are noted and not refused: `clock`, `commands`, `contact`, `excitation`, `lag`, `rate`,
    `stale`, `units`."""

    def __attrs_post_init__(self) -> None:
        if self.method == "cmaes" and self.starts > 1:
            raise ValueError("'starts' are those of the method \"least-squares\"; leave them out, or the method")
        if not isinstance(self.window, str) and not self.window > self.burn_in:
            raise ValueError(f"'window' must be longer than 'burn_in', {self.burn_in:g}, got {self.window:g}")


@attrs.frozen(kw_only=True)
class ExciteSettings:
    """Settings of a motion of joints."""

    kind: MotionKind = attrs.field(default="multisine", validator=in_(get_args(MotionKind)))
    """Sum of sines, sweep, levels, or the best of random sums of sines."""

    joints: tuple[str, ...] = ()
    """Patterns of labels of the joints; by default all that take position targets."""

    band: tuple[float, float] = (0.1, 5.0)
    """Lowest and highest frequency [Hz]."""

    duration: float = attrs.field(default=20.0, validator=positive)
    """Length of the motion, or of that of each joint [s]."""

    amplitude: float | None = None
    """Largest swing from the centre [rad or m]; by default 0.5 rad or 0.1 m."""

    is_separate: bool = False
    """Whether one joint moves after the other; a chirp always does."""

    candidates: int = attrs.field(default=16, validator=ge(1))
    """Motions among which `optimal` chooses."""

    seed: int = 0
    """Seed of random phases and levels."""

    def __attrs_post_init__(self) -> None:
        if not 0.0 < self.band[0] < self.band[1]:
            raise ConfigError(f"--band: {self.band[0]:g} to {self.band[1]:g} Hz must ascend from above 0")
        if self.amplitude is not None and not self.amplitude > 0.0:
            raise ConfigError(f"--amplitude: {self.amplitude:g} must be above 0")
