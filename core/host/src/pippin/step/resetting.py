"""Reset of masked worlds: the same operations between steps, and in a step that ends episodes.

In a step, a component says on the device which worlds ended: its `ended_worlds`. What can be recorded stands behind a
branch of the graph, and costs nothing in a step that ends no episode. What cannot, such as the reset of a solver, is
called only if an episode ended; on a GPU it is always called, since a look at the mask would wait for the device. So is
there a reset that notifies the solver of changes of the model: MuJoCo Warp allocates then, and a branch must not.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby

import attrs
import newton
import warp as wp
from pippin.arrays import present
from pippin.components.registry import Components
from pippin.devices import allocates_in_branches, records_branches, shares_memory
from pippin.errors import PluginError
from pippin.state.kernels import collect_ended, merge_articulations
from pippin.state.monitor import Monitor

from .built import Built
from .program import Operation


class Resetting:
    """The reset of masked worlds: state, solver, contacts and components, in this order."""

    def __init__(self, built: Built, monitor: Monitor) -> None:
        self._built, self._monitor = built, monitor
        #: The model of all worlds.
        self.model: newton.Model = built.model
        self._articulations = wp.zeros(built.model.articulation_count, dtype=bool, device=built.device)

    @property
    def notifies_solver(self) -> bool:
        """Whether a reset within a step may notify the solver of changes of the model."""
        return self._built.model_changes.is_told_in_steps

    def run(self, world_mask: wp.array[wp.bool]) -> None:
        """Reset the masked worlds now; mask of shape [world_count + 1]."""
        for operation in self.operations(world_mask):
            operation.run()

    def operations(self, world_mask: wp.array[wp.bool]) -> Iterator[Operation]:
        """Yield the operations of a reset; which worlds are masked is read when they run."""
        built = self._built
        yield Operation(name="reset(state)", run=partial(built.reset.restore, world_mask))
        places = built.layout.places
        is_moved = places is not None and places.are_changed
        if places is not None and is_moved:
            yield Operation(name="reset(places)", run=partial(places.start, built.states[0], world_mask))
        arguments = {"state": built.states[0], "world_mask": world_mask}
        initializers = built.components.implementations("initialize_worlds")
        for answer in initializers:
            name, reason = f"initialize_worlds({answer.owner})", built.components.eager_reason(answer.owner)
            yield Operation(name=name, run=answer.bind(**arguments), eager_reason=reason)
        if (initializers or is_moved) and self.model.articulation_count:
            yield Operation(name="reset(bodies)", run=partial(self._evaluate_bodies, world_mask))
        if built.modified.is_asked:
            yield Operation(name="reset(written)", run=partial(built.modified.add, world_mask))
        owner = built.components.solver_name
        reset = partial(built.solver.reset, built.states[0], world_mask=world_mask, flags=0)
        yield Operation(
            name="reset(solver)",
            run=built.components.guarded(owner, "reset", reset),
            eager_reason=built.components.eager_reason(owner),
            is_repeatable=True,
        )
        yield Operation(name="reset(contacts)", run=partial(built.source.reset, world_mask))
        if built.reports is not None:
            yield Operation(name="reset(reports)", run=partial(built.reports.forget, world_mask))
        for answer in built.components.implementations("reset_worlds"):
            name, reason = f"reset_worlds({answer.owner})", built.components.eager_reason(answer.owner)
            is_solver = answer.owner == owner
            yield Operation(name=name, run=answer.bind(**arguments), eager_reason=reason, is_repeatable=is_solver)
        yield Operation(name="reset(notes)", run=partial(self._monitor.forget, world_mask))

    def update_from_joints(self, world_mask: wp.array[wp.bool]) -> None:
        """Let bodies and solver follow the joints that a component wrote in the masked worlds. May be recorded."""
        self._evaluate_bodies(world_mask)
        self._built.modified.add(world_mask)

    def _evaluate_bodies(self, world_mask: wp.array[wp.bool]) -> None:
        model, state = self.model, self._built.states[0]
        chosen = self._articulations
        chosen.zero_()
        inputs = [model.articulation_world, world_mask, chosen]
        wp.launch(merge_articulations, len(chosen), inputs, device=model.device)
        newton.eval_fk(model, present(state.joint_q), present(state.joint_qd), state, mask=chosen)


class EndedWorlds:
    """The worlds whose episode a component ended in this step, and their reset inside the step.

    Args:
        resetting: The reset.
        world_mask: True for each ended world, shape [world_count + 1]; the component writes it.
    """

    def __init__(self, resetting: Resetting, world_mask: wp.array[wp.bool]) -> None:
        self._resetting, self._mask = resetting, world_mask
        device = resetting.model.device
        self._are_any = wp.zeros(1, dtype=int, device=device)
        # Counts down to a step in which the first world ends, whatever the component says: a comparison of graphs
        # would otherwise see no reset.
        self._countdown = wp.zeros(1, dtype=int, device=device)

    @classmethod
    def of(cls, components: Components, resetting: Resetting) -> EndedWorlds | None:
        """Return the ended worlds of the one component that ends episodes; None if there is none."""
        masks = {name: attributes.ended_worlds for name, attributes in components.attributes.items()}
        masks = {name: mask for name, mask in masks.items() if mask is not None}
        if len(masks) > 1:
            raise PluginError(f"ended_worlds: {' and '.join(masks)} end episodes; only one component may")
        shape = (resetting.model.world_count + 1,)
        for name, mask in masks.items():
            if not isinstance(mask, wp.array) or mask.dtype is not wp.bool or mask.shape != shape:
                raise PluginError(f"{name}: ended_worlds: expected an array of {shape[0]} booleans, got {mask!r}")
            return cls(resetting, mask)
        return None

    def rehearse(self, steps: int) -> None:
        """Let the first world end in one of the next steps, counted from 1; 0 takes this back."""
        self._countdown.fill_(steps)

    def operations(self) -> Iterator[Operation]:
        """Yield the operations that reset the ended worlds at the end of a step."""
        device, parts = self._resetting.model.device, self._resetting.operations(self._mask)
        may_allocate = self._resetting.notifies_solver and not allocates_in_branches(device)
        if may_allocate or not records_branches(device):
            yield Operation(name="find_ended", run=self._find)
            yield from parts
            return
        groups = [(is_eager, [*group]) for is_eager, group in groupby(parts, key=lambda part: bool(part.eager_reason))]
        for index, (is_eager, group) in enumerate(groups):
            if not is_eager:
                yield Operation(name="reset_ended", run=partial(self._branch, group, finds=index == 0))
            elif shares_memory(device):
                yield from (attrs.evolve(part, run=partial(self._run_if_any, part)) for part in group)
            else:
                yield from group

    def _find(self) -> None:
        self._are_any.zero_()
        inputs = [self._mask, self._countdown, self._are_any]
        wp.launch(collect_ended, len(self._mask), inputs, device=self._mask.device)

    def _branch(self, parts: list[Operation], *, finds: bool) -> None:
        """Run some parts if a world ended, as a branch of the graph; the first part of a reset is the state's."""

        def run() -> None:
            for part in parts:
                part.run()

        if finds:
            self._find()
        wp.capture_if(self._are_any, on_true=run)

    def _run_if_any(self, part: Operation) -> None:
        if self._are_any.numpy()[0]:
            part.run()
