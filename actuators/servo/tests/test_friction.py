"""The friction of servos against cases that were computed with another program in double precision."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

KINDS = ("m1", "m2", "m3", "m4", "m5", "m6")

SET = {
    "kc": 0.1,
    "kv": 0.05,
    "kcs": 0.08,
    "vs": 0.5,
    "alpha": 1.5,
    "kl": 0.2,
    "kls": 0.1,
    "km": 0.25,
    "ke": 0.05,
    "kms": 0.15,
    "kes": 0.1,
    "kmq": 0.01,
    "keq": 0.005,
}
"""One number for each coefficient."""

KEYS = {
    "m1": "kc kv",
    "m2": "kc kv kcs vs alpha",
    "m3": "kc kv kl",
    "m4": "kc kv kcs vs alpha kl kls",
    "m5": "kc kv kcs vs alpha km ke kms kes",
    "m6": "kc kv kcs vs alpha km ke kms kes kmq keq",
}

INERTIA, STEP = 0.02, 0.005  # [kg·m²], [s]

CASES = [
    # speed, torque of the motor, of the rest; for m1 to m6 the budget [N·m] and the speed after a step [rad/s]
    ((0, 0, 0), (0.1, 0), (0.18, 0), (0.1, 0), (0.18, 0), (0.18, 0), (0.18, 0)),
    ((0, 0.05, 0), (0.1, 0), (0.18, 0), (0.11, 0), (0.195, 0), (0.2, 0), (0.2, 0)),
    ((0, 1, -0.8), (0.1, 0.025), (0.18, 0.005), (0.46, 0), (0.72, 0), (0.7, 0), (0.7032, 0)),
    (
        (0.1, 1, -0.8),
        (0.105, 0.12375),
        (0.178155, 0.105461),
        (0.465, 0.03375),
        (0.702755, 0),
        (0.678477, 0),
        (0.681403, 0),
    ),
    (
        (-1, 1, -0.8),
        (0.15, -0.9125),
        (0.154728, -0.911318),
        (0.51, -0.8225),
        (0.525367, -0.818658),
        (0.458323, -0.835419),
        (0.458512, -0.835372),
    ),
    (
        (3, -0.5, -1),
        (0.25, 2.5625),
        (0.25, 2.5625),
        (0.35, 2.5375),
        (0.35, 2.5375),
        (0.325, 2.54375),
        (0.325, 2.54375),
    ),
    (
        (-0.02, 0.3, 0.4),
        (0.101, 0.12975),
        (0.180363, 0.109909),
        (0.121, 0.12475),
        (0.210283, 0.102429),
        (0.240323, 0.094919),
        (0.240323, 0.094919),
    ),
]

BRANCHES = [
    # m6: the motor is stronger, weaker, on the same side, as strong as the rest, and stronger by far
    ((0.2, 1.5, -1.0), (0.853357, 0.111661)),
    ((0.2, 1.0, -1.5), (0.737828, 0.0)),
    ((0.2, 1.0, 1.5), (0.347119, 0.738220)),
    ((0.2, 1.2, -1.2), (0.765063, 0.008734)),
    ((0.2, -2.0, 0.5), (0.969858, 0.0)),
]

LIBRARY = [
    ("mx106", "m6", (0, 1, -0.8), 0.606072),
    ("mx106", "m1", (0, 1, -0.8), 0.103520),
    ("xl330", "m6", (0.5, 0.2, -0.1), 0.073615),
    ("xl320", "m5", (1, 0.1, -0.2), 0.090312),
    ("erob80_100", "m6", (0.2, 30, -20), 10.674580),
    ("mx64", "m4", (0.1, 2, -1.5), 0.884891),
    ("sts3215", "m1", (1, 0.5, -0.3), 0.111478),
]

MOTOR = {"mode": "current", "kt": 1.0, "gain": 1.0, "kp": 1.0, "resistance": 1.0, "voltage": 1e6, "damping_factor": 0.0}
"""A motor whose torque is the target, at the position 0."""


class Featherstone:
    """A solver that comes with Newton itself."""

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)


class Load:
    """Torques that something else exerts on the joints."""

    def __init__(self, torques):
        self.torques = torques

    @pippin.hookimpl
    def bind(self, binding):
        self._torques = wp.array(self.torques, dtype=float, device=binding.simulation.device)

    @pippin.hookimpl
    def apply_actuators(self, control):
        wp.launch(add_torques, len(self._torques), [self._torques, control.joint_f], device=self._torques.device)


@wp.kernel
def add_torques(torques: wp.array[float], joint_f: wp.array[float]):
    i = wp.tid()
    joint_f[i] += torques[i]


def shafts(speeds):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for index, speed in enumerate(speeds):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(INERTIA)))
        joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label=f"shaft_{index}", armature=0.0)
        builder.add_articulation([joint])
        builder.joint_qd[-1] = float(speed)
    return builder


def step(states, **options):
    """Return budgets [N·m] and speeds after a step [rad/s] of shafts in some states, each of shape [states]."""
    speeds, motors, others = np.array(states, dtype=float).T
    tables = {
        "simulation": {"device": "cpu", "dt": STEP},
        "actuators": {"servos": {"type": "servo", "joints": [".*"], **MOTOR, "armature": 0.0, **options}},
    }
    plugins = [Featherstone(), Load(others)]
    with pippin.Simulation(pippin.structure(tables), plugins=plugins, prototype=shafts(speeds)) as simulation:
        group = simulation.actuators["servos"]
        group.position_targets.assign(motors[None])
        simulation.step()
        return group.friction_budget.numpy()[0], simulation.state.joint_qd.numpy()


def check(states, expected, **options):
    """Six digits are known; a float has seven, and the speed is a difference of torques times h / J = 0.25."""
    budgets, speeds = step(states, **options)
    np.testing.assert_allclose(budgets, [budget for budget, _ in expected], atol=1e-6)
    np.testing.assert_allclose(speeds, [speed for _, speed in expected], atol=1e-6)


@pytest.mark.alone
@pytest.mark.parametrize("kind", KINDS)
def test_budget_and_speed_after_a_step_are_those_of_the_reference(kind):
    numbers = {name: SET[name] for name in KEYS[kind].split()}
    column = 1 + KINDS.index(kind)
    check([case[0] for case in CASES], [case[column] for case in CASES], friction={"type": kind, **numbers})


def test_squared_loads_count_against_the_motor_alone():
    numbers = {name: SET[name] for name in KEYS["m6"].split()}
    check([state for state, _ in BRANCHES], [found for _, found in BRANCHES], friction={"type": "m6", **numbers})


@pytest.mark.first_cases(3)
@pytest.mark.parametrize(("model", "kind", "state", "budget"), LIBRARY)
def test_servos_of_the_library_have_their_budgets(model, kind, state, budget):
    """The library has four digits of each coefficient, and 0 for those below 1e-4."""
    found, _ = step([state], model=model, current_limit=1e3, friction={"type": kind})
    assert found[0] == pytest.approx(budget, rel=1e-3)


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ({"model": "mx107"}, "'mx107' is not in the library.*mx106"),
        ({}, "kt: is missing; give it, or a model"),
        ({"model": "erob80_50"}, "kp: is missing; the library has none for 'erob80_50'"),
        ({"model": "sts3215", "friction": {"type": "m4"}}, "the library has no 'm4' of 'sts3215', but m1"),
        ({"model": "mx64", "friction": {"type": "m1", "kl": 1.0}}, "friction.kl: is no number of type 'm1'.*kc, kv"),
        ({**MOTOR, "friction": {"kc": 1.0}}, "'friction.type' is missing"),
        ({**MOTOR, "friction": {"type": "m1", "kc": 1.0}}, "'friction.kv' is missing for type 'm1'"),
        ({**MOTOR, "mode": "voltage"}, "damping_factor: is a number of the mode 'current'"),
    ],
)
def test_tables_that_make_no_servo_are_refused(table, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        pippin.structure({"actuators": {"servos": {"type": "servo", "joints": [".*"], **table}}})
