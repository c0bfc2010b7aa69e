"""The `[collision]` table: every option of Newton's collision pipeline that plain data can state, and what excludes
what: a value that Newton would ignore is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import attrs
from attrs.validators import ge, le, optional
from pippin.validators import finite, only_where, positive

from .hydroelastic import HydroelasticConfig

__all__ = ["BodyPairReductionConfig", "CollisionConfig"]

_matched = only_where(
    lambda table: table.contact_matching != "disabled",
    "contact_matching = 'latest' or 'sticky'",
)
_searched = only_where(
    lambda table: table.broad_phase in ("nxn", "sap"),
    "broad_phase = 'nxn' or 'sap', as 'explicit' has room for every pair",
)
_reduced = only_where(lambda table: table.reduce_contacts, "reduce_contacts = true")
_rigid = only_where(
    lambda table: table.hydroelastic is None,
    "[collision.hydroelastic] to be absent",
)
_drifting = only_where(
    lambda table: table.contact_matching != "sticky",
    "contact_matching = 'disabled' or 'latest'",
)


def _capacity(*validators: Any) -> Any:
    """Return a field for a buffer size, estimated by Newton where it is not given."""
    return attrs.field(default=None, validator=[optional(ge(1)), *validators])


def _distance(*validators: Any) -> Any:
    """Return a field for a finite distance that is at least zero, chosen by Newton where it is not given."""
    return attrs.field(default=None, validator=[optional([finite, ge(0.0)]), *validators])


@attrs.frozen(kw_only=True)
class BodyPairReductionConfig:
    """Fewer contacts between bodies of many shapes: per pair of bodies, direction and cell the deepest and outermost.

    An approximation: check what tips or turns. For solvers that take such contacts; Steel does.
    """

    cell_size: float = attrs.field(default=0.25, validator=positive)
    """Edge of the cells [m]: patches of contact in different cells are kept apart."""

    hashtable_size_factor: float = attrs.field(default=1.0, validator=positive)
    """Factor on the size of the table of groups that Newton estimates."""

    material_attributes: tuple[str, ...] | None = None
    """Custom attributes of shapes that must agree for shapes of a body to share a group; by default all."""


@attrs.frozen(kw_only=True)
class CollisionConfig:
    """Newton's collision pipeline, for the solvers that do not detect contacts themselves."""

    replaced_keys: ClassVar[Mapping[str, str]] = {"soft_contact_margin": "write soft_contact_gap"}

    broad_phase: Literal["explicit", "nxn", "sap"] | None = None
    """How candidate pairs are found; by default what Newton chooses for the model."""

    interval: int = attrs.field(default=1, validator=ge(1))
    """Substeps between two detections; every physics step begins with one."""

    rigid_contact_max: int | None = _capacity()
    """Capacity of the rigid contact buffer, all worlds together; by default Newton's estimate."""

    soft_contact_max: int | None = _capacity()
    """Capacity of the buffer of contacts between particles and shapes; by default Newton's estimate."""

    shape_pairs_max: int | None = _capacity(_searched)
    """Capacity of the candidate pairs of `nxn` and `sap`; by default the worst case."""

    max_triangle_pairs: int | None = _capacity()
    """Capacity of the triangle pairs of meshes and heightfields; by default Newton's estimate."""

    contact_reduction_hashtable_size_factor: float = attrs.field(default=0.25, validator=[positive, _reduced])
    """Entries of the table that reduces contacts, in units of `max_triangle_pairs`."""

    reduce_contacts: bool = True
    """Whether the contacts of two meshes are reduced to a few."""

    body_pair_reduction: BodyPairReductionConfig | None = attrs.field(default=None, validator=[_drifting, _rigid])
    """Fewer contacts between bodies of many shapes; by default all are kept. Neither for `contact_matching` = "sticky"
    nor for hydroelastic contacts."""

    include_static_kinematic_pairs: bool = True
    """Whether kinematic bodies have contacts with static and kinematic ones."""

    soft_contact_gap: float | None = _distance()
    """Distance beyond a particle's radius at which its contacts are detected [m]; by default 0.01."""

    enable_rigid_soft_full_surface_contact: bool = False
    """Whether edges and faces of soft meshes have contacts, beside their particles; used by `vbd` alone."""

    deterministic: bool = False
    """Whether contacts come in the same order in every run, on CUDA; on the CPU they do."""

    contact_matching: Literal["disabled", "latest", "sticky"] = "disabled"
    """Whether a contact knows which one it was in the last detection, and (`sticky`) keeps its geometry."""

    contact_matching_pos_threshold: float = attrs.field(default=0.0005, validator=[positive, _matched])
    """Largest distance between matched contacts [m]."""

    contact_matching_normal_dot_threshold: float = attrs.field(
        default=0.995, validator=[finite, ge(-1.0), le(1.0), _matched]
    )
    """Smallest cosine of the angle between the normals of matched contacts."""

    contact_report: bool = attrs.field(default=False, validator=_matched)
    """Whether new and broken contacts are listed."""

    verify_buffers: bool = True
    """Whether Newton warns of a full buffer in the middle of a step, beside the error that `check` raises."""

    speculative_contact_gap_max: float | None = _distance(_rigid)
    """Largest distance by which velocity widens the search for contacts [m]; by default it does not."""

    dynamic_shape_scale: bool = False
    """Whether the scale of shapes may change at run time."""

    publish_capacity: bool = True
    """Whether the capacity of the contact buffer is written to the model, for solvers that size their own by it."""

    hydroelastic: HydroelasticConfig | None = None
    """How hydroelastic shapes meet; by default as Newton chooses. Shapes are hydroelastic by `[scene.shapes]`."""
