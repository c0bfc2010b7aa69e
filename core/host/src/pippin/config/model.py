"""Typed, frozen classes of a configuration file. Fields are in the order of the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import attrs
from attrs.validators import deep_iterable, deep_mapping, ge, gt, instance_of, min_len, optional
from pippin.catalog.entries import Catalog
from pippin.spelling import did_you_mean
from pippin.support.features import FEATURES
from pippin.validators import finite, in_schema, positive, slice_or_indices

from .collision import CollisionConfig
from .component import CatalogConfig, ComponentConfig
from .fields import NOT_A_KEY
from .files import FilePath
from .geometry import AttachmentConfig, Quaternion, Vector3, attributes_field, orientation, vector
from .joints import JointConfig, SceneSiteConfig, TendonConfig
from .shapes import ShapeConfig, TerrainConfig
from .tree import Node, Origin


def _three_or_six(instance: Any, attribute: attrs.Attribute[Any], value: tuple[float, ...] | None) -> None:
    if value is not None and len(value) not in (3, 6):
        raise ValueError(
            f"'inertia' must be 3 moments, or 3 moments and 3 products xy, xz, yz, got {len(value)} numbers"
        )


@attrs.frozen(kw_only=True)
class BodyMassConfig:
    """One table of `[scene.bodies]`, by pattern of labels of bodies: what stands in place of the asset's numbers."""

    is_by_pattern: ClassVar = True
    """For the core: whether the keys of such tables are patterns, and no labels."""

    mass: float | None = attrs.field(default=None, validator=optional(positive))
    """Mass [kg]. Without `inertia`, the inertia grows with it."""

    com: Vector3 | None = attrs.field(default=None, validator=optional(deep_iterable(finite)))
    """Centre of mass, in axes of the body from its origin [m]."""

    inertia: tuple[float, ...] | None = attrs.field(
        default=None, validator=[optional(deep_iterable(finite)), _three_or_six]
    )
    """Inertia about the centre of mass, in axes of the body [kg·m²]: xx, yy, zz, and perhaps xy, xz, yz."""


@in_schema(items={"enum": list(FEATURES)})
def _known_features(instance: Any, attribute: Any, value: tuple[str, ...]) -> None:
    for name in value:
        if name not in FEATURES:
            known = ", ".join(FEATURES)
            raise ValueError(
                f"'{attribute.name}' must name features, not {name!r}{did_you_mean(name, FEATURES)}: {known}"
            )


def _substeps(instance: Any, attribute: Any, value: int | str) -> None:
    if isinstance(value, int):
        ge(1)(instance, attribute, value)


@attrs.frozen(kw_only=True)
class SimulationOptions:
    """The `[simulation]` table: time step, device, graph capture and demands on the step."""

    dt: float = attrs.field(default=0.005, validator=[finite, gt(0.0)])
    """Length of a physics step [s]; actuators run once per physics step."""

    substeps: int | Literal["auto"] = attrs.field(default="auto", validator=_substeps)
    """Solver steps per physics step; each advances `dt / substeps`. `auto` is 1, or as many as contacts need on a
    solver that declares a `longest_contact_step`, such as `featherstone`."""

    decimation: int = attrs.field(default=1, validator=ge(1))
    """Physics steps per control step; `Simulation.step()` advances one control step."""

    device: str = "auto"
    """`cpu`, `cuda:0` and so on, or `auto`: the first CUDA device if there is one, else the CPU."""

    capture: Literal["auto", "require", "off"] = "auto"
    """Recording of the step into a graph: if possible (`auto`), or else an error (`require`), or never (`off`)."""

    seed: int = attrs.field(default=0, validator=ge(0))
    """Seed of all random numbers that components draw."""

    determinism: Literal["run-to-run"] | None = None
    """Whether every run on one machine must give the same bits (`run-to-run`). A plugin that does not promise this is
    refused."""

    requires_grad: bool = False
    """Whether `Simulation.rollout` records a tape for gradients; compiling backward kernels doubles a cold start."""

    observables: tuple[str, ...] = ()
    """Quantities that the solver reports for views: `contact_f`, `body_qdd`, `body_parent_f` or one of its own."""

    max_speed: float = attrs.field(default=1e4, validator=gt(0.0))
    """Velocity of a joint, a body or a particle [m/s, rad/s] above which the simulation has diverged: `check` reports
    it, and `run` stops. `1e30` allows any finite velocity."""

    @property
    def substep_count(self) -> int:
        """Solver steps per physics step; 1 where nobody has chosen them yet."""
        return 1 if self.substeps == "auto" else self.substeps

    @property
    def solver_dt(self) -> float:
        """Length of a substep, which is a step of the solver [s]."""
        return self.dt / self.substep_count

    @property
    def control_dt(self) -> float:
        """Length of a control step [s]."""
        return self.dt * self.decimation

    max_effort: float = attrs.field(default=1e8, validator=gt(0.0))
    """Effort on a joint [N, N·m] above which the simulation has diverged, likewise."""

    accept_unsupported: tuple[str, ...] = attrs.field(default=(), validator=_known_features)
    """Features of the scene that may be left out if the solver does not support them; a note says which ones are. Any
    other unsupported feature is an error."""


