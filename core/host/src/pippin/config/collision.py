"""The table `[collision]`: every option of Newton's collision pipeline that plain data can state.

A value that Newton would ignore because of another option is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import attrs
from attrs.validators import ge, gt, le, optional
from pippin.validators import finite, only_where, positive

from .geometry import number

_reduced = only_where(lambda table: table.reduce_contacts, "reduce_contacts = true")
_pruned = only_where(
    lambda table: table.reduce_contacts and table.pre_prune_contacts, "reduce_contacts and pre_prune_contacts = true"
)


def _fraction(default: float, *validators: Any) -> Any:
    return attrs.field(default=default, validator=[finite, gt(0.0), le(1.0), *validators])


def _multiplier() -> Any:
    return attrs.field(default=1, validator=ge(1))


@attrs.frozen(kw_only=True)
class HydroelasticConfig:
    """Contacts between two hydroelastic shapes: on the contact surface, their pressures are equal."""

    replaced_keys: ClassVar[Mapping[str, str]] = {
        "margin_contact_area": "leave it out, Newton deprecates it; contacts that do not touch yet are as stiff as"
        " 0.01 m²"
    }
    """Cures of keys that Newton has replaced, by the old key."""

    reduce_contacts: bool = True
    """Whether the contacts of a pair are reduced to a few."""

    pre_prune_contacts: bool = True
    """Whether contacts are also thinned out before the reduction. It has no effect without reduction, or if contacts
    are deterministic."""

    buffer_fraction: float = _fraction(1.0)
    """Fraction of Newton's estimate that is allocated, for every buffer."""

    buffer_mult_broad: int = _multiplier()
    """Factor on the capacity for pairs of overlapping blocks."""

    buffer_mult_iso: int = _multiplier()
    """Factor on the capacity for voxels that the contact surface crosses."""

    buffer_mult_contact: int = _multiplier()
    """Factor on the capacity for faces of the contact surface."""

    contact_buffer_fraction: float = _fraction(0.5, _pruned)
    """Fraction of the face buffer that is allocated if contacts are thinned out first."""

    contact_reduction_hashtable_size_factor: float = attrs.field(default=0.25, validator=[finite, gt(0.0), _reduced])
    """Entries of the hash table of the contact reduction, in units of the face buffer's size."""

    grid_size: int = attrs.field(default=262144, validator=ge(1))
    """Number of threads that work on faces."""

    output_contact_surface: bool = False
    """Whether the contact surface is kept, for drawing."""

    normal_matching: bool = True
    """Whether the normals of reduced contacts are rotated so that their sum has the direction of the total force."""

    anchor_contact: bool = attrs.field(default=False, validator=_reduced)
    """Whether a contact is added at the centre of pressure, to preserve the moment."""

    moment_matching: bool = attrs.field(default=False, validator=_reduced)
    """Whether reduced contacts preserve the largest friction moment; this adds the anchor contact too."""

    mc_edge_clamp_min: float = attrs.field(default=0.02, validator=[finite, ge(0.0), le(0.5)])
    """Smallest distance from a voxel's corner at which the surface crosses an edge, in edge lengths; 0 is the most
    accurate."""


_matched = only_where(lambda table: table.contact_matching != "disabled", "contact_matching = 'latest' or 'sticky'")
_searched = only_where(
    lambda table: table.broad_phase in ("nxn", "sap"),
    "broad_phase = 'nxn' or 'sap', as 'explicit' has room for every pair",
)
_rigid = only_where(lambda table: table.hydroelastic is None, "[collision.hydroelastic] to be absent")
_drifting = only_where(lambda table: table.contact_matching != "sticky", "contact_matching = 'disabled' or 'latest'")


def _substeps(instance: Any, attribute: Any, value: int | str) -> None:
    if isinstance(value, int):
        ge(1)(instance, attribute, value)
    elif not instance.speculative_contact_gap_max:
        raise ValueError(
            f"'{attribute.name}' is 'adaptive', but no speculative_contact_gap_max says how far bodies may move between"
            " two detections; set it to a distance above 0 [m]"
        )


def _capacity(*validators: Any) -> Any:
    return attrs.field(default=None, validator=[optional(ge(1)), *validators])


@attrs.frozen(kw_only=True)
class BodyPairReductionConfig:
    """Fewer contacts between bodies of many shapes: the deepest and outermost of each group.

    A group is a pair of bodies, a direction and a cell. This is an approximation: check tasks in which bodies tip or
    turn. Only some solvers accept such contacts; Steel does.
    """

    cell_size: float = attrs.field(default=0.25, validator=positive)
    """Edge length of the cells [m]; contact patches in different cells are kept separately."""

    hashtable_size_factor: float = attrs.field(default=1.0, validator=positive)
    """Factor on Newton's estimate of the number of groups."""

    material_attributes: tuple[str, ...] | None = None
    """Custom attributes that must be equal for shapes of one body to share a group; by default all."""


PARTICLE_NUMBERS = (
    *("soft_contact_ke", "soft_contact_kd", "soft_contact_kf", "soft_contact_mu", "soft_contact_restitution"),
    *("particle_ke", "particle_kd", "particle_kf", "particle_mu", "particle_cohesion", "particle_adhesion"),
)
"""Keys of the contacts of particles, which are numbers of Newton's model and not of its pipeline."""


