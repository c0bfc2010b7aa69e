"""The part of a model that each entry of a coupling owns, found by the patterns of its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import newton
import numpy as np
from pippin.coupling import particles_of
from pippin.labels import match

from . import CoupledConfig

_CROSSING = (newton.JointType.BALL, newton.JointType.FIXED, newton.JointType.REVOLUTE)
_PROXIED = (newton.JointType.FIXED, newton.JointType.PRISMATIC, newton.JointType.REVOLUTE)
_LISTED = 5


@attrs.frozen(kw_only=True, eq=False)
class Part:
    """Elements of a model, by ascending indices."""

    bodies: np.ndarray
    joints: np.ndarray
    particles: np.ndarray

    def lists(self) -> dict[str, list[int]]:
        """Return the indices as Newton takes them."""
        return {name: value.tolist() for name, value in attrs.asdict(self).items()}


def partition(model: newton.Model, config: CoupledConfig) -> tuple[dict[str, Part], list[str]]:
    """Return the part of each entry, and what is wrong with the parts: faults with keys of the solver's table.

    Raises:
        ConfigError: A pattern matches nothing.
    """
    found = {
        name: (_bodies(model, entry.bodies, f"entries.{name}"), _particles(model, entry.particles, f"entries.{name}"))
        for name, entry in config.entries.items()
    }
    faults = [
        *_owners(found, 0, model.body_label, "body", model.body_count, "bodies"),
        *_owners(found, 1, None, "particle", model.particle_count, "particles"),
    ]
    owner = np.full(model.body_count + 1, -1)  # the last one stands for the world
    for number, (bodies, _) in enumerate(found.values()):
        owner[bodies] = number
    parent, child = (_host(array) for array in (model.joint_parent, model.joint_child))
    of_child, of_parent = owner[child], np.where(parent < 0, owner[child], owner[parent])
    crossing = np.flatnonzero(of_child != of_parent)
    if not faults:
        faults += [*_crossing_faults(model, crossing, config), *_attachment_faults(model, owner, found, config)]
    parts = {
        name: Part(
            bodies=bodies, joints=np.flatnonzero((of_child == number) & (of_parent == number)), particles=particles
        )
        for number, (name, (bodies, particles)) in enumerate(found.items())
    }
    return parts, faults


def proxied(model: newton.Model, config: CoupledConfig, parts: Mapping[str, Part]) -> tuple[list[Part], list[str]]:
    """Return the elements of each proxy, and what is wrong with them.

    Raises:
        ConfigError: A pattern matches nothing.
    """
    found, faults = [], []
    kinds, parent, child = (_host(array) for array in (model.joint_type, model.joint_parent, model.joint_child))
    for index, proxy in enumerate(config.proxies):
        key, own = f"proxies[{index}]", parts[proxy.source]
        bodies, particles = _bodies(model, proxy.bodies, key), _particles(model, proxy.particles, key)
        joints = np.array(match(proxy.joints, model.joint_label, "joint", f"solver.{key}.joints"), dtype=int)
        for what, chosen, owned in (("bodies", bodies, own.bodies), ("particles", particles, own.particles)):
            if not np.isin(chosen, owned).all():
                other = int(np.setdiff1d(chosen, owned)[0])
                named = repr(model.body_label[other]) if what == "bodies" else f"particle {other}"
                faults.append(f"{key}.{what}: {named} does not belong to {proxy.source!r}; name what this entry moves")
        wrong = joints[~np.isin(kinds[joints], _PROXIED)] if len(joints) else joints
        if len(wrong):
            name = newton.JointType(kinds[wrong[0]]).name.lower()
            faults.append(
                f"{key}.joints: {model.joint_label[wrong[0]]!r} is a {name} joint, but proxies carry fixed, revolute"
                " and prismatic ones; leave it out"
            )
        loose = joints[~(np.isin(child[joints], bodies) & ((parent[joints] < 0) | np.isin(parent[joints], bodies)))]
        if len(loose):
            faults.append(
                f"{key}.joints: {model.joint_label[loose[0]]!r} joins a body that does not stand in"
                f" {proxy.destination!r}; add both of its bodies to {key}.bodies"
            )
        found.append(Part(bodies=bodies, joints=joints, particles=particles))
    return found, faults


def _bodies(model: newton.Model, patterns: Sequence[str], key: str) -> np.ndarray:
    return np.array(match(patterns, model.body_label, "body", f"solver.{key}.bodies"), dtype=int)


def _particles(model: newton.Model, patterns: Sequence[str], key: str) -> np.ndarray:
    return particles_of(model, patterns, f"solver.{key}.particles")


def _host(array: Any) -> np.ndarray:
    return np.zeros(0, dtype=int) if array is None else array.numpy()


def _owners(
    found: Mapping[str, tuple[np.ndarray, np.ndarray]],
    which: int,
    labels: Sequence[str] | None,
    what: str,
    count: int,
    key: str,
) -> Iterator[str]:
    """Yield faults if an element has two owners or none."""
    owned = {name: parts[which] for name, parts in found.items()}
    times = np.bincount(np.concatenate([*owned.values(), np.zeros(0, dtype=int)]).astype(int), minlength=count)
    for elements, reason in ((np.flatnonzero(times > 1), "belong to two entries"), (np.flatnonzero(times == 0), "")):
        if len(elements):
            names = [f"{what} {index}" if labels is None else repr(labels[index]) for index in elements[:_LISTED]]
            more = f" and {len(elements) - _LISTED} more" if len(elements) > _LISTED else ""
            cure = f"let one entry alone name them in its {key}"
            yield f"entries: {', '.join(names)}{more} {reason or 'belong to no entry'}; {cure}"


def _crossing_faults(model: newton.Model, crossing: np.ndarray, config: CoupledConfig) -> Iterator[str]:
    """Yield faults of joints between bodies of two entries that the coupling cannot hold."""
    kinds, child, is_only = _host(model.joint_type), _host(model.joint_child), _host(model.joint_articulation) >= 0
    for joint in crossing.tolist():
        label, kind = model.joint_label[joint], newton.JointType(kinds[joint])
        if config.admm is None:
            yield (
                f"entries: joint {label!r} joins bodies of two entries, which proxies cannot hold; give both bodies to"
                " one entry, or couple with the table 'admm'"
            )
        elif kind not in _CROSSING:
            yield (
                f"entries: joint {label!r} joins bodies of two entries and is a {kind.name.lower()} joint, but 'admm'"
                " holds ball, fixed and revolute ones; give both bodies to one entry"
            )
        elif config.admm.joint_proximal_bodies and is_only[joint]:
            yield (
                f"admm.joint_proximal_bodies: true, but {label!r} is the only joint of"
                f" {model.body_label[child[joint]]!r} and would hold it straight; leave it out, or give this body a"
                ' free joint of its own, joint = { type = "free" }'
            )


def _attachment_faults(
    model: newton.Model, owner: np.ndarray, found: Mapping[str, tuple[np.ndarray, np.ndarray]], config: CoupledConfig
) -> Iterator[str]:
    """Yield a fault if a body of one entry holds particles of another one, and the coupling has no such constraint."""
    if not model.attachment_particle_body_count:
        return
    of_particle = np.full(model.particle_count, -1)
    for number, (_, particles) in enumerate(found.values()):
        of_particle[particles] = number
    bodies, particles = _host(model.attachment_particle_body_body), _host(model.attachment_particle_body_particle)
    crossing = owner[bodies] != of_particle[particles]
    is_hard = np.isinf(_host(model.attachment_particle_body_stiffness))
    for chosen, reason in (
        (crossing & (config.admm is None), "which proxies cannot; give both to one entry, or couple with 'admm'"),
        (crossing & is_hard & (config.admm is not None), "without a stiffness, which 'admm' needs; state one"),
    ):
        if len(rows := np.flatnonzero(chosen)):
            body, names = int(bodies[rows[0]]), list(found)
            yield (
                f"entries: {model.body_label[body]!r} of {names[owner[body]]!r} holds particles of"
                f" {names[of_particle[particles[rows[0]]]]!r}, {reason}"
            )