@attrs.frozen(kw_only=True)
class AssetConfig:
    """One `[[scene.assets]]` table: a robot or an object, its worlds and its pose."""

    path: FilePath
    """A file, by its path relative to the configuration file; or `pkg:package/path` inside an installed package, or
    `newton:folder/path` among the assets that Newton downloads into its cache."""

    format: Literal["mjcf", "urdf", "usd"] | None = None
    """The format; by default the suffix decides: .xml and .mjcf, .urdf and .xacro, .usd, .usda, .usdc and .usdz, and
    those of installed importers."""

    importer: Annotated[ComponentConfig, "importer"] | None = None
    """The plugin that reads the file, in place of a known format: its name, or a table with its settings."""

    label: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Prefix of the asset's labels, to distinguish copies of one file: `left` gives `left/ant/worldbody/torso`."""

    up_axis: Literal["x", "y", "z"] | None = None
    """Up axis in the asset's file, by default z; it is rotated to the scene's z. MJCF and URDF only: a USD stage states
    its up axis."""

    worlds: str | tuple[int, ...] | None = attrs.field(default=None, validator=optional(slice_or_indices))
    """Worlds that contain the asset: a slice as in Python (`"0:32"`, `"::2"`) or a list of indices; by default all."""

    position: Vector3 = vector()
    """Position of the asset's origin in the world [m]; poses in the file are relative to this origin."""

    rotation: Quaternion = orientation()
    """Orientation of the asset in the world: unit quaternion (x, y, z, w)."""

    scale: float | None = attrs.field(default=None, validator=optional([finite, gt(0.0)]))
    """Uniform scale of lengths (MJCF and URDF only)."""

    floating: bool | None = None
    """Whether the root is free to move; by default as the asset states, and fixed for a URDF."""

    keyframe: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Name of a keyframe of the file, which gives the start pose, the velocities and the inputs of the asset's own
    actuators (MJCF only). Without controls in the keyframe, the servos hold its pose."""

    joint_positions: Mapping[str, float] = attrs.field(factory=dict, validator=deep_mapping(instance_of(str), finite))
    """Initial positions [m or rad] by pattern of names of joints or axes; others start at the positions in the file or
    in its keyframe."""

    armature: float | None = attrs.field(default=None, validator=optional([finite, ge(0.0)]))
    """Rotor inertia [kg or kg·m²] of joints for which the file states none; a URDF never states one."""

    inertia: Literal["file", "shapes"] = "file"
    """Whether masses and inertias are those of the file, or those of the collision shapes by the density of
    `[scene.shapes]` (URDF only)."""

    body_armature: float = attrs.field(default=0.0, validator=[finite, ge(0.0)])
    """Inertia that is added to each body about every axis [kg·m²], which steadies light links under stiff drives."""

    attributes: Mapping[str, Mapping[str, float | tuple[float, ...]]] = attributes_field()
    """Custom attributes of the solver by `SOLVER:NAME`, such as `mujoco:gravcomp`: a number, or a list of components,
    by pattern of the labels of bodies, shapes or joints."""

    ignore: tuple[str, ...] = ()
    """Label patterns of parts to leave out: named geoms and sites (MJCF), or prims with their descendants (USD)."""

    self_collisions: bool | None = None
    """Whether the asset's own shapes collide with each other; a setting in a USD stage takes precedence. By default
    they do, but for links of a URDF that overlap in the start pose: URDF does not say which links may collide."""

    collapse_fixed_joints: bool | None = None
    """Whether bodies joined by fixed joints are merged; sites keep their names. Default: on for a URDF in maximal
    coordinates, where the solver would have to hold them together; otherwise only massless links that the solver
    rejects."""

    convex_hulls: bool = True
    """Whether contacts see the convex hulls of the asset's meshes, as MuJoCo's always do (MJCF and URDF only); `false`
    lets Newton's collision take the triangles of the meshes, which is slow on the CPU. Meshes with an SDF keep it."""

    bounding_boxes: bool = False
    """Whether contacts see the bounding boxes of the asset's meshes, which are fast and coarse; each box lies as its
    mesh does."""

    normalise: bool = True
    """Whether MuJoCo's own reader resolves an MJCF file before Newton's importer reads it: includes, default classes,
    attached models, replicas, composites and compiler options."""

    accept_lost: tuple[str, ...] = ()
    """Kinds of elements that may differ from MuJoCo's own model of an MJCF file so that it is another mechanism, as the
    error names them: `flexes`, `geom`, `joint`."""

    mujoco_options: bool = True
    """Whether the asset's own MuJoCo options are read (MJCF and USD only)."""

    package_dirs: tuple[FilePath, ...] = ()
    """Folders that hold the packages of `package://name/…` (URDF only), searched after the folders above the file and
    before those of ROS's environment variables."""

    xacro_args: Mapping[str, str] = attrs.field(
        factory=dict, validator=deep_mapping(instance_of(str), instance_of(str))
    )
    """Values of the arguments of a xacro file, which is a URDF with macros."""


