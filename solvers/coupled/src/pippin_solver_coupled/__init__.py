"""Several solvers in one scene, which act on each other: a solver of solvers for Pippin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import attrs
import pippin
from attrs.validators import ge, min_len, optional
from pippin.solving import number
from pippin.validators import non_negative, positive

__all__ = ["ADMMConfig", "CoupledConfig", "EntryConfig", "ProxyConfig"]


@attrs.frozen(kw_only=True)
class EntryConfig:
    """A solver, and what it moves. Each body, joint and particle belongs to one entry."""

    solver: Annotated[pippin.ComponentConfig, "solver"]
    """The solver: a table with its `type` and its keys."""

    bodies: tuple[str, ...] = ()
    """Patterns of labels of bodies. Their joints come with them: to the world, and to bodies of the same entry."""

    particles: tuple[str, ...] = ()
    """Patterns of labels of objects with particles: cloth, soft bodies, granular matter."""

    substeps: int = number(1, ge(1))
    """Steps of this solver in a substep of the simulation."""

    def __attrs_post_init__(self) -> None:
        if not self.bodies and not self.particles:
            raise ValueError("expected bodies, particles or both, which the solver moves; add patterns of labels")


@attrs.frozen(kw_only=True)
class ProxyConfig:
    """Elements of one entry that stand in the other one, with their mass, and bring back the impulses they get."""

    source: str
    """The entry to which the elements belong."""

    destination: str
    """The entry in which they stand, which finds the contacts with them."""

    bodies: tuple[str, ...] = ()
    """Patterns of labels of bodies of the source."""

    joints: tuple[str, ...] = ()
    """Patterns of labels of joints between these bodies, fixed, revolute or prismatic, which also act there."""

    particles: tuple[str, ...] = ()
    """Patterns of labels of objects of the source."""

    mass_scale: float = number(1.0, positive)
    """Mass with which they stand there, as a multiple of their own: smaller values are more stable."""

    mode: Literal["lagged", "staggered"] = "lagged"
    """Pose with which they stand there: of the begin of the step, or of its end."""

    relaxation: float = number(1.0, non_negative)
    """Part of the new impulse in the one that is brought back; the rest is the last one."""

    relaxation_mode: Literal["fixed", "aitken"] = "fixed"
    """Whether the part is fixed, or follows from the impulses of two passes."""

    relaxation_min: float = number(0.1, non_negative)
    """Smallest part of `aitken`."""

    relaxation_max: float = number(1.0, non_negative)
    """Largest part of `aitken`."""

    collision: pippin.CollisionConfig | None = None
    """A pipeline of the destination's own, with the keys of `[collision]`; by default the contacts of the scene."""

    def __attrs_post_init__(self) -> None:
        if not self.bodies and not self.particles:
            raise ValueError("expected bodies, particles or both, which stand there; add patterns of labels")
        if self.relaxation_mode == "aitken" and not self.relaxation_min <= self.relaxation <= self.relaxation_max:
            raise ValueError(
                f"relaxation: {self.relaxation}, but 'aitken' starts between relaxation_min, {self.relaxation_min}, and"
                f" relaxation_max, {self.relaxation_max}; choose a value between them"
            )


@attrs.frozen(kw_only=True)
class ADMMConfig:
    """Constraints between entries, solved by the alternating direction method of multipliers: joints between bodies of
    two entries, attachments, and contacts of the listed pairs.
    """

    iterations: int = number(5, ge(1))
    """Passes over all solvers in a substep."""

    rho: float = number(1.0, positive)
    """Penalty on the violation of the constraints."""

    gamma: float = number(0.0, non_negative)
    """Mass that resists the change of a pass, as a multiple of the effective mass."""

    baumgarte: float = number(0.0, non_negative)
    """Part of the position error that a substep corrects."""

    joint_stiffness: float = number(1e4, non_negative)
    """Stiffness of joints between entries [N/m]."""

    joint_damping: float = number(0.0, non_negative)
    """Damping of joints between entries [N·s/m]."""

    joint_angular_stiffness: float = number(1e4, non_negative)
    """Angular stiffness of fixed and revolute joints between entries [N·m/rad]."""

    joint_angular_damping: float = number(0.0, non_negative)
    """Angular damping of fixed and revolute joints between entries [N·m·s/rad]."""

    joint_proximal_bodies: bool = False
    """Whether a body joined to another entry also stands there, with its inertia. Newton's default is true; but then a
    hinge between two `mujoco` entries hardly turns."""

    joint_proximal_destination_entries: tuple[str, ...] | None = attrs.field(
        default=None, validator=optional(min_len(1))
    )
    """Entries in which joined bodies stand; by default both."""

    joint_proximal_mass_scale: float = number(1.0, positive)
    """Mass with which they stand there, as a multiple of their own."""

    contacts: tuple[tuple[str, str], ...] = ()
    """Pairs of entries whose elements touch, such as `[["rigid", "sand"]]`; others pass through each other."""

    contact_matching: Literal["disabled", "latest", "sticky"] = "disabled"
    """Whether rigid contacts start from the force of the last step, also with their geometry (`sticky`)."""

    contact_matching_force_scale: float = number(0.9, non_negative)
    """Factor on the force from which a matched contact starts."""


@attrs.frozen(kw_only=True)
class CoupledConfig:
    """Entries, each with a solver of its own, coupled by proxies, or by constraints with the table `admm`."""

    implementation = ".solver:SolverCoupled"

    entries: Mapping[str, EntryConfig]
    """The solvers by name, in the order of their steps."""

    proxies: tuple[ProxyConfig, ...] = ()
    """What of one entry stands in the other one; for two entries."""

    iterations: int = number(1, ge(1))
    """Passes over both entries of proxies in a substep, so that impulses act in the substep that causes them."""

    admm: ADMMConfig | None = None
    """The coupling by constraints, in place of proxies."""

    def __attrs_post_init__(self) -> None:
        if len(self.entries) < 2:
            raise ValueError(f"entries: expected two or more, got {list(self.entries)}; use its solver as the [solver]")
        faults = [*self._contradictions(), *self._unknown()]
        if faults:
            raise ValueError("; ".join(faults))

    def _contradictions(self) -> list[str]:
        if self.admm is not None:
            keys = [key for key, is_set in (("proxies", self.proxies), ("iterations", self.iterations != 1)) if is_set]
            return [f"{key}: stands beside 'admm', which couples in another way; leave one out" for key in keys]
        if not self.proxies:
            return ["proxies: missing, so that nothing couples the entries; add some, or the table 'admm'"]
        if len(self.entries) > 2:
            return [f"entries: {len(self.entries)}, but proxies couple two; use two, or the table 'admm'"]
        return []

    def _unknown(self) -> list[str]:
        """Return the faults of names that are no entries, and of pairs of one entry."""
        pairs = {f"proxies[{index}]": (each.source, each.destination) for index, each in enumerate(self.proxies)}
        admm = self.admm or ADMMConfig()
        pairs |= {f"admm.contacts[{index}]": pair for index, pair in enumerate(admm.contacts)}
        alone = {"admm.joint_proximal_destination_entries": admm.joint_proximal_destination_entries or ()}
        known = ", ".join(self.entries)
        return [
            *(
                f"{key}: {name!r} is no entry; entries: {known}"
                for key, names in (pairs | alone).items()
                for name in names
                if name not in self.entries
            ),
            *(f"{key}: {one!r} twice; name two entries" for key, (one, other) in pairs.items() if one == other),
        ]
