"""Several solvers in one scene, which act on each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Set
from typing import Any

import attrs
import newton
import pippin
import warp as wp
from newton.solvers.experimental import coupled
from pippin.coupling import build_pipeline, part_faults
from pippin.solving import FEATURES, Capacity, ContactSource, SubSolver

from . import CoupledConfig
from .constraints import SolverConstraints, constraints
from .elements import keep_elements_of
from .partition import Part, partition, proxied

__all__ = ["SolverCoupled"]

_OF_ALL = frozenset({"different_meshes", "heterogeneous_worlds"})
"""Features that a coupling has only if each of its solvers has them."""

_OF_PARTICLES = frozenset(
    name
    for name, feature in FEATURES.items()
    if name.startswith(("soft_contact_", "particle_")) and not feature.is_structural
) | {"air_drag", "bending_damping", "rest_angles", "tetrahedron_damping", "triangle_damping"}
"""Numbers of contacts of particles and of elements between them, which act in the solvers that have them."""

_OF_MATTER = frozenset({"bending", "particles", "springs", "tetrahedra", "triangles"})
"""Features that a coupling reads while it is built: some of its solvers have copies of their numbers."""

_WITHOUT = frozenset({"gradients", "tendons"})
"""Features that no coupling has: its own kernels have no adjoint, and Newton divides no routes of tendons."""

_CALLED = frozenset(
    {
        *("after_step", "bind", "build_solver", "check_model", "close", "complete_builder", "configure_builder"),
        *("extend_prototype", "initialize_contacts"),
    }
)
"""Hooks of a solver that the coupling calls, or answers by itself for all of them."""


class SolverCoupled:
    """Newton's couplings, by proxies or by constraints; each entry's solver gets its part of the model."""

    def __init__(self, config: CoupledConfig, solvers: Mapping[str, SubSolver]) -> None:
        self.config = config
        self._solvers = {name: solvers[f"entries.{name}.solver"] for name in config.entries}
        declared = {name: part.declaration for name, part in self._solvers.items()}
        of_bodies = [declared[name] for name, entry in config.entries.items() if entry.bodies]
        self.coordinates = _shared_coordinates({each.coordinates for each in of_bodies})
        self.detects_contacts = all(each.detects_contacts for each in declared.values())
        of_particles = [declared[name] for name in config.entries if _sees_particles(config, name)]
        shared, self.features_fixed_at_build = _shared_features(of_bodies, of_particles, declared.values())
        if config.admm is not None:
            shared |= {"attachments"}
        self.supported_features = _levels(shared, of_bodies or declared.values(), declared.values())
        self.features_kept_from_build = frozenset().union(*(each.features_kept_from_build for each in of_bodies))
        self.deterministic_on = frozenset.intersection(*(each.deterministic_on for each in declared.values()))
        observed = [each.supported_observables or frozenset() for each in of_bodies]
        self.supported_observables = frozenset({"body_parent_f"}).intersection(*observed) if observed else frozenset()
        self._carried: dict[str, wp.array] = {}

    @property
    def is_capturable(self) -> bool:
        """True if all solvers may be recorded."""
        return self.eager_reason is None

    @property
    def eager_reason(self) -> str | None:
        """The reason of the first solver that may not be recorded."""
        eager = [part for part in self._solvers.values() if not part.attributes.is_capturable]
        return f"{eager[0].name}: {eager[0].attributes.eager_reason}" if eager else None

    @property
    def unsaved_reason(self) -> str:
        """The reason of a solver, or the impulses of the last substep, which the coupling keeps."""
        reasons = [part.attributes.unsaved_reason for part in self._solvers.values()]
        return next(filter(None, reasons), "the coupling keeps the impulses of the last substep")

    @property
    def notes(self) -> list[str]:
        """What the solvers note."""
        return [f"{part.name}: {note}" for part in self._solvers.values() for note in part.attributes.notes]

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Let all solvers register their attributes."""
        for part in self._solvers.values():
            part.call("configure_builder", builder=builder)

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Let all solvers add to the worlds."""
        for part in self._solvers.values():
            part.call("extend_prototype", builder=builder, prototype=prototype)

    @pippin.hookimpl
    def complete_builder(self, builder: newton.ModelBuilder) -> None:
        """Let all solvers finish the builder."""
        for part in self._solvers.values():
            part.call("complete_builder", builder=builder)

    @pippin.hookimpl
    def check_model(
        self,
        model: newton.Model,
        collision: pippin.CollisionConfig,
        dt: float,
        substeps: int,
        accepted: Collection[str],
    ) -> Iterator[str]:
        """Yield elements without an owner or with two, and what each solver refuses of its part of the model."""
        parts, faults = partition(model, self.config)
        faults += proxied(model, self.config, parts)[1] if not faults else []
        faults += self._uncoupled()
        yield from faults
        if faults:
            return
        found: list[str] = []

        def check(name: str) -> Callable[[Any], newton.solvers.SolverBase]:
            part, inner = self._solvers[name], self._step_of(name, dt, substeps)

            def factory(view: Any) -> newton.solvers.SolverBase:
                found.extend(part_faults(part, f"entries.{name}.solver", view, accepted, collision=collision, **inner))
                return _Unbuilt(view)

            return factory

        coupled.SolverCoupled(model, self._entries(model, parts, check))
        yield from found

    @pippin.hookimpl
    def build_solver(
        self, model: newton.Model, collision: pippin.CollisionConfig, dt: float, substeps: int
    ) -> newton.solvers.SolverBase:
        """Return the coupling of all solvers, each of which gets its part of the model."""
        parts = partition(model, self.config)[0]

        def build(name: str) -> Callable[[Any], newton.solvers.SolverBase]:
            part, inner = self._solvers[name], self._step_of(name, dt, substeps)

            def factory(view: Any) -> newton.solvers.SolverBase:
                own = build_pipeline(view, collision) if part.declaration.runs_pipeline else None
                solver = part.call("build_solver", model=view, collision=collision, pipeline=own, **inner)
                if not isinstance(solver, coupled.CouplingInterface):
                    kind = self.config.entries[name].solver.type
                    raise pippin.ConfigError(
                        f"entries.{name}.solver.type: {kind!r} cannot take part in a coupling: its solver is no"
                        " newton.solvers.experimental.coupled.CouplingInterface; choose another one"
                    )
                return solver

            return factory

        entries = self._entries(model, parts, build)
        if self.config.admm is not None:
            return SolverConstraints(model, entries, constraints(self.config))
        return coupled.SolverCoupledProxy(model, entries, self._proxies(proxied(model, self.config, parts)[0]))

    @pippin.hookimpl
    def initialize_contacts(self) -> ContactSource | None:
        """Return a source without contacts if all solvers detect them; else the host's pipeline is used."""
        return ContactSource() if self.detects_contacts else None

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Bind the solvers, and declare what their parts of the state have beside the fields of the host's state."""
        coupling: Any = simulation.solver
        self._hosts = {name: _EntryHost(simulation, coupling, name) for name in self._solvers}
        for name, part in self._solvers.items():
            part.call("bind", simulation=self._hosts[name])
            for path, array in _extra_arrays(coupling.entry_state(name), simulation.state):
                self._carried[f"{name}.{path}"] = array

    @pippin.hookimpl
    def after_step(self, simulation: pippin.Host) -> None:
        """Let the solvers check what a step left."""
        for name, part in self._solvers.items():
            part.call("after_step", simulation=self._hosts[name])

    @pippin.hookimpl
    def close(self) -> None:
        """Let the solvers release what they hold."""
        for part in self._solvers.values():
            part.call("close")

    def state_arrays(self) -> dict[str, wp.array]:
        """Return what the solvers carry from step to step in their parts of the state, such as the strain of sand."""
        return self._carried

    def capacities(self) -> tuple[Capacity, ...]:
        """Return the buffers of all solvers."""
        return tuple(
            attrs.evolve(each, field=each.field.replace("solver.", f"{part.name}.", 1))
            for part in self._solvers.values()
            for each in part.attributes.capacities()
        )

    def raise_errors(self) -> None:
        """Raise what a solver found wrong on the device."""
        for part in self._solvers.values():
            part.attributes.raise_errors()

    def _uncoupled(self) -> Iterator[str]:
        """Yield the solvers that cannot take part."""
        for name, part in self._solvers.items():
            key, kind = f"entries.{name}.solver.type", self.config.entries[name].solver.type
            own = sorted(part.hooks - _CALLED)
            if own:
                yield f"{key}: {kind!r} takes part in steps by {own[0]!r}, which a coupling cannot call; choose another"
        for index, proxy in enumerate(self.config.proxies):
            if proxy.collision is not None and self._solvers[proxy.destination].declaration.detects_contacts:
                kind = self.config.entries[proxy.destination].solver.type
                yield f"proxies[{index}].collision: {kind!r} detects contacts itself; leave the table out"

    def _step_of(self, name: str, dt: float, substeps: int) -> dict[str, Any]:
        count = self.config.entries[name].substeps
        return {"dt": dt / count, "substeps": substeps * count}

    def _entries(
        self,
        model: newton.Model,
        parts: Mapping[str, Part],
        factory: Callable[[str], Callable[[Any], newton.solvers.SolverBase]],
    ) -> list[coupled.SolverCoupled.Entry]:
        return [
            coupled.SolverCoupled.Entry(
                name=name,
                solver=factory(name),
                configure_view=keep_elements_of(part.particles, model),
                substeps=self.config.entries[name].substeps,
                in_place=self._solvers[name].declaration.steps_in_place,
                **part.lists(),
            )
            for name, part in parts.items()
        ]

    def _proxies(self, found: list[Part]) -> coupled.SolverCoupledProxy.Config:
        pipelines: dict[tuple[str, str], Any] = {}
        proxies = []
        for proxy, part in zip(self.config.proxies, found, strict=True):
            pair = proxy.source, proxy.destination
            options = attrs.asdict(proxy, recurse=False)
            for name in ("bodies", "joints", "particles", "collision"):
                del options[name]
            for name in ("relaxation", "relaxation_mode", "relaxation_min", "relaxation_max"):
                options[f"proxy_{name}"] = options.pop(name)
            pipeline = pipelines.setdefault(pair, self._pipeline(proxy.destination, proxy.collision))
            proxies.append(coupled.SolverCoupledProxy.Proxy(**options, **part.lists(), collision_pipeline=pipeline))
        return coupled.SolverCoupledProxy.Config(proxies=proxies, iterations=self.config.iterations)

    def _pipeline(self, destination: str, collision: pippin.CollisionConfig | None) -> Callable[[Any], Any] | None:
        """Return what makes the pipeline of a destination; None if it uses the contacts of the scene."""
        if self._solvers[destination].declaration.detects_contacts:
            return lambda _: None
        return None if collision is None else lambda view: build_pipeline(view, collision)