def _counts_in_32_bits(instance: Any, attribute: Any, value: int) -> None:
    if value + instance.worlds > 2**31:
        raise ValueError(
            f"'{attribute.name}' must leave the last world below 2**31, as its number has 32 bits: {value}"
        )


@in_schema(minimum=1)
def _holds_all_worlds(instance: Any, attribute: Any, value: int) -> None:
    end = instance.first_world + instance.worlds
    if value < end:
        raise ValueError(f"'{attribute.name}' must be at least first_world + worlds, which is {end}, not {value}")


def _the_only_ground(instance: Any, attribute: Any, value: TerrainConfig | None) -> None:
    if value is not None and instance.ground:
        raise ValueError(f"'{attribute.name}' is given beside 'ground'; leave one of the two out")
    if value is not None and any(instance.spacing):
        raise ValueError(
            f"'{attribute.name}' is one ground for all worlds, and 'spacing' would draw them apart; leave it out, got"
            f" {list(instance.spacing)}"
        )


@attrs.frozen(kw_only=True)
class FilterConfig:
    """One table of `[scene].filters`: shapes that do not collide with each other."""

    a: tuple[str, ...] = attrs.field(validator=min_len(1))
    """Patterns of the labels of shapes."""

    b: tuple[str, ...] = attrs.field(validator=min_len(1))
    """Patterns of the labels of the shapes with which those of `a` do not collide."""