@attrs.frozen(kw_only=True)
class CollisionConfig:
    """Newton's collision pipeline, for the solvers that do not detect contacts themselves."""

    replaced_keys: ClassVar[Mapping[str, str]] = {"soft_contact_margin": "write soft_contact_gap"}
    """Cures of keys that Newton has replaced, by the old key."""

    broad_phase: Literal["explicit", "nxn", "sap"] | None = None
    """Search for candidate pairs; by default Newton chooses one for the model."""

    interval: int | Literal["adaptive"] = attrs.field(default=1, validator=_substeps)
    """Substeps between two detections; every physics step begins with a detection. `adaptive` detects again when the
    fastest shapes may have moved by `speculative_contact_gap_max`, or when a velocity changes; it needs an even number
    of substeps, and rigid bodies alone."""

    rigid_contact_max: int | None = _capacity()
    """Capacity of the rigid contact buffer, all worlds together; by default Newton's estimate."""

    soft_contact_max: int | None = _capacity()
    """Capacity of the buffer of contacts between particles and shapes; by default Newton's estimate."""

    shape_pairs_max: int | None = _capacity(_searched)
    """Capacity of the candidate pairs of `nxn` and `sap`; by default the worst case."""

    max_triangle_pairs: int | None = _capacity()
    """Capacity of the triangle pairs of meshes and heightfields; by default Newton's estimate."""

    contact_reduction_hashtable_size_factor: float = attrs.field(default=0.25, validator=[positive, _reduced])
    """Entries of the hash table of the contact reduction, in units of `max_triangle_pairs`."""

    reduce_contacts: bool = True
    """Whether the contacts of two meshes are reduced to a few."""

    body_pair_reduction: BodyPairReductionConfig | None = attrs.field(default=None, validator=[_drifting, _rigid])
    """Fewer contacts between bodies of many shapes; by default all are kept. It excludes `contact_matching` = "sticky"
    and hydroelastic contacts."""

    include_static_kinematic_pairs: bool = True
    """Whether kinematic bodies have contacts with static bodies and with each other."""

    soft_contact_gap: float | None = number()
    """Distance beyond a particle's radius at which its contacts are detected [m]; by default 0.01."""

    enable_rigid_soft_full_surface_contact: bool = False
    """Whether edges and faces of soft meshes have contacts, besides their particles; only `vbd` uses them."""

    deterministic: bool = False
    """Whether contacts have the same order in every run on CUDA; on the CPU they always do."""

    contact_matching: Literal["disabled", "latest", "sticky"] = "disabled"
    """Whether contacts are matched to the last detection (`latest`) and also keep their geometry (`sticky`)."""

    contact_matching_pos_threshold: float = attrs.field(default=0.0005, validator=[positive, _matched])
    """Largest distance between matched contacts [m]."""

    contact_matching_normal_dot_threshold: float = attrs.field(
        default=0.995, validator=[finite, ge(-1.0), le(1.0), _matched]
    )
    """Smallest cosine of the angle between the normals of matched contacts."""

    contact_report: bool = attrs.field(default=False, validator=_matched)
    """Whether new and broken contacts are listed."""

    verify_buffers: bool = False
    """Whether Newton warns in each step in which a buffer is full; the first one is told, and an error, in any case."""

    speculative_contact_gap_max: float | None = number(_rigid)
    """Largest detection distance that Newton derives from velocity [m]; by default velocity has no effect."""

    dynamic_shape_scale: bool = False
    """Whether the scale of shapes may change at run time."""

    publish_capacity: bool = True
    """Whether the capacities of the contact buffers are written to the model, for solvers that size theirs by them."""

    hydroelastic: HydroelasticConfig | None = None
    """Settings of hydroelastic contacts; by default Newton's. `[scene.shapes]` makes shapes hydroelastic."""

    soft_contact_ke: float | None = number()
    """Stiffness of contacts between particles and shapes [N/m] (1000). This and the next three are of all worlds, and
    most solvers take the mean with the number of the shape."""

    soft_contact_kd: float | None = number()
    """Damping of contacts between particles and shapes [N·s/m] (10)."""

    soft_contact_kf: float | None = number()
    """Damping of particles that slide on shapes, up to the force of friction [N·s/m] (1000)."""

    soft_contact_mu: float | None = number()
    """Coefficient of friction between particles and shapes (0.5)."""

    soft_contact_restitution: float | None = number(optional(le(1.0)))
    """Coefficient of restitution of particles at shapes, in which the shape has no part (0)."""

    particle_ke: float | None = number()
    """Stiffness of contacts between particles [N/m] (1000)."""

    particle_kd: float | None = number()
    """Damping of contacts between particles [N·s/m] (100)."""

    particle_kf: float | None = number()
    """Damping of particles that slide on each other, up to the force of friction [N·s/m] (100)."""

    particle_mu: float | None = number()
    """Coefficient of friction between particles (0.5)."""

    particle_cohesion: float | None = number()
    """Distance between their surfaces up to which particles attract each other [m] (0)."""

    particle_adhesion: float | None = number()
    """Distance up to which shapes attract particles [m] (0); `soft_contact_gap` must be as large."""

    def particle_numbers(self) -> dict[str, float]:
        """Return the stated numbers of the contacts of particles, by key, which is the model's attribute, too."""
        stated = {name: getattr(self, name) for name in PARTICLE_NUMBERS}
        return {name: value for name, value in stated.items() if value is not None}
