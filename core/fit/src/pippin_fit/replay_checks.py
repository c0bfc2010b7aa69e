"""Faults of logs that the simulation shows: contacts that nobody measured, efforts at a limit, and nothing to gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import Simulation
from pippin.arrays import on_host, present
from pippin.labels import name_of
from pippin.measuring import PenetrationProbe

from pippin_fit.config import FitConfig

from .checks import Fault
from .log import Log, RobotJoint

_POSES = 200
"""Most poses of a log that are looked at for contacts."""

_DEPTH = 2e-3
"""Depth from which on two shapes touch [m]."""

_SATURATED, _FLOOR = 0.2, 3.0


class Touching:
    """Contacts of a robot in given poses, in the first world of a model."""

    def __init__(self, model: newton.Model, joints: Sequence[RobotJoint]) -> None:
        self._model, self._columns = model, [joint.coordinate for joint in joints]
        self._state = model.state(requires_grad=False)
        has_free_base = (on_host(model.joint_type) == int(newton.JointType.FREE)).any()  # no log says where it is
        can_touch = bool(model.shape_contact_pair_count) and not has_free_base
        self._probe = PenetrationProbe(model) if can_touch else None

    def bodies(self, positions: np.ndarray) -> tuple[str, str] | None:
        """Return the names of the two bodies that overlap most at positions of the joints, shape [joints], or None."""
        if self._probe is None:
            return None
        model, state = self._model, self._state
        joint_q = on_host(model.joint_q).copy()
        joint_q[self._columns] = positions
        present(state.joint_q).assign(joint_q)
        newton.eval_fk(model, present(state.joint_q), present(state.joint_qd), state)
        shapes, depths = self._probe.pairs(state)
        if not (depths > _DEPTH).any():
            return None
        first, second = shapes[int(np.argmax(depths))].tolist()
        return self._name(first), self._name(second)

    def _name(self, shape: int) -> str:
        body = int(on_host(self._model.shape_body)[shape])
        return name_of(self._model.shape_label[shape] if body < 0 else self._model.body_label[body])


def contact_faults(
    model: newton.Model, logs: Sequence[Log], joints: Mapping[str, RobotJoint], config: FitConfig
) -> Iterator[tuple[str, Fault]]:
    """Yield the name of each log in whose poses the robot touches something, and the fault."""
    if any(key.startswith("shapes.") for key in config.parameters):
        return
    touching = Touching(model, [joints[label] for label in logs[0].joints])
    for log in logs:
        columns = [log.joints.index(label) for label in logs[0].joints if label in log.joints]
        for row in range(0, len(log.times), -(-len(log.times) // _POSES)):
            if (bodies := touching.bodies(log.signals["position"][row, columns])) is not None:
                text = (
                    f"{bodies[0]} and {bodies[1]} touch at {log.times[row]:.3g} s, and no parameter of contacts varies;"
                    " leave that part out, or correct the shapes"
                )
                yield log.name, Fault(kind="contact", text=text)
                break


def limited_efforts(actuator: Any) -> tuple[wp.array, wp.array] | None:
    """Return the efforts of an actuator before and after its limits; None if it has none."""
    computed, applied = (getattr(actuator, name, None) for name in ("computed_effort", "applied_effort"))
    is_limited = isinstance(computed, wp.array) and isinstance(applied, wp.array) and computed is not applied
    return (computed, applied) if is_limited else None


class SaturationWatch:
    """Counts how often limits change the efforts of joints in a rollout, in the first worlds."""

    def __init__(self, simulation: Simulation, joints: Sequence[str], worlds: int) -> None:
        self._worlds, self._steps = worlds, 0
        self._groups: list[tuple[Any, list[tuple[int, str]]]] = []
        for actuator in simulation.actuators.values():
            labels: Sequence[str] = getattr(actuator, "joint_labels", ())
            own = [(at, label) for at, label in enumerate(labels) if label in joints]
            if own and limited_efforts(actuator) is not None:
                self._groups.append((actuator, own))
        #: Whether a limit of an effort exists.
        self.is_needed: bool = bool(self._groups)
        self._counts = dict.fromkeys((label for _, own in self._groups for _, label in own), 0)

    def look(self) -> None:
        """Count the present step."""
        self._steps += 1
        for actuator, own in self._groups:
            computed, applied = (on_host(each)[: self._worlds] for each in present(limited_efforts(actuator)))
            for lane, label in own:
                self._counts[label] += int(np.count_nonzero(computed[:, lane] != applied[:, lane]))

    def faults(self) -> Iterator[Fault]:
        """Yield a note on each joint whose effort is often at its limit."""
        for label, count in self._counts.items():
            share = count / (self._steps * self._worlds)
            if share > _SATURATED:
                text = (
                    f"{label}: its effort is at a limit for {share:.0%} of the time, which tells nothing of gains;"
                    " command smaller or slower motions"
                )
                yield Fault(is_note=True, text=text)


def gain_faults(validation: Sequence[float] | None) -> Iterator[Fault]:
    """Yield a note if the file explains the logs already: its residuals are the first of the validation, in σ."""
    if validation is not None and validation[0] < _FLOOR:
        text = f"the file meets the windows of the validation to {validation[0]:.2g} σ: there is nothing to gain"
        yield Fault(is_note=True, text=text)