@attrs.frozen(kw_only=True)
class SceneConfig:
    """The `[scene]` table: the content of the worlds, and their number."""

    worlds: int = attrs.field(default=1, validator=ge(1))
    """Number of independent worlds, simulated side by side."""

    first_world: int = attrs.field(default=0, validator=[ge(0), _counts_in_32_bits])
    """Number of the first world among those of a larger run: random draws depend on it."""

    total_worlds: int | None = attrs.field(default=None, validator=optional(_holds_all_worlds))
    """Number of worlds of the larger run: the places at which worlds are drawn depend on it, and a solver whose worlds
    depend on each other refuses a part of them. By default the run ends with these worlds."""

    spacing: Vector3 = vector()
    """Distance between neighbouring worlds when they are drawn [m]; in the physics, every world is at the origin."""

    ground: bool = False
    """Whether a ground plane, shared by all worlds, lies at height zero."""

    terrain: TerrainConfig | None = attrs.field(default=None, validator=_the_only_ground)
    """Ground of patches, such as stairs and slopes, in place of the plane."""

    gravity: Vector3 | None = attrs.field(default=None, validator=optional(deep_iterable(finite)))
    """Gravitational acceleration [m/s²]; z is up. By default that of the assets, or of a prototype built in Python, and
    (0, 0, -9.81) if they state none."""

    settable_joints: bool = False
    """Whether drives, limits and the other properties of every hinge, slider and joint of several axes can be set at
    run time although the scene gives the joint none; some solvers otherwise refuse it. Drives then have no gains, and
    limits are out of reach."""

    shapes: ShapeConfig = attrs.field(factory=ShapeConfig)
    """Properties of shapes that their asset does not state."""

    assets: tuple[AssetConfig, ...] = ()
    """Robots and objects of files, in order; empty if a prototype built in Python is passed instead."""

    bodies: Mapping[str, BodyMassConfig] = attrs.field(factory=dict)
    """Masses, centres of mass and inertias by pattern of labels of bodies, in place of those of assets and objects."""

    materials: Mapping[str, ShapeConfig] = attrs.field(factory=dict)
    """Properties of shapes by the name of a material, with the keys of `[scene.shapes]`; shapes of objects name it."""

    joints: tuple[JointConfig, ...] = ()
    """Joints between the bodies of objects, and between them and the world."""

    objects: tuple[Annotated[ComponentConfig, "object"], ...] = ()
    """Objects without a file, in order, after the assets."""

    sites: tuple[SceneSiteConfig, ...] = ()
    """Named frames on bodies of assets or objects, for sensors and tendons."""

    tendons: tuple[TendonConfig, ...] = ()
    """Cables without mass over bodies of assets or objects."""

    attachments: tuple[AttachmentConfig, ...] = ()
    """Particles of objects that bodies hold."""

    filters: tuple[FilterConfig, ...] = ()
    """Pairs of shapes that do not collide, of assets or objects."""

    @property
    def has_equal_worlds(self) -> bool:
        """Whether each asset and each object is in every world."""
        return all(each.worlds is None for each in (*self.assets, *(chosen.config for chosen in self.objects)))

    @property
    def run_worlds(self) -> int:
        """The number of worlds of the whole run, of which this may be a part."""
        return self.total_worlds or self.first_world + self.worlds


@attrs.frozen(kw_only=True)
class SimulationConfig:
    """A whole configuration file: the tables of the host, and those that kinds of plugins and packages register.

    `config.sensors`, `config.solver`, `config.task` and so on are those others. A table of plugins by label is a
    mapping, which is empty if the file has none; any other table is None then.
    """

    simulation: SimulationOptions = attrs.field(factory=SimulationOptions)
    scene: SceneConfig = attrs.field(factory=SceneConfig)
    collision: CollisionConfig = attrs.field(factory=CollisionConfig)
    catalog: CatalogConfig = attrs.field(factory=CatalogConfig)

    tables: Mapping[str, Any] = attrs.field(factory=dict, metadata={NOT_A_KEY: True})
    """The registered tables by name: a `ComponentConfig`, several by label, or the object of the table's class."""

    tree: Node = attrs.field(factory=lambda: Node({}, Origin()), eq=False, repr=False, metadata={NOT_A_KEY: True})
    """For the core: the values as written, each with its file and line, from which later faults take their places."""

    def __getattr__(self, name: str) -> Any:
        """Return a registered table, or what stands for its absence."""
        if name == "tables" or name.startswith("_"):
            raise AttributeError(name)
        if name in self.tables:
            return self.tables[name]
        known = Catalog.installed().tables
        if name not in known:
            near = did_you_mean(name, [*known, *(field.name for field in attrs.fields(type(self)))])
            raise AttributeError(f"no package registers a table [{name}]{near}")
        return {} if getattr(known[name], "is_labelled", False) else None

    def with_tables(self, **tables: Any) -> SimulationConfig:
        """Return the same configuration with registered tables replaced; an empty one, or None, leaves a table out."""
        return attrs.evolve(self, tables={name: each for name, each in {**self.tables, **tables}.items() if each})

    def unobserved(self) -> SimulationConfig:
        """Return the same simulation without viewers and recorders, for a build that measures or checks."""
        observers = {kind.table for kind in Catalog.installed().kinds.values() if kind.is_observer}
        return attrs.evolve(self, tables={name: each for name, each in self.tables.items() if name not in observers})

    @staticmethod
    def other_keys() -> Mapping[str, Any]:
        """Return the tables that a file may have besides those of the host."""
        return Catalog.installed().tables
