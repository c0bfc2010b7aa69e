"""Rigid bodies of one solver in the sand of another one: a solver made of two, both chosen by name."""

import pippin
from newton.solvers.experimental.coupled import SolverCoupledProxy as Proxies


class SolverCoupled:
    """Newton's proxy coupling: each body stands in the sand as a collider that has mass.

    In a substep, the bodies move first, then the sand around them; the impulse that the sand gives to the colliders
    acts on the bodies in the next pass. So momentum that one loses is momentum that the other one gets.
    """

    supported_model_changes = frozenset({"MODEL_PROPERTIES"})
    supported_observables = frozenset()

    def __init__(self, config, solvers):
        self.config, self._rigid, self._particles = config, solvers["rigid"], solvers["particles"]
        bodies, sand = self._rigid.declaration, self._particles.declaration
        self.coordinates, self.detects_contacts = bodies.coordinates, bodies.detects_contacts
        shared = bodies.supported_features & sand.supported_features
        self.supported_features = bodies.supported_features - {"heterogeneous_worlds", "gradients"} | shared
        # Without `particle_worlds`: in the coupling, the grid of the sand depends on the sand of all worlds.
        self.supported_features |= sand.supported_features & {"particles"}
        self.deterministic_on = bodies.deterministic_on & sand.deterministic_on

    @property
    def is_capturable(self):
        """True if both solvers may be recorded."""
        return self.eager_reason is None

    @property
    def eager_reason(self):
        """The reason of the first solver that may not be recorded."""
        parts = [part for part in (self._rigid, self._particles) if not part.attributes.is_capturable]
        return f"{parts[0].name}: {parts[0].attributes.eager_reason}" if parts else None

    @property
    def unsaved_reason(self):
        """The reason of the sand's solver, and the forces of the last substep, which the coupling keeps."""
        return self._particles.attributes.unsaved_reason or "the coupling keeps the forces of the last substep"

    @pippin.hookimpl
    def configure_builder(self, builder):
        """Let both solvers register their attributes."""
        for part in (self._rigid, self._particles):
            part.call("configure_builder", builder=builder)

    @pippin.hookimpl
    def complete_builder(self, builder):
        """Let both solvers finish the builder."""
        for part in (self._rigid, self._particles):
            part.call("complete_builder", builder=builder)

    @pippin.hookimpl
    def check_model(self, model, collision, dt, substeps):
        """Yield what either solver refuses, and solvers and settings that cannot be coupled."""
        for key, part in (("rigid", self._rigid), ("particles", self._particles)):
            faults = part.call("check_model", model=model, collision=collision, dt=dt, substeps=substeps)
            yield from (f"{key}.{fault}" for fault in faults or ())
        if self._rigid.answers("step_solver"):
            yield f"rigid.type: {self.config.rigid.type!r} takes its steps in a way of its own; use 'xpbd' or 'mujoco'"
        if getattr(self.config.particles.config, "project_outside_colliders", False):
            yield "particles.project_outside_colliders: true, but bodies push the sand by themselves; use false"
        if not model.body_count:
            yield "type: 'coupled' moves bodies in sand, got 0 bodies; add some, or use the solver of the particles"

    @pippin.hookimpl
    def build_solver(self, model, collision, dt, substeps):
        """Return the coupling of both solvers, each of which gets its part of the model."""

        def built(part):
            return lambda view: part.call(
                "build_solver", model=view, collision=collision, pipeline=None, dt=dt, substeps=substeps
            )

        bodies = list(range(model.body_count))
        entries = [
            Proxies.Entry(
                name="rigid", solver=built(self._rigid), bodies=bodies, joints=list(range(model.joint_count))
            ),
            Proxies.Entry(
                name="particles",
                solver=built(self._particles),
                particles=list(range(model.particle_count)),
                in_place=True,
            ),
        ]
        scale = self.config.mass_scale
        proxy = Proxies.Proxy(
            source="rigid", destination="particles", bodies=bodies, mass_scale=scale, collision_pipeline=lambda _: None
        )
        return Proxies(model, entries, Proxies.Config(proxies=[proxy], iterations=self.config.iterations))

    @pippin.hookimpl
    def initialize_contacts(self, model, solver, collision):
        """Return the contacts of the bodies' solver, if it has a source of its own."""
        return self._rigid.call("initialize_contacts", model=model, solver=solver.solver("rigid"), collision=collision)

    @pippin.hookimpl
    def bind(self, simulation):
        """Declare what the sand carries on, strain and velocity gradients: the coupling keeps it for itself."""
        sand = simulation.solver.entry_state("particles").mpm
        self._carried = {name: array for name, array in vars(sand).items() if hasattr(array, "numpy")}

    def state_arrays(self):
        """Return the arrays of the sand, which a reset restores by world."""
        return self._carried
