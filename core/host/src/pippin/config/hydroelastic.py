"""The `[collision.hydroelastic]` table: contacts as patches of pressure, in place of points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import attrs
from attrs.validators import ge, gt, le
from pippin.validators import finite, only_where

_reduced = only_where(lambda table: table.reduce_contacts, "reduce_contacts = true")
_pruned = only_where(
    lambda table: table.reduce_contacts and table.pre_prune_contacts, "reduce_contacts and pre_prune_contacts = true"
)


def _fraction(default: float, *validators: Any) -> Any:
    """Return a field for a fraction of a buffer: above 0, at most 1."""
    return attrs.field(default=default, validator=[finite, gt(0.0), le(1.0), *validators])


def _multiplier() -> Any:
    """Return a field for a factor on the capacity that Newton estimates."""
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
