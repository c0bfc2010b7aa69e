"""Pinocchio as a foreign engine: installed like any package, it moves a robot as Newton's and MuJoCo's solvers do."""

import contextlib
import importlib
import inspect
from pathlib import Path

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp

pytest.importorskip("pinocchio", reason="`uv run --group pinocchio` installs it: 440 MB")

CARTPOLE = Path(__file__).parents[2] / "docs" / "examples" / "cartpole.toml"
CONFORMANCE = conformance.Conformance("solver", "pinocchio")


WRONG = {
    "sign of efforts": ("engine", "= self.joints.efforts(", "= -self.joints.efforts("),
    "order of quaternions": ("mechanism", "transform.astype(float)", "transform[[0, 1, 2, 6, 3, 4, 5]].astype(float)"),
    "order of a free body's quaternion": ("engine", "EngineFrames(", 'EngineFrames(quaternion="wxyz", '),
    "order of velocities": ("engine", "EngineFrames(", 'EngineFrames(linear="last", '),
    "pose of a free body": ("engine", "EngineFrames(", 'EngineFrames(pose="body", '),
    "frame of spins": ("engine", 'angular_axes="inner"', 'angular_axes="outer"'),
    "frame of velocities": ("engine", 'linear_axes="inner"', 'linear_axes="outer"'),
    "velocity of the origin": ("engine", 'point="origin"', 'point="com"'),
    "length of the step": ("solver", "control, dt)", "control, 0.002)"),
    "gravity of the first step": (
        "engine",
        "gravity[world].astype",
        "vars(self).setdefault('g', gravity + 0)[world].astype",
    ),
    "efforts of another world": ("engine", "efforts[world]", "efforts[world - 1]"),
    "wrenches of world 0": ("engine", "self._of(body_f, world))", "self._of(body_f, 0))"),
    "armature": ("mechanism", "self.model.armature =", "_ ="),
    "lever of wrenches": ("engine", " + np.cross(at, turn.T @ force))", ")"),
    "frame of wrenches": ("engine", "pin.Force(turn.T @ force, turn.T @ torque", "pin.Force(force, turn.T @ torque"),
    "frame of the child": ("mechanism", '_place(joint["X_c"]).inverse()', '_place(joint["X_c"])'),
    "rate of places": (
        "engine",
        "q[:] = pin.integrate(model, q, dt * v)",
        "q[:] = pin.integrate(model, q, 0.0 * v)",
    ),
    "worlds that are read": ("solver", "written_worlds.numpy()", "written_worlds.numpy() | True"),
}
"""Lines of a wrapper that authors get wrong: the file, the line, and what it is instead."""


@contextlib.contextmanager
def wrong(name):
    """Let a line of the wrapper be wrong in the `with` block."""
    file, line, other = WRONG[name]
    modules = [importlib.import_module(f"pippin_solver_pinocchio.{each}") for each in ("mechanism", "engine", "solver")]
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


@pytest.fixture(scope="module", autouse=True)
def plugin(install_outside):
    """Install the plugin for the tests of this file."""
    with install_outside("pippin-solver-pinocchio") as site, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(site))
        yield


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


@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_line_that_is_wrong_is_found(name):
    with wrong(name):
        kit = conformance.Conformance("solver", "pinocchio")
        names = [each for each in kit.checks if each.startswith(("tree_", "substeps"))]

        assert "failed" in (kit.run(each).outcome for each in names)


def test_a_cart_pole_swings_as_in_another_engine_of_double_precision():
    """Both take a semi-implicit Euler step in joint coordinates: what remains is the rounding to Newton's state."""
    q, qd = swing({"type": "pinocchio"})
    other_q, other_qd = swing({"type": "mujoco-native"})

    np.testing.assert_allclose(q, other_q, rtol=1e-6)
    np.testing.assert_allclose(qd, other_qd, rtol=1e-6)


def test_a_cart_pole_swings_as_in_an_engine_of_single_precision():
    """The pendulums are chaotic: from 500 roundings of 6e-8 come some 1e-5 m, and more in the velocities."""
    q, qd = swing({"type": "pinocchio"})
    other_q, other_qd = swing({"type": "featherstone", "angular_damping": 0.0})

    np.testing.assert_allclose(q, other_q, atol=2e-5)
    np.testing.assert_allclose(qd, other_qd, atol=2e-4)


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
