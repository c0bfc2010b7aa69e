"""The `[optimise]` table: variables, a loss, and how `pippin optimise` lowers it by gradients; and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import attrs
from attrs.validators import deep_iterable, ge, gt, le, min_len, optional
from pippin import ComponentConfig, FilePath
from pippin.motions import SelectionConfig
from pippin.validators import finite, non_negative, only_where, positive

_SUBJECTS = ("velocity_of", "model", "value_of")

_in_time: Any = only_where(lambda variable: variable.value_of is not None, "'value_of'")


def _above_low(instance: Any, attribute: Any, value: float | None) -> None:
    if value is not None and instance.low is not None and not instance.low < value:
        raise ValueError(f"'{attribute.name}' must be above 'low', {instance.low:g}, got {value:g}")


def _end_alone(instance: Any, attribute: Any, value: float) -> None:
    if value != 1.0 and instance.when == "end":
        raise ValueError(f'\'{attribute.name}\' needs when = "mean" or "sum", as one step counts at the end')


@attrs.frozen(kw_only=True)
class VariableConfig:
    """Numbers that are varied, of one of `velocity_of`, `model` and `value_of`. They start as the file states them.

    Each world has its own.
    """

    velocity_of: SelectionConfig | None = None
    """Particles whose initial velocity is varied [m/s], or free bodies: linear and angular [m/s, rad/s]."""

    model: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of an array of `newton.Model` with gradients, such as `spring_rest_length` or `tet_materials`."""

    of: SelectionConfig | None = attrs.field(
        default=None, validator=only_where(lambda variable: variable.model is not None, "'model'")
    )
    """The particles or bodies whose rows of the array vary; of springs, triangles, edges and tetrahedra, those between
    chosen particles alone. By default all rows."""

    value_of: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Path of an array of an actuator or a plugin: `actuators.LABEL.NAME` is a target or a gain, such as
    `actuators.arm.position_targets` and `actuators.arm.kp`; `plugins.LABEL.NAME` is an attribute."""

    points: int = attrs.field(default=1, validator=[ge(1), _in_time])
    """Number of values in time, which are the same distance apart, from the first control step to the end."""

    interpolation: Literal["step", "linear"] = attrs.field(default="linear", validator=_in_time)
    """What is between two points in time: a straight line, or the earlier value. With `step`, each point holds for an
    equal number of control steps."""

    columns: tuple[int, ...] | None = attrs.field(default=None, validator=optional([min_len(1), deep_iterable(ge(0))]))
    """Numbers of the components that vary, counted from 0: of a velocity, or of a row of the array. By default all."""

    together: bool = False
    """Whether all elements have one value of each component; otherwise each element has its own."""

    low: float | None = attrs.field(default=None, validator=optional(finite))
    """Lowest value."""

    high: float | None = attrs.field(default=None, validator=[optional(finite), _above_low])
    """Highest value."""

    scale: float = attrs.field(default=1.0, validator=positive)
    """A change that matters: the optimiser counts in it. Give variables of other sizes than about 1 their own."""

    spread: float = attrs.field(default=0.0, validator=non_negative)
    """Standard deviation of a random change of the start values, which each world draws within the bounds; the first
    one draws none. With `moves`, of each plan."""

    def __attrs_post_init__(self) -> None:
        given = [name for name in _SUBJECTS if getattr(self, name) is not None]
        if len(given) != 1:
            got = " and ".join(map(repr, given)) or "none"
            raise ValueError(f"expected one of {', '.join(map(repr, _SUBJECTS))}, got {got}; name what varies")


@attrs.frozen(kw_only=True)
class LossConfig:
    """A term of the loss: a function of x, the numbers of a quantity minus a target, summed over its components."""

    of: Annotated[ComponentConfig, "quantity"]
    """The quantity, which must be differentiable: its name, or a table with its `type` and its keys."""

    axes: str | None = None
    """Components that count, if the quantity is a vector: some of `x`, `y`, `z`."""

    target: float | tuple[float, ...] | None = attrs.field(default=None, validator=finite)
    """Target that is subtracted first: a number, or one for each component. By default 0."""

    function: Literal["square", "absolute", "value"] = "square"
    """x², the absolute value of x, or x."""

    when: Literal["end", "mean", "sum"] = "end"
    """Whether the end of the rollout counts, or the mean or the sum over the ends of its control steps."""

    discount: float = attrs.field(default=1.0, validator=[finite, gt(0.0), le(1.0), _end_alone])
    """Factor of a control step for each one that follows it."""

    weight: float = attrs.field(default=1.0, validator=finite)
    """Factor of the term; negative for what is to grow."""


def _of_inputs(instance: Any, attribute: Any, value: int | None) -> None:
    others = [name for name, each in instance.variables.items() if each.value_of is None]
    if value is not None and others:
        raise ValueError(
            f"'{attribute.name}' takes plans of inputs one step at a time, and {others[0]!r} is none; vary a 'value_of'"
            f" in its place, or leave '{attribute.name}' out"
        )


@attrs.frozen(kw_only=True)
class OptimiseConfig:
    """The `[optimise]` table: what `pippin optimise` varies, and the loss that it lowers; other commands leave it
    alone.
    """

    steps: int = attrs.field(validator=ge(1))
    """Control steps of a rollout, from the start state of the file."""

    moves: int | None = attrs.field(default=None, validator=[optional(ge(1)), _of_inputs])
    """Control steps to take one by one, as model predictive control does: each is the first step of the best plan of
    `steps` control steps, and the next plan begins where it ends, and from the plan before. By default, there is one
    plan, and the whole of it is the result."""

    variables: Mapping[str, VariableConfig] = attrs.field(validator=min_len(1))
    """What is varied, by name."""

    loss: Mapping[str, LossConfig] = attrs.field(validator=min_len(1))
    """The terms of the loss by name; their weighted sum is lowered, in each world."""

    optimiser: Literal["l-bfgs", "adam", "sgd"] = "l-bfgs"
    """The method: SciPy's L-BFGS-B with a line search, which needs `pippin[optimise]`; or Warp's Adam or gradient
    descent, with steps of `learning_rate`."""

    learning_rate: float | None = attrs.field(
        default=None,
        validator=[
            optional(positive),
            only_where(lambda table: table.optimiser != "l-bfgs", "optimiser = 'adam' or 'sgd'"),
        ],
    )
    """Size of the steps of `adam` and `sgd`, in units of `scale` (0.05). With `adam`, it is about the change of each
    value in an iteration; with `sgd`, the factor of the gradient."""

    iterations: int = attrs.field(default=100, validator=ge(1))
    """Largest number of iterations."""

    tolerance: float = attrs.field(default=1e-6, validator=non_negative)
    """The optimisation ends if the best loss of every world fell in five iterations by no more than this share of the
    first one, and with `l-bfgs` if their sum falls in one iteration by no more; with 0, never."""

    check: int = attrs.field(default=4, validator=ge(0))
    """Directions of each variable in which the first gradient is compared with a difference of two rollouts: those of
    single numbers if there are no more, else random ones. Worlds share the work. With 0, nothing is compared."""

    check_step: float = attrs.field(default=1e-3, validator=positive)
    """Half of the distance of these two rollouts, in units of `scale`."""

    check_tolerance: float = attrs.field(default=0.05, validator=positive)
    """Largest difference between derivative and difference quotient that passes, as a share of the derivatives."""

    segment: int | None = attrs.field(default=None, validator=optional(ge(1)))
    """Control steps whose states are kept at once: a longer rollout is computed twice, in pieces of this length. By
    default all of them are kept."""


@attrs.frozen(kw_only=True)
class OptimisedConfig:
    """The values that `pippin optimise` found for the variables of `[optimise]`, in all worlds."""

    implementation = ".optimised:Optimised"

    path: FilePath
    """A file `.npz` that the optimisation wrote: an array for each variable, shape [points, numbers]."""