class _Unbuilt(newton.solvers.SolverBase, coupled.CouplingInterface):
    """A solver that is not built, in a coupling whose parts are only looked at."""


class _EntryHost:
    """The host as an entry's solver sees it: with its solver, its part of the model, and its state."""

    def __init__(self, host: pippin.Host, coupling: Any, name: str) -> None:
        self._host, self._coupling, self._entry = host, coupling, name

    @property
    def solver(self) -> newton.solvers.SolverBase:
        return self._coupling.solver(self._entry)

    @property
    def model(self) -> Any:
        return self._coupling.view(self._entry)

    @property
    def state(self) -> newton.State:
        return self._coupling.entry_state(self._entry)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)


def _shared_coordinates(written: Set[str]) -> str:
    """Return what the host computes. A body of a solver that writes bodies alone may stand in the view of one that
    reads joints: each substep needs the coordinates of both.
    """
    if written <= {"reduced", "joint"}:
        return "reduced"
    return "maximal" if written == {"maximal"} else "mixed"


def _sees_particles(config: CoupledConfig, entry: str) -> bool:
    """Return whether an entry owns particles, or lets those of another one stand there."""
    proxied = any(each.particles and each.destination == entry for each in config.proxies)
    return bool(config.entries[entry].particles) or proxied


def _shared_features(
    of_bodies: Collection[Any], of_particles: Collection[Any], of_all: Collection[Any]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the features of a coupling, and those of them that it cannot add to a joint: because a solver cannot, or
    not each solver of bodies has them.

    Kinds of elements are features if one of the solvers has them: `check_model` asks the one that gets the elements.
    Numbers, which a user may set at any joint, body or shape, are features if each solver of bodies has them; those of
    contacts of particles, if one solver has them.
    """
    everywhere = frozenset.intersection(*(frozenset(each.supported_features or ()) for each in of_all))
    somewhere = frozenset.union(*(frozenset(each.supported_features or ()) for each in of_all))
    of_each = frozenset.intersection(*(frozenset(each.supported_features or ()) for each in of_bodies or of_all))
    numbers = frozenset(name for name in of_each if not FEATURES[name].is_structural) | (somewhere & _OF_PARTICLES)
    kinds = frozenset(name for name in somewhere if FEATURES[name].is_structural) - _WITHOUT - (_OF_ALL - everywhere)
    if not all("particle_worlds" in (each.supported_features or ()) for each in of_particles):
        kinds -= {"particle_worlds"}
    kinds |= {"gravity"}  # also of a solver that declares nothing
    if any("gravity" not in each.supported_features for each in of_all if each.supported_features is not None):
        kinds -= {"gravity"}
    fixed = frozenset().union(*(each.features_fixed_at_build for each in of_bodies))
    return kinds | numbers, kinds - of_each | fixed & (kinds | numbers)


def _levels(features: Collection[str], of_bodies: Collection[Any], of_all: Collection[Any]) -> dict[str, str]:
    """Return how a coupling has each feature: live if all solvers that have it follow it, and none of those of bodies
    ignores a change that is told with the same flags.
    """
    followed = frozenset.intersection(*(each.live_changes or frozenset() for each in of_bodies))
    read = {name for each in of_all for name, level in (each.supported_features or {}).items() if level == "build"}
    return {
        name: "live" if name not in read | _OF_MATTER and followed.issuperset(FEATURES[name].flags) else "build"
        for name in sorted(features)
    }


def _extra_arrays(own: newton.State, shared: newton.State) -> Iterator[tuple[str, wp.array]]:
    """Yield the arrays of a part of the state that the host's state does not have, by their path."""
    for name, value in vars(own).items():
        if isinstance(value, wp.array):
            if not hasattr(shared, name):
                yield name, value
        elif hasattr(value, "__dict__"):
            yield from ((f"{name}.{key}", each) for key, each in vars(value).items() if isinstance(each, wp.array))
