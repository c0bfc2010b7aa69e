"""The `[collision.hydroelastic]` table: contacts that are patches of pressure, in place of points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import attrs
from attrs.validators import ge, gt, le
from pippin.validators import finite, only_where

__all__ = ["HydroelasticConfig"]

_reduced = only_where(lambda table: table.reduce_contacts, "reduce_contacts = true")
_pruned = only_where(
    lambda table: table.reduce_contacts and table.pre_prune_contacts,
    "reduce_contacts and pre_prune_contacts = true",
)


def _fraction(default: float, *validators: Any) -> Any:
    """Return a field for a part of a buffer: more than nothing, all of it at most."""
    return attrs.field(default=default, validator=[finite, gt(0.0), le(1.0), *validators])


def _multiplier() -> Any:
    """Return a field for a factor on the capacity that Newton estimates."""
    return attrs.field(default=1, validator=ge(1))


@attrs.frozen(kw_only=True)
class HydroelasticConfig:
    """How shapes that are hydroelastic, both of a pair, meet: pressures are equal on the surface of contact."""

    replaced_keys: ClassVar[Mapping[str, str]] = {
        "margin_contact_area": "leave it out, contacts that do not touch yet have the stiffness of those that do",
    }

    reduce_contacts: bool = True
    """Whether the contacts of a pair are reduced to a few."""

    pre_prune_contacts: bool = True
    """Whether they are thinned out before that as well, where contacts are reduced and not deterministic."""

    buffer_fraction: float = _fraction(1.0)
    """Part of every buffer that Newton estimates which is allocated."""

    buffer_mult_broad: int = _multiplier()
    """Factor on the buffer of overlapping blocks."""

    buffer_mult_iso: int = _multiplier()
    """Factor on the buffers of voxels that the surface of contact runs through."""

    buffer_mult_contact: int = _multiplier()
    """Factor on the buffer of the surface's faces."""

    contact_buffer_fraction: float = _fraction(0.5, _pruned)
    """Part of the buffer of faces that is allocated where they are thinned out first."""

    contact_reduction_hashtable_size_factor: float = attrs.field(default=0.25, validator=[finite, gt(0.0), _reduced])
    """Entries of the table that reduces contacts, in units of the buffer of faces."""

    grid_size: int = attrs.field(default=262144, validator=ge(1))
    """Threads that share the work on faces."""

    output_contact_surface: bool = False
    """Whether the surface of contact is kept, for drawing."""

    normal_matching: bool = True
    """Whether reduced normals are turned so that their sum is the direction of the whole force."""

    anchor_contact: bool = attrs.field(default=False, validator=_reduced)
    """Whether a contact is added at the centre of pressure, which keeps the moment."""

    moment_matching: bool = attrs.field(default=False, validator=_reduced)
    """Whether reduced contacts keep the largest moment of friction, with an anchor."""

    mc_edge_clamp_min: float = attrs.field(default=0.02, validator=[finite, ge(0.0), le(0.5)])
    """How near to a voxel's corner the surface may cross its edge, in units of the edge; 0 is the most faithful."""
