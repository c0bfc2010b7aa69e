"""Drake as a foreign engine, by an author who had the pages alone: it keeps the contract, and moves as MuJoCo does."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp

pytest.importorskip("pydrake", reason="`uv run --group drake` installs it: 300 MB")

CONFORMANCE = conformance.Conformance("solver", "drake")


@pytest.fixture(scope="module", autouse=True)
def plugin(install_outside):
    """Install the plugin for the tests of this file."""
    with install_outside("pippin-solver-drake") as site, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(site))
        yield


@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


def throw(builder):
    """Add a free body that turns about none of its principal axes, with its centre of mass off its origin."""
    builder.add_body(mass=2.0, com=wp.vec3(0.1, -0.05, 0.02), inertia=wp.diag(wp.vec3(0.02, 0.03, 0.04)))
    builder.joint_qd[:] = [1.0, -0.5, 2.0, 1.0, 2.0, 3.0]


def swing(builder):
    """Add a rod of 1 m on a hinge, and one on a ball joint below it."""
    inertia, ends = wp.diag(wp.vec3(0.083, 0.083, 0.001)), [wp.transform(wp.vec3(0.0, 0.0, z)) for z in (0.5, -0.5)]
    upper, lower = (builder.add_link(mass=1.0, inertia=inertia) for _ in range(2))
    hinge = builder.add_joint_revolute(-1, upper, axis=(0.0, 1.0, 0.0), child_xform=ends[0], armature=0.02)
    ball = builder.add_joint_ball(upper, lower, parent_xform=ends[1], child_xform=ends[0])
    builder.add_articulation([hinge, ball])
    builder.joint_q[0] = 1.0
    builder.joint_qd[1:4] = [1.0, 0.5, 2.0]


def places(build, solver, dt):
    """Return where the bodies are after 0.2 s [m]."""
    builder = newton.ModelBuilder(up_axis="Z")
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    build(builder)
    tables = {"simulation": {"dt": dt, "device": "cpu"}, "scene": {"worlds": 1}, "solver": {"type": solver}}
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.step(round(0.2 / dt))
        return simulation.state.body_q.numpy()[:, :3].copy()


@pytest.mark.parametrize("build", [throw, swing])
def test_it_moves_as_mujoco_but_for_an_error_of_first_order(build):
    steps = (2e-3, 5e-4)
    coarse, fine = (np.abs(places(build, "drake", dt) - places(build, "mujoco-native", dt)).max() for dt in steps)

    assert coarse < 1e-3
    assert fine < max(0.35 * coarse, 2e-6)


def test_a_world_that_diverges_does_not_end_the_process():
    """Drake ends it at coordinates that are not finite."""
    builder = newton.ModelBuilder(up_axis="Z")
    throw(builder)
    tables = {"simulation": {"dt": 0.002, "device": "cpu"}, "scene": {"worlds": 2}, "solver": {"type": "drake"}}
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.view.articulations("**").set_root_velocities(np.full((1, 6), 1e38, dtype=np.float32), indices=[1])
        simulation.step(3)

        assert np.isfinite(simulation.state.joint_q.numpy()[:7]).all()
        with pytest.raises(pippin.SimulationError, match="world 1"):
            simulation.raise_errors()
