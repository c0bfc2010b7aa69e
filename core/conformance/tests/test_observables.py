"""The kit finds a solver that reports wrong values: each mutant here is a true solver of which one observable is wrong
in one way.
"""

import functools

import newton
import numpy as np
import pytest
from pippin.quaternions import conjugate, rotated
from pippin_conformance import Conformance
from pippin_conformance.plugin_under_test import PluginUnderTest

pytestmark = pytest.mark.slow

SOLVERS = {"xpbd": newton.solvers.SolverXPBD, "mujoco": newton.solvers.SolverMuJoCo}
OF_BODIES = [("mujoco", "body_qdd"), ("xpbd", "body_parent_f"), ("mujoco", "body_parent_f")]
OF_CONTACTS = [("xpbd", "contact_f"), ("mujoco", "contact_f")]
OF_JOINTS = [("mujoco", f"qfrc_{name}") for name in ("actuator", "bias", "constraint", "frictionloss")]


def negative(rows, this):
    return -rows


def impulse(rows, this):
    """Return N·s in place of N."""
    return rows * this.dt


def late(rows, this):
    """Return the values of the step before."""
    before = this.memory.get("rows", rows)
    this.memory["rows"] = rows.copy()
    return before


def of_world_0(rows, this):
    """Return the values of the first world in the place of all others."""
    worlds = this.worlds(len(rows))
    found = rows.copy()
    for world in range(1, this.model.world_count):
        first, own = np.flatnonzero(worlds == 0), np.flatnonzero(worlds == world)
        found[own[: len(first)]] = rows[first[: len(own)]]
    return found


def misplaced(rows, this):
    """Return the forces of each body at the places of its other contacts."""
    found, bodies = rows.copy(), this.bodies(len(rows))
    for body in np.unique(bodies[bodies >= 0]):
        found[bodies == body] = rows[bodies == body][::-1]
    return found


def turned(rows, this):
    """Return vectors in the frames of bodies."""
    bodies = this.bodies(len(rows))
    turns = conjugate(this.state.body_q.numpy()[bodies, 3:])
    found = np.hstack([rotated(turns, rows[:, part]) for part in (slice(3), slice(3, 6))])
    return np.where(bodies[:, None] >= 0, found, rows)


def without_torque(rows, this):
    return rows * np.array([1, 1, 1, 0, 0, 0])


class Step:
    """A step of a solver, with the rows of its contacts."""

    def __init__(self, model, state, contacts, kind, dt, memory):
        self.model, self.state, self.dt, self.memory, self.kind = model, state, dt, memory, kind
        self.contacts = contacts

    def bodies(self, count):
        if self.kind != "contact_f":
            return np.arange(count)
        used = int(self.contacts.rigid_contact_count.numpy()[0])
        shapes = [getattr(self.contacts, f"rigid_contact_shape{side}").numpy()[:used] for side in (0, 1)]
        bodies = np.max([self.model.shape_body.numpy()[each] for each in shapes], axis=0)
        return np.append(bodies, np.full(count - used, -1))

    def worlds(self, count):
        if self.kind.startswith("qfrc"):
            return np.arange(count) * self.model.world_count // count
        bodies = self.bodies(count)
        return np.where(bodies >= 0, self.model.body_world.numpy()[bodies], -1)


def checked(monkeypatch, solver, check, change=None):
    """Return the result of a check of a solver, of which an observable is changed after each step."""
    kind, of_newton, memory = check.removesuffix("_of_stacks"), SOLVERS[solver], {}
    true = of_newton.step

    @functools.wraps(true)
    def step(self, state_in, state_out, control, contacts, dt, *, observables=None):
        true(self, state_in, state_out, control, contacts, dt, observables=observables)
        if observables is not None and change is not None:
            array = getattr(observables, kind)
            this = Step(self.model, state_out, observables.contacts, kind, dt, memory)
            array.assign(change(array.numpy(), this))

    plugin = PluginUnderTest(kind="solver", name=solver).plugin
    monkeypatch.setattr(of_newton, "step", step)
    monkeypatch.setattr(plugin, "supported_observables", plugin.supported_observables | {kind})
    return Conformance("solver", solver, tables={"simulation": {"capture": "off"}}).run(f"observable_{check}")


@pytest.mark.parametrize(("solver", "kind"), [*OF_CONTACTS, *OF_BODIES, *OF_JOINTS, ("mujoco", "contact_f_of_stacks")])
def test_true_values_pass(monkeypatch, solver, kind):
    result = checked(monkeypatch, solver, kind)

    assert (result.outcome, result.reason) == ("passed", "")


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("change", [negative, impulse, late, of_world_0])
@pytest.mark.parametrize(("solver", "kind"), [*OF_CONTACTS, *OF_BODIES, *OF_JOINTS])
def test_wrong_values_are_found(monkeypatch, solver, kind, change):
    result = checked(monkeypatch, solver, kind, change)

    assert result.outcome == "failed"
    assert f"declares {kind}, but not so that " in result.reason
    assert ", expected " in result.reason


@pytest.mark.parametrize(("solver", "kind"), [*OF_CONTACTS, *OF_BODIES])
def test_values_in_the_frame_of_the_body_are_found(monkeypatch, solver, kind):
    assert checked(monkeypatch, solver, kind, turned).outcome == "failed"


@pytest.mark.parametrize(("solver", "kind"), OF_CONTACTS)
def test_forces_at_other_places_are_found(monkeypatch, solver, kind):
    assert "expected" in checked(monkeypatch, solver, kind, misplaced).reason


@pytest.mark.parametrize(("solver", "kind"), OF_BODIES)
def test_values_without_torques_or_angular_accelerations_are_found(monkeypatch, solver, kind):
    assert checked(monkeypatch, solver, kind, without_torque).outcome == "failed"
