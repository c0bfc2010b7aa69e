"""Newton's Steel solver for Pippin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs
import newton
import pippin
from pippin.solving import RIGID_TREES, Capacity, deterministic_mode

from . import SteelConfig

__all__ = ["SolverSteel"]


class SolverSteel:
    """Newton's `SolverSteel`, over contacts from Newton's pipeline."""

    coordinates = "reduced"
    supported_features = RIGID_TREES | {
        "body_variants": "live",
        "armature": "live",
        "effort_limits": "live",
        "heterogeneous_worlds": "live",
        "joint_damping": "live",
        "joint_limits": "no",
        "light_links": "live",
        "loop_joints": "live",
        "massless_bodies": "live",
        "mimic_constraints": "live",
        "mimic_joints": "live",
        "restitution": "live",
    }
    optional_features: ClassVar = {
        "joint_limits": "enable_joint_limits",
        "joint_friction": "enable_joint_friction",
        "velocity_limits": "enable_joint_velocity_limits",
        "restitution": "enable_restitution",
    }
    deterministic_on = frozenset({"cpu", "cuda"})
    supported_observables = frozenset({"body_awake", "body_parent_f", "contact_f"})
    eager_reason = "a graph would repeat one choice between factorising and not"

    def __init__(self, config: SteelConfig) -> None:
        if config.solve_mode == "colored" and config.articulated_contact_response != "propagation":
            raise pippin.ConfigError(
                "solve_mode: 'colored', but 'articulated_contact_response' is 'immediate';"
                " set articulated_contact_response = 'propagation'"
            )
        self.config = config
        self.supported_features = type(self).supported_features | {
            feature: "live" if getattr(config, option) else "no" for feature, option in self.optional_features.items()
        }
        if not config.enable_sleeping:
            self.supported_observables = type(self).supported_observables - {"body_awake"}

    @property
    def is_capturable(self) -> bool:
        """True if every substep factorises the mass matrix."""
        return self.config.update_mass_matrix_interval == 1

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register Steel's attributes: damping and maximum velocities of bodies, torsional friction of shapes."""
        newton.solvers.SolverSteel.register_custom_attributes(builder)

    @pippin.hookimpl
    def check_model(self, collision: pippin.CollisionConfig) -> Iterator[str]:
        """Yield the option that needs matched contacts, if `[collision]` does not match contacts."""
        if self.config.contact_warmstart and collision.contact_matching == "disabled":
            yield (
                "contact_warmstart: True, but collision.contact_matching is 'disabled'; set it to 'latest' or 'sticky'"
            )

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverSteel:
        """Return the solver with all options of the configuration; Newton chooses the options that are None."""
        options = attrs.asdict(self.config)
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        self._solver = newton.solvers.SolverSteel(
            model, **{name: value for name, value in options.items() if value is not None}
        )
        return self._solver

    def capacities(self) -> tuple[Capacity, ...]:
        """Return the row capacities of a world by family; `raise_errors` asks the solver if rows were dropped."""
        rows = {
            "articulation": self.config.articulation_constraint_max,
            "free_body": self.config.free_body_constraint_max,
            "propagation": self.config.propagation_constraint_max,
        }
        return tuple(_capacity(family, allocated) for family, allocated in rows.items() if allocated is not None)

    def raise_errors(self) -> None:
        """Raise if the solver dropped rows or contacts, or rejected its input, since the last reset of a world.

        Raises:
            SimulationError: Names each family of rows that overflowed if `row_watermark` is set, else all families.
        """
        try:
            self._solver.check_constraint_capacity()
        except RuntimeError as error:
            raise pippin.SimulationError(*self._dropped(error)) from error

    def _dropped(self, error: RuntimeError) -> list[str]:
        """Return the faults of the rows that did not fit, as far as the solver knows."""
        if not self._solver.constraint_overflow.numpy().any():
            return [f"solver: {error}"]
        counts = self._solver.constraint_row_watermarks()
        faults = [
            capacity.overflow(counts[f"{family}_raw_high_water"])
            for family, capacity in zip(_FAMILIES, self.capacities(), strict=False)
            if counts[f"{family}_overflow_world_steps"]
        ]
        return faults or [
            f"solver: rows did not fit into {', '.join(_sizes(self.capacities()))}; raise them,"
            f" or set row_watermark = true to be told which one and how far ({error})"
        ]


_FAMILIES = ("articulation", "free_body", "propagation")


def _capacity(family: str, allocated: int) -> Capacity:
    holds = f"rows of a world ({family.replace('_', ' ')})"
    return Capacity(field=f"solver.{family}_constraint_max", holds=holds, allocated=allocated)


def _sizes(capacities: tuple[Capacity, ...]) -> list[str]:
    return [f"{capacity.field.removeprefix('solver.')} = {capacity.allocated}" for capacity in capacities]
