"""The contacts that a step uses: their buffers with the capacities, and the pipeline or solver that fills them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    import newton
    import warp as wp
    from pippin.config import CollisionConfig


_HYDROELASTIC = "collision.hydroelastic.buffer_mult"


@attrs.frozen(kw_only=True, eq=False)
class Capacity:
    """A buffer that is allocated once and cannot grow."""

    field: str
    """The key that sizes it: `collision.rigid_contact_max`."""

    holds: str
    """The contents of the buffer: `contacts`."""

    allocated: int
    """Number of elements that fit."""

    count: Any = None
    """Number of needed elements, an array of integers of any shape; larger than `allocated` if some were dropped.
    None if elements are not counted."""

    count_on_host: Callable[[], int] | None = None
    """Function that returns the number of needed elements, if no array holds it: for `pippin inspect --memory`."""

    is_flag: bool = False
    """Whether `count` is only a flag: not zero if elements were dropped."""

    is_cut: bool = False
    """Whether `count` may end at `allocated` although elements were dropped, so that a full buffer counts as too small.
    """

    overflow_bits: int = 0
    """Bits of the solver's observable `overflow` that are set if elements were dropped."""

    reason: str | None = None
    """The fault in the error message, if it is not that the contents did not fit."""

    cure: str | None = None
    """The remedy in the error message, if it is not to raise the key."""

    hint: str | None = None
    """Another remedy, which the error message adds: `set self_collisions = false`."""

    is_per_world: bool = False
    """Whether `allocated` is the room of each world."""

    shared_by: int = 1
    """Worlds per buffer: `allocated` = key × this number."""

    @property
    def limit(self) -> int:
        """The largest value of `count` at which nothing was dropped."""
        return 0 if self.is_flag else self.allocated - self.is_cut

    def overflow(self, count: int | None = None) -> str:
        """Return the error message for dropped elements.

        Args:
            count: Number of elements that were needed, if known.
        """
        hint = f", or {self.hint}" if self.hint else ""
        if count is None or self.is_flag:
            reason = self.reason or f"{self.holds} did not fit into {self.allocated}"
            return f"{self.field}: {reason}; {self.cure or 'raise it'}{hint}"
        cure = self.cure or f"set it to at least {self.needed(count)}{' per world' if self.shared_by > 1 else ''}"
        did_not_fit = f"{count} {self.holds} did not fit into {self.allocated}"
        if self.is_cut and count == self.allocated:
            did_not_fit = f"{count} {self.holds} fill it, and others may be left out"
        return f"{self.field}: {did_not_fit}; {cure}{hint}"

    def needed(self, count: int | None) -> int | None:
        """Return the value of the key at which `count` elements fit; None if the key does not count them."""
        if count is None or self.is_flag or self.cure:
            return None
        return -(-(count + self.is_cut) // self.shared_by)


def pipeline_capacities(
    pipeline: newton.CollisionPipeline, contacts: newton.Contacts, config: CollisionConfig | None = None
) -> tuple[Capacity, ...]:
    """Return the buffers of Newton's collision pipeline, with the counts of each detection.

    With the pipeline's configuration, buffers with room for the worst case have no count, since noting a count costs a
    kernel in each detection.
    """
    return (*_of_pairs(pipeline, contacts, config), *_of_meshes(pipeline, contacts), *_of_hydroelastic(pipeline))


def _of_pairs(
    pipeline: newton.CollisionPipeline, contacts: newton.Contacts, config: CollisionConfig | None
) -> Iterator[Capacity]:
    yield Capacity(
        field="collision.rigid_contact_max",
        holds="contacts",
        allocated=contacts.rigid_contact_max,
        count=contacts.rigid_contact_count,
        is_cut=True,  # Newton leaves out convex shapes once the buffer is full, without counting them
    )
    if pipeline.model.particle_count:
        # By default there is room for all pairs of particle and shape; the need of edges and faces is estimated.
        is_estimated = config is None or config.enable_rigid_soft_full_surface_contact
        is_bounded = config is not None and config.soft_contact_max is None and not is_estimated
        yield Capacity(
            field="collision.soft_contact_max",
            holds="soft contacts",
            allocated=contacts.soft_contact_max,
            count=None if is_bounded else contacts.soft_contact_count,
        )
    yield Capacity(
        field="collision.shape_pairs_max",
        holds="candidate pairs",
        allocated=pipeline.shape_pairs_max,
        count=None if config is not None and config.shape_pairs_max is None else pipeline.broad_phase_pair_count,
    )


def _of_meshes(pipeline: newton.CollisionPipeline, contacts: newton.Contacts) -> Iterator[Capacity]:
    narrow = pipeline.narrow_phase
    if narrow.triangle_pairs is not None:
        yield Capacity(
            field="collision.max_triangle_pairs",
            holds="triangle pairs",
            allocated=len(narrow.triangle_pairs),
            count=narrow.triangle_pairs_count,
        )
    # Both reductions share one flag; the reduction of meshes is the usual one.
    if reducer := narrow.global_contact_reducer or narrow.group_contact_reducer:
        key, parts, cure = "rigid_contact_max", "pairs of bodies", "body_pair_reduction.hashtable_size_factor"
        if reducer is narrow.global_contact_reducer:
            key, parts, cure = "max_triangle_pairs", "meshes", "contact_reduction_hashtable_size_factor"
        yield Capacity(
            field=f"collision.{key}",
            holds=f"contacts of {parts}, to be reduced,",
            allocated=reducer.capacity,
            count=contacts.contact_counters[2:3],
            is_flag=True,
            cure=f"raise it, or {cure}",
        )


def _of_hydroelastic(pipeline: newton.CollisionPipeline) -> Iterator[Capacity]:
    field = pipeline.hydroelastic_sdf
    if field is None:
        return
    names = ["overlapping blocks", *(f"voxels of level {level}" for level in range(len(field.iso_max_dims)))]
    sizes = [field.max_num_blocks_broad, *field.iso_max_dims]
    for holds, count, allocated in zip(names, field.iso_buffer_counts, sizes, strict=True):
        yield Capacity(
            field=f"{_HYDROELASTIC}_{'broad' if holds == names[0] else 'iso'}",
            holds=holds,
            allocated=allocated,
            count=count,
            cure="raise it, or buffer_fraction",
        )
    yield Capacity(
        field=f"{_HYDROELASTIC}_contact",
        holds="faces of contact",
        allocated=field.max_num_face_contacts,
        count=field.contact_reduction.contact_count,
        cure="raise it, contact_buffer_fraction or buffer_fraction",
    )


def _filled(source: ContactSource) -> Sequence[Capacity]:
    if source.pipeline is None or source.contacts is None:
        return ()
    return pipeline_capacities(source.pipeline, source.contacts)


@attrs.frozen(kw_only=True, eq=False)
class ContactSource:
    """The contacts that a step uses. A solver that detects contacts itself gives its buffer and no pipeline."""

    contacts: newton.Contacts | None = None
    """The buffer passed to every step; None if the solver needs none."""

    pipeline: newton.CollisionPipeline | None = None
    """The pipeline that fills the buffer; None if the solver detects contacts itself."""

    filled_with: str | None = None
    """The observable with which the solver fills the buffer, such as `contact_f`; None if every step fills it."""

    interval: int = 1
    """Substeps between two detections."""

    overtravel: wp.array[int] | None = None
    """For an adaptive interval, in place of a fixed one: not zero if bodies moved farther than its detections expected,
    shape [1]."""

    is_run_by_solver: bool = False
    """Whether the solver runs the pipeline within its step; the buffer is then not passed to the solver."""

    capacities: Sequence[Capacity] = attrs.field(default=attrs.Factory(_filled, takes_self=True))
    """The buffers that contact detection fills; by default those of the pipeline."""

    @property
    def is_run_by_host(self) -> bool:
        """Whether the host runs the pipeline before substeps."""
        return self.pipeline is not None and not self.is_run_by_solver

    def collide(self, state: newton.State, contacts: newton.Contacts, dt: float) -> None:
        """Detect the contacts of `state` and, if the pipeline is speculative, the contacts expected within `dt` [s].

        They are written into `contacts`, a buffer of the pipeline. May be recorded.
        """
        assert self.pipeline is not None, "the program collides only if there is a pipeline"
        self.pipeline.collide(state, contacts, dt=dt)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Forget the matched contacts of the masked worlds."""
        if self.pipeline is not None:
            self.pipeline.reset_contact_matching(world_mask)
