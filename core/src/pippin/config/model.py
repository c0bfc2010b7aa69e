"""The typed, frozen form of a configuration file. Field order is the order of the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import attrs
from attrs.validators import deep_iterable, deep_mapping, ge, gt, instance_of, min_len, optional
from pippin.features import FEATURES
from pippin.spelling import did_you_mean
from pippin.validators import finite, in_schema, unit_quaternion

from .catalog import CatalogConfig
from .collision import CollisionConfig
from .paths import FilePath
from .shapes import ShapeConfig

__all__ = [
    "AssetConfig",
    "ComponentConfig",
    "SceneConfig",
    "SimulationConfig",
    "StepConfig",
]

_SLICE = r"^(-?\d+)?:(-?\d+)?(:[1-9]\d*)?$"

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@in_schema(items={"enum": list(FEATURES)})
def _known_features(instance: Any, attribute: Any, value: tuple[str, ...]) -> None:
    for name in value:
        if name not in FEATURES:
            known = ", ".join(FEATURES)
            raise ValueError(
                f"'{attribute.name}' must name features, not {name!r}{did_you_mean(name, FEATURES)}: {known}"
            )


@in_schema(pattern=_SLICE, minItems=1, items={"minimum": 0})
def _slice_or_indices(instance: Any, attribute: Any, value: str | tuple[int, ...]) -> None:
    if isinstance(value, str) and not re.fullmatch(_SLICE, value):
        raise ValueError(f"'{attribute.name}' must be a slice with a positive step, such as '0:32' or '::2': {value!r}")
    if not value:
        raise ValueError(f"'{attribute.name}' must hold at least one world; leave it out for all of them")


@attrs.frozen(kw_only=True)
class StepConfig:
    """The `[simulation]` table: how time advances, where, and whether the step is captured."""

    dt: float = attrs.field(default=0.005, validator=[finite, gt(0.0)])
    """Length of one physics step [s]: actuators run once in it."""

    substeps: int = attrs.field(default=1, validator=ge(1))
    """Solver steps per physics step; each advances `dt / substeps`."""

    decimation: int = attrs.field(default=1, validator=ge(1))
    """Physics steps per control step; `Simulation.step()` advances one control step."""

    device: str = "auto"
    """`cpu`, `cuda:0` and so on, or `auto`: the first CUDA device where there is one, else the CPU."""

    capture: Literal["auto", "require", "off"] = "auto"
    """Record the step into a graph: where it can be (`auto`), or fail (`require`), or never (`off`)."""

    seed: int = attrs.field(default=0, validator=ge(0))
    """Seed of every random number a component draws."""

    determinism: Literal["run-to-run"] | None = None
    """Whether every run on one machine must give the same bits (`run-to-run`); what cannot is refused by name."""

    requires_grad: bool = False
    """Whether `Simulation.rollout` records what gradients are computed from; backward kernels double a cold start."""

    observables: tuple[str, ...] = ()
    """What else the solver reports, for views: `contact_f`, `body_qdd`, `body_parent_f` or a kind of its own."""

    accept_unsupported: tuple[str, ...] = attrs.field(default=(), validator=_known_features)
    """Features of the scene to do without where the solver does not support them; others are refused or warned of."""


@attrs.frozen(kw_only=True)
class AssetConfig:
    """One `[[scene.assets]]` table: a robot or an object, and where each world puts it."""

    path: FilePath
    """A file (relative to the configuration file), or `pkg:package/path` inside an installed package."""

    format: Literal["mjcf", "urdf", "usd"] | None = None
    """The importer; by default the suffix decides: .xml and .mjcf, .urdf, .usd, .usda, .usdc and .usdz."""

    label: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Prefix of the asset's labels, to tell copies of one file apart: `left` makes `left/ant/worldbody/torso`."""

    up_axis: Literal["x", "y", "z"] | None = None
    """The asset's own up axis, z by default (MJCF and URDF only: a USD stage says its own). Turned to the scene's z."""

    worlds: str | tuple[int, ...] | None = attrs.field(default=None, validator=optional(_slice_or_indices))
    """The worlds that hold it: a slice as in Python (`"0:32"`, `"::2"`) or a list of indices; by default all."""

    position: Vector3 = attrs.field(default=(0.0, 0.0, 0.0), validator=deep_iterable(finite))
    """Position of the asset's origin in the world [m]; the file's own placement of its bodies adds to it."""

    rotation: Quaternion = attrs.field(default=(0.0, 0.0, 0.0, 1.0), validator=[deep_iterable(finite), unit_quaternion])
    """Orientation of the asset in the world: unit quaternion (x, y, z, w)."""

    scale: float | None = attrs.field(default=None, validator=optional([finite, gt(0.0)]))
    """Uniform scale of lengths (MJCF and URDF only)."""

    floating: bool | None = None
    """Whether the root is free to move; by default what the asset says, or fixed for a URDF."""

    joint_positions: Mapping[str, float] = attrs.field(factory=dict, validator=deep_mapping(instance_of(str), finite))
    """Positions [m or rad] that joints start at, by label pattern; the others start where the file puts them."""

    armature: float | None = attrs.field(default=None, validator=optional([finite, ge(0.0)]))
    """Rotor inertia [kg or kg·m²] of the joints whose own the file does not state; a URDF states none."""

    ignore: tuple[str, ...] = ()
    """Label patterns of named geoms and sites (MJCF), or of prims with all below them (USD), to leave out."""

    self_collisions: bool = True
    """Whether the asset's own shapes collide with each other, where a USD stage does not say."""

    collapse_fixed_joints: bool = False
    """Whether bodies joined by fixed joints are merged."""

    mujoco_options: bool = True
    """Whether the asset's own MuJoCo options are read (MJCF and USD only)."""


