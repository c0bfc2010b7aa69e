"""Rigid-body solvers against formulas, each within the tolerance that checks.toml states."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from pippin.catalog.entries import Catalog

ROWS, LABORATORY = (
    tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("checks.toml", "laboratory.toml")
)
TOP, SPHERES, PENDULUM, BOX, CONTACT = (LABORATORY[name] for name in ("top", "spheres", "pendulum", "box", "contact"))
GRAVITY = LABORATORY["worlds"]["gravity"]
STACK = ("lowest", "middle", "highest")


each_solver = pytest.mark.parametrize("solver", [name for name, row in ROWS.items() if "checks" in row])


def assert_within(solver, check, error):
    tolerance = ROWS[solver]["checks"][check]
    assert error <= tolerance, f"{check} of {solver}: error {error:.3g}, tolerance {tolerance:g}"


def test_every_installed_solver_has_a_row_and_every_row_the_same_checks():
    rows = {name: row for name, row in ROWS.items() if "engine" not in row}
    kinds = {
        name: {kind: tuple(row[kind]) for kind in ("checks", "particles") if kind in row} for name, row in rows.items()
    }
    catalog = Catalog.installed()
    entries = {name: catalog.find("solver", name) for name in catalog.names_without_settings("solver")}
    own = {name: entry for name, entry in entries.items() if not hasattr(entry.load_config(), "extra")}
    plugins = {name: entry.load() for name, entry in own.items()}  # engines of others may have none
    movers = {name for name, plugin in plugins.items() if "particles" in plugin.supported_features}

    assert {name for name, checks in kinds.items() if checks} == plugins.keys()
    assert {name for name, checks in kinds.items() if "particles" in checks} == movers
    assert len({checks["checks"] for checks in kinds.values() if "checks" in checks}) == 1
    assert len({checks["particles"] for checks in kinds.values() if "particles" in checks}) == 1


@pytest.mark.first_cases(1)
@each_solver
def test_a_body_falls_by_the_formula(solver, record):
    """Symplectic Euler: v = g t and z = g t (t + h) / 2 with substeps of h; the half of h is its error of first order.

    The error is relative, the larger of position and velocity, after half a second.
    """
    recording = record(solver)
    top = recording["upright", "top"]
    now = top.at(0.5)
    time = top.time[now]

    depth = -top.position[now, 2] / (GRAVITY * time * (time + recording.substep) / 2)
    speed = -top.velocity[now, 2] / (GRAVITY * time)

    assert_within(solver, "free_fall", max(abs(depth - 1), abs(speed - 1)))


@pytest.mark.first_cases(1)
@each_solver
def test_a_free_top_keeps_its_spin_and_precesses_by_the_formula(solver, record):
    """Euler's equations: in the body, ω turns about the symmetry axis at (I₃ - I₁) / I₁ ω₃, and keeps its length.

    Damping c, where a solver has some by default, takes exp(-c t) of it. The error is |Δω| / |ω| within half a second.
    """
    top = record(solver)["weightless", "top"]
    damping = ROWS[solver].get("angular_damping", 0.0)
    time = top.time[: top.at(0.5) + 1]
    decay = np.exp(-damping * time)
    turned = time if damping == 0.0 else (1 - decay) / damping
    (across, _, along), (tumbling, _, spin) = TOP["inertia"], TOP["angular_velocity"]
    phase = (along - across) / across * spin * turned
    turning = np.stack([tumbling * np.cos(phase), tumbling * np.sin(phase), np.full_like(phase, spin)], axis=1)
    expected = decay[:, None] * turning

    difference = top.into_body(top.angular_velocity)[: len(time)] - expected

    assert_within(solver, "free_top", np.linalg.norm(difference, axis=1).max() / np.linalg.norm(expected[0]))


def period_of(motion):
    """Return twice the time between the first two passages through the lowest point [s]."""
    angle = motion.angle
    before = np.flatnonzero(angle[:-1] * angle[1:] < 0)[:2]
    passages = motion.time[before] + motion.time[1] * angle[before] / (angle[before] - angle[before + 1])
    return 2 * np.diff(passages)[0]


def swing(amplitude):
    """Return the period of a pendulum [s]: 2π √(J / (m g l)) over the mean of 1 and cos(amplitude / 2).

    J is the inertia about the hinge, I + m l². The mean is the arithmetic-geometric one, which gives the complete
    elliptic integral of the first kind.
    """
    mass, length = PENDULUM["mass"], PENDULUM["length"]
    larger, smaller = 1.0, np.cos(amplitude / 2)
    for _ in range(6):
        larger, smaller = (larger + smaller) / 2, np.sqrt(larger * smaller)
    return 2 * np.pi * np.sqrt((PENDULUM["inertia"] + mass * length**2) / (mass * GRAVITY * length)) / larger


@pytest.mark.first_cases(2)
@each_solver
def test_a_small_swing_takes_the_period_of_the_formula(solver, record):
    period = period_of(record(solver)["upright", "small"])

    assert_within(solver, "small_swing", abs(period / swing(PENDULUM["small"]) - 1))


@pytest.mark.first_cases(1)
@each_solver
def test_a_large_swing_takes_longer_by_the_elliptic_integral(solver, record):
    period = period_of(record(solver)["upright", "large"])

    assert_within(solver, "large_swing", abs(period / swing(PENDULUM["large"]) - 1))


@each_solver
def test_an_undamped_pendulum_keeps_its_energy(solver, record):
    """Energy above that of hanging still, of the large swing; the error is the largest drift, relative to the start."""
    large = record(solver)["upright", "large"]
    mass, length, inertia = PENDULUM["mass"], PENDULUM["length"], PENDULUM["inertia"]
    height = length + large.position[:, 2] + large.into_world(np.array([0.0, 0.0, -length]))[:, 2]
    kinetic = mass * np.sum(large.velocity**2, axis=1) + inertia * np.sum(large.angular_velocity**2, axis=1)
    energy = mass * GRAVITY * height + kinetic / 2

    assert_within(solver, "energy", np.abs(energy / energy[0] - 1).max())


def rate_of(values, motion, start=0.3, end=0.8):
    """Return the slope of the straight line through values between two times, when the boxes have settled."""
    span = slice(motion.at(start), motion.at(end) + 1)
    return np.polyfit(motion.time[span], values[span], 1)[0]


@each_solver
def test_a_box_stays_on_a_slope_below_its_friction(solver, record):
    """tan θ < μ, gravity being tilted by θ. The error is the speed of creep [m/s]."""
    box = record(solver)["tilted", "rough"]

    assert_within(solver, "sticking", abs(rate_of(box.position[:, 0], box)))


@each_solver
def test_a_box_slides_down_a_slope_above_its_friction(solver, record):
    """tan θ > μ, and the acceleration is g (sin θ - μ cos θ), relative error."""
    box, angle = record(solver)["tilted", "smooth"], np.arctan(LABORATORY["worlds"]["slope"])
    expected = GRAVITY * (np.sin(angle) - BOX["smooth"] * np.cos(angle))

    assert_within(solver, "sliding", abs(rate_of(box.velocity[:, 0], box) / expected - 1))


def velocities_of_spheres(recording):
    return [recording["weightless", label].velocity for label in ("left", "right")]


@each_solver
def test_a_collision_keeps_the_momentum(solver, record):
    """The error is the largest change of m₁ v₁ + m₂ v₂ at any time, relative to m₁ |v₁| + m₂ |v₂|."""
    left, right = velocities_of_spheres(record(solver))
    momenta = [mass * velocity for mass, velocity in zip(SPHERES["masses"], (left, right), strict=True)]
    change = sum(momenta) - sum(momenta)[0]

    assert left[-1, 0] < right[-1, 0], "they have met"
    assert_within(solver, "momentum", np.linalg.norm(change, axis=1).max() / sum(abs(each[0, 0]) for each in momenta))


def rebound_of_a_spring():
    """Return the coefficient of restitution of a spring that is damped on the way in alone.

    With reduced mass m, ζ = d / (2 √(k m)) > 1 and s = √(ζ² - 1), the largest penetration is
    v √(m / k) exp(-ζ/s artanh(s/ζ)), and all that the spring holds comes back.
    """
    reduced_mass = np.prod(SPHERES["masses"]) / np.sum(SPHERES["masses"])
    zeta = CONTACT["kd"] / (2 * np.sqrt(CONTACT["ke"] * reduced_mass))
    root = np.sqrt(zeta**2 - 1)
    return np.exp(-zeta / root * np.arctanh(root / zeta))


REBOUNDS = {
    "coefficient": SPHERES["restitution"],
    "damped spring": rebound_of_a_spring(),
    "critical spring": np.exp(-2.0),  # damped both ways, until it would pull
}


@each_solver
def test_spheres_rebound_by_their_restitution(solver, record):
    """Speed of parting over speed of closing, absolute error."""
    left, right = velocities_of_spheres(record(solver))
    rebound = (right[-1, 0] - left[-1, 0]) / (left[0, 0] - right[0, 0])

    assert_within(solver, "restitution", abs(rebound - REBOUNDS[ROWS[solver]["rebound"]]))


def mass_of_box():
    return BOX["density"] * BOX["side"] ** 3


def sinking_of_springs():
    """Return how deep each box of the stack sinks [m]: what lies above a face presses on the springs of its corners."""
    return np.cumsum([count * mass_of_box() * GRAVITY / (4 * CONTACT["ke"]) for count in (3, 2, 1)])


@each_solver
def test_a_stack_stays_where_it_was_put(solver, record):
    """The error is the largest distance of a box from its place at the end [m].

    Where contacts are springs the place is deeper by m g / (4 k) for every box above each contact.
    """
    boxes = [record(solver)["upright", label] for label in STACK]
    sinking = sinking_of_springs() if ROWS[solver].get("contacts") == "springs" else np.zeros(3)

    moved = [box.position[-1] - box.position[0] + [0.0, 0.0, depth] for box, depth in zip(boxes, sinking, strict=True)]

    assert_within(solver, "stack", np.linalg.norm(moved, axis=1).max())


@each_solver
def test_a_stack_comes_to_rest(solver, record):
    """The error is the kinetic energy that is left at the end [J], with I = m a² / 6 for a box."""
    boxes = [record(solver)["upright", label] for label in STACK]
    mass, inertia = mass_of_box(), mass_of_box() * BOX["side"] ** 2 / 6

    energies = [mass * np.sum(box.velocity[-1] ** 2) + inertia * np.sum(box.angular_velocity[-1] ** 2) for box in boxes]

    assert_within(solver, "rest", sum(energies) / 2)
