"""Pinocchio keeps the contract, and moves a robot as Newton's and MuJoCo's solvers do."""

import contextlib
import importlib.util
import inspect
import sys
from pathlib import Path

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin.catalog import Catalog

CARTPOLE = Path(__file__).parents[3] / "docs" / "examples" / "cartpole.toml"
IS_THERE = importlib.util.find_spec("pinocchio") is not None
CONFORMANCE = conformance.Conformance("solver", "pinocchio")
ELSEWHERE = conformance.Conformance("solver", "pinocchio", config={"environment": sys.prefix})

needs_engine = pytest.mark.skipif(not IS_THERE, reason="`uv run --group pinocchio` installs Pinocchio: 440 MB")


WRONG = {
    "sign of efforts": ("engine", "pulls = efforts", "pulls = -efforts"),
    "order of quaternions": ("engine", "XYZQUATToSE3(transform)", "XYZQUATToSE3(transform[[0, 1, 2, 6, 3, 4, 5]])"),
    "order of a free body's quaternion": ("solver", "EngineFrames(", 'EngineFrames(quaternion="wxyz", '),
    "order of velocities": ("solver", "EngineFrames(", 'EngineFrames(linear="last", '),
    "pose of a free body": ("solver", "EngineFrames(", 'EngineFrames(pose="body", '),
    "frame of spins": ("solver", 'angular_axes="inner"', 'angular_axes="outer"'),
    "frame of velocities": ("solver", 'linear_axes="inner"', 'linear_axes="outer"'),
    "velocity of the origin": ("solver", 'point="origin"', 'point="com"'),
    "length of the step": (
        "engine",
        "self.dt, self.model = arrays, com, dt,",
        "self.dt, self.model = arrays, com, 0.002,",
    ),
    "gravity of the first step": ("engine", "linear = gravity", "linear = vars(self).setdefault('g', gravity + 0)"),
    "efforts of another world": ("engine", "pulls = efforts", "pulls = self.arrays['efforts'][world - 1]"),
    "wrenches of world 0": ("engine", "at_joints(wrenches)", "at_joints(self.arrays['wrenches'][0])"),
    "armature": ("engine", "= armature + dt * damping, damping", "= dt * damping, damping"),
    "dampers": ("engine", "pulls = efforts - self.damping * v", "pulls = efforts"),
    "lever of wrenches": ("engine", " + np.cross(at, force))", ")"),
    "frame of wrenches": ("engine", "= turn @ wrench[:3], turn @ wrench[3:]", "= wrench[:3], wrench[3:]"),
    "frame of the child": ("engine", "place(inner[row]).inverse()", "place(inner[row])"),
    "rate of coordinates": ("engine", "self.dt * v)", "0.0 * v)"),
    "rate of places": ("engine", "self.dt * velocity", "0.0 * velocity"),
    "axes that turn": ("engine", " + np.cross(angular, linear)", ""),
    "substeps": ("engine", "in range(count):", "in range(1):"),
}
"""Lines of a wrapper that authors get wrong: the file, the line, and what it is instead."""


@contextlib.contextmanager
def wrong(name):
    """Let a line of the wrapper be wrong in the `with` block."""
    file, line, other = WRONG[name]
    modules = [importlib.import_module(f"pippin_solver_pinocchio.{each}") for each in ("engine", "solver")]
    sources = {module: inspect.getsource(module) for module in modules}
    module = importlib.import_module(f"pippin_solver_pinocchio.{file}")
    changed = {**sources, module: sources[module].replace(line, other)}
    assert sources[module].count(line) == 1
    try:
        for each, text in changed.items():
            exec(compile(text, each.__file__, "exec"), vars(each))
        yield
    finally:
        for each, text in sources.items():
            exec(compile(text, each.__file__, "exec"), vars(each))


def swing(solver):
    """Return coordinates [m, rad] and velocities of the cart-pole a second after it started near the top."""
    overrides = {
        "solver": {**solver, "extends": False},
        "actuators": {"extends": False},
        "scene.worlds": 1,
        "simulation.device": "cpu",
    }
    overrides["simulation.accept_unsupported"] = ["rigid_contacts", "joint_limits"]
    with pippin.Simulation.from_file(CARTPOLE, overrides) as simulation:
        simulation.step(50)
        return simulation.state.joint_q.numpy().copy(), simulation.state.joint_qd.numpy().copy()