@attrs.frozen(kw_only=True)
class SceneConfig:
    """The `[scene]` table: what one world holds, and how many worlds there are."""

    worlds: int = attrs.field(default=1, validator=ge(1))
    """Independent copies simulated side by side."""

    spacing: Vector3 = attrs.field(default=(0.0, 0.0, 0.0), validator=deep_iterable(finite))
    """Distance between neighbouring worlds where they are drawn [m]; physics keeps every world at the origin."""

    ground: bool = False
    """Whether a ground plane, shared by all worlds, lies at height zero."""

    gravity: Vector3 = attrs.field(default=(0.0, 0.0, -9.81), validator=deep_iterable(finite))
    """Gravitational acceleration [m/s²]; z is up. It holds whatever an asset or a prototype says."""

    shapes: ShapeConfig = attrs.field(factory=ShapeConfig)
    """What shapes are made of where their asset does not say."""

    assets: tuple[AssetConfig, ...] = ()
    """What the worlds hold, in order. Empty where a prototype built in Python is passed instead."""


@attrs.frozen(kw_only=True)
class ComponentConfig:
    """A plugin chosen by name, and its own configuration: `[solver]`, `[actuators.*]`, `[sensors.*]`, `[plugins.*]`."""

    type: str = attrs.field(validator=instance_of(str))
    """The entry point's name, or `dist:name` where two distributions offer the same name."""

    config: Any
    """An instance of the plugin's `Config` class."""


@attrs.frozen(kw_only=True)
class SimulationConfig:
    """A whole configuration file. Each `Annotated` component says in which kind of the catalog its `type` is found."""

    simulation: StepConfig = attrs.field(factory=StepConfig)
    scene: SceneConfig = attrs.field(factory=SceneConfig)
    solver: Annotated[ComponentConfig, "solver"] | None = None  # a plugin made in Python may build it instead
    collision: CollisionConfig = attrs.field(factory=CollisionConfig)
    actuators: Mapping[str, Annotated[ComponentConfig, "actuator"]] = attrs.field(factory=dict)
    sensors: Mapping[str, Annotated[ComponentConfig, "sensor"]] = attrs.field(factory=dict)
    plugins: Mapping[str, Annotated[ComponentConfig, "plugin"]] = attrs.field(factory=dict)
    catalog: CatalogConfig = attrs.field(factory=CatalogConfig)
