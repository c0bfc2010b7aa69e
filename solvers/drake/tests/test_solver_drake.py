"""Drake keeps the contract, and moves as MuJoCo does."""

import importlib.util
import sys

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin.catalog import Catalog

IS_THERE = importlib.util.find_spec("pydrake") is not None
CONFORMANCE = conformance.Conformance("solver", "drake")
ELSEWHERE = conformance.Conformance("solver", "drake", config={"environment": sys.prefix})

needs_engine = pytest.mark.skipif(not IS_THERE, reason="`uv run --group drake` installs Drake: 300 MB")


@pytest.mark.alone
def test_its_features_are_known_without_drake():
    found = Catalog.installed().find("solver", "drake").load()

    assert "joint_drives" in found.supported_features
    assert "rigid_contacts" not in found.supported_features


@pytest.mark.alone
@pytest.mark.skipif(IS_THERE, reason="Drake is installed")
def test_without_drake_it_says_what_to_install():
    with pytest.raises(pippin.ConfigError, match="solver: needs drake; install it by `uv "):
        pippin.Simulation(pippin.structure({"solver": {"type": "drake"}}))


@needs_engine
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


@needs_engine
@pytest.mark.slow
@conformance.parametrize(ELSEWHERE)
def test_it_keeps_the_contract_in_another_process(check):
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


def places(build, solver, dt, **settings):
    """Return where the bodies are after 0.2 s [m]."""
    builder = newton.ModelBuilder(up_axis="Z")
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    build(builder)
    tables = {"simulation": {"dt": dt, "device": "cpu"}, "scene": {"worlds": 1}, "solver": {"type": solver, **settings}}
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.step(round(0.2 / dt))
        return simulation.state.body_q.numpy()[:, :3].copy()


@needs_engine
@pytest.mark.parametrize("build", [throw, swing])
def test_it_moves_as_mujoco_but_for_an_error_of_first_order(build):
    steps = (2e-3, 5e-4)
    coarse, fine = (np.abs(places(build, "drake", dt) - places(build, "mujoco-native", dt)).max() for dt in steps)

    assert coarse < 1e-3
    assert fine < max(0.35 * coarse, 2e-6)


@needs_engine
def test_an_environment_of_its_own_gives_the_same_bits():
    here, there = places(swing, "drake", 0.002), places(swing, "drake", 0.002, environment=sys.prefix)

    assert (here == there).all()


@needs_engine
def test_an_ant_flies_as_in_mujoco(ant_flight):
    assert ant_flight("drake") < 1e-6


@needs_engine
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