@pytest.mark.alone
def test_its_features_are_known_without_pinocchio():
    found = Catalog.installed().find("solver", "pinocchio").load()

    assert "joint_drives" not in found.supported_features
    assert "pinocchio" not in sys.modules or IS_THERE


@pytest.mark.alone
@pytest.mark.skipif(IS_THERE, reason="Pinocchio is installed")
def test_without_pinocchio_it_says_what_to_install():
    with pytest.raises(pippin.ConfigError, match="solver: needs pin; install it by `uv "):
        pippin.Simulation(pippin.structure({"solver": {"type": "pinocchio"}}))


@needs_engine
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


@needs_engine
@pytest.mark.slow
@conformance.parametrize(ELSEWHERE)
def test_it_keeps_the_contract_in_another_process(check):
    check()


@needs_engine
@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_line_that_is_wrong_is_found(name):
    with wrong(name):
        kit = conformance.Conformance("solver", "pinocchio")
        names = [each for each in kit.checks if each.startswith(("tree_", "substeps"))]

        assert "failed" in (kit.run(each).outcome for each in names)


@needs_engine
def test_a_cart_pole_swings_as_in_another_engine_of_double_precision():
    """Both take a semi-implicit Euler step in joint coordinates: what remains is the rounding to Newton's state."""
    q, qd = swing({"type": "pinocchio"})
    other_q, other_qd = swing({"type": "mujoco-native"})

    np.testing.assert_allclose(q, other_q, rtol=1e-6)
    np.testing.assert_allclose(qd, other_qd, rtol=1e-6)


@needs_engine
def test_a_cart_pole_swings_as_in_an_engine_of_single_precision():
    """The pendulums are chaotic: from 500 roundings of 6e-8 come some 1e-5 m, and more in the velocities."""
    q, qd = swing({"type": "pinocchio"})
    other_q, other_qd = swing({"type": "featherstone", "angular_damping": 0.0})

    np.testing.assert_allclose(q, other_q, atol=2e-5)
    np.testing.assert_allclose(qd, other_qd, atol=2e-4)


@needs_engine
def test_an_ant_flies_as_in_mujoco(ant_flight):
    """Its joints stay off their limits, which Pinocchio does not have."""
    assert ant_flight("pinocchio", accept_unsupported=["joint_limits"]) < 1e-6


@needs_engine
def test_an_environment_of_its_own_gives_the_same_bits():
    here, there = swing({"type": "pinocchio"}), swing({"type": "pinocchio", "environment": sys.prefix})

    assert all((one == other).all() for one, other in zip(here, there, strict=True))


@needs_engine
def test_a_fixed_foot_carries_nothing_and_a_free_body_tumbles():
    """Without gravity, a body whose centre of mass is off its origin moves straight, and its momentum stays."""
    builder = newton.ModelBuilder(up_axis="Z")
    body = builder.add_body(
        mass=2.0, com=(0.3, -0.1, 0.2), inertia=wp.mat33(0.5, 0.1, 0.0, 0.1, 0.4, 0.0, 0.0, 0.0, 0.3)
    )
    builder.joint_qd[:] = [1.0, 2.0, 3.0, 1.0, -2.0, 0.5]
    foot = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    builder.add_articulation([builder.add_joint_fixed(-1, foot)])
    tables = {"simulation": {"device": "cpu", "dt": 1e-3}, "scene": {"gravity": [0.0, 0.0, 0.0]}}
    config = pippin.structure({**tables, "solver": {"type": "pinocchio"}})
    with pippin.Simulation(config, prototype=builder) as simulation:
        simulation.step(1000)
        pose, speed = simulation.state.body_q.numpy()[body], simulation.state.body_qd.numpy()[body]

    turn = wp.quat(*pose[3:].tolist())
    centre = pose[:3] + np.array(wp.quat_rotate(turn, wp.vec3(0.3, -0.1, 0.2)))
    np.testing.assert_allclose(centre, [1.3, 1.9, 3.2], atol=1e-2)  # a step of first order, in axes that turn
    np.testing.assert_allclose(speed[:3], [1.0, 2.0, 3.0], atol=1e-2)
