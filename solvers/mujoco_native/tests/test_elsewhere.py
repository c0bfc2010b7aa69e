"""MuJoCo in another environment moves as it does here, to the bit if it is the same version."""

import os
import sys
from pathlib import Path

import mujoco
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
from pippin_solver_mujoco_native import MuJoCoNativeConfig
from pippin_solver_mujoco_native.batch_engine import made_model, told_model
from pippin_solver_mujoco_native.remote import RemoteBatch

HERE = sys.prefix

FOUR = Path(os.environ.get("PIPPIN_MUJOCO_4", Path(__file__).parents[3] / "envs" / "mujoco-4.0"))
needs_four = pytest.mark.skipif(
    not FOUR.exists(),
    reason="`uv run pippin env add mujoco-native --with 'mujoco==4.0.*' --to envs/mujoco-4.0` makes it, 130 MB;"
    " PIPPIN_MUJOCO_4 names another",
)

BALL = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom type="plane" size="2 2 0.1"/>
    <body name="block" pos="0 0 0.3">
      <freejoint/>
      <geom type="box" size="0.1 0.15 0.05" mass="1"/>
      <body name="arm" pos="0 0 0.1">
        <joint name="wrist" type="ball" damping="0.01"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.1 0 0.1" mass="0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def asset(write_files):
    return str(write_files({"block.xml": BALL}) / "block.xml")


def moved(asset, environment, *, steps=120, checkpoint=None):
    """Return states and contact forces of a block with an arm that falls, with changes on the way in single worlds."""
    solver = {"type": "mujoco-native", **({"environment": environment} if environment else {})}
    tables = {"simulation": {"dt": 0.002, "device": "cpu"}, "solver": solver}
    tables["scene"] = {"worlds": 3, "assets": [{"path": asset}]}
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        bodies = simulation.view.rigid_bodies("**/block")
        simulation.step(steps // 2)
        bodies.set_masses([3.0], indices=[1])
        bodies.apply_forces(np.array([[5.0, 0.0, 1.0]], dtype=np.float32), indices=[2])
        simulation.reset([0])
        if checkpoint is not None:
            simulation.save(checkpoint)
        simulation.step(steps // 2)
        return simulation.state.joint_q.numpy().copy()


def test_the_same_version_gives_the_same_bits(asset, tmp_path):
    here, there = moved(asset, None), moved(asset, HERE, checkpoint=tmp_path / "point.npz")

    with pippin.Simulation.load(tmp_path / "point.npz") as resumed:
        resumed.step(60)
        assert (resumed.state.joint_q.numpy() == there).all()
    assert (here == there).all()
    assert len(np.unique(here.reshape(3, -1), axis=0)) == 3


def fails():
    raise AssertionError("the same version needs no text")


def test_the_same_version_gets_no_text(asset):
    config = MuJoCoNativeConfig(environment=HERE)
    batch = RemoteBatch(config, mujoco.MjModel.from_xml_path(asset), fails, 2, 1, room=0)
    batch.step(nstep=100)

    assert (batch.bind("qpos")[:, 2] < 0.2).all()
    batch.engine.close()


def test_a_model_from_its_text_has_its_numbers(asset):
    model = mujoco.MjModel.from_xml_path(asset)
    model.body_mass[1], model.opt.timestep = 1.0 / 3.0, 0.001
    made, left = made_model(told_model(model, Path(asset).read_text()))

    assert left == []
    assert made.opt.timestep == 0.001
    for name in ("body_mass", "geom_size", "dof_damping", "jnt_type"):
        assert (getattr(made, name) == getattr(model, name)).all()


def test_a_light_body_keeps_the_inertia_that_the_text_rounds_to_nothing():
    inertial = '<inertial pos="0 0 0" mass="1e-9" diaginertia="{}"/>'
    text = f"<mujoco><worldbody><body><joint/>{inertial}</body></worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(text.format("2e-12 2e-12 3e-12"))
    made, left = made_model(told_model(model, text.format("0 0 3e-12")))

    assert left == []
    assert (made.body_inertia == model.body_inertia).all()


KIT = conformance.Conformance("solver", "mujoco-native", config={"environment": HERE, "cone": "elliptic"})


@pytest.mark.slow
@conformance.parametrize(KIT)
def test_it_keeps_the_contract_there(check):
    check()


KIT_OF_FOUR = conformance.Conformance("solver", "mujoco-native", config={"environment": str(FOUR), "cone": "elliptic"})


@needs_four
@pytest.mark.slow
@conformance.parametrize(KIT_OF_FOUR)
def test_version_four_keeps_the_contract(check):
    check()


@needs_four
@pytest.mark.slow
def test_an_ant_flies_in_version_four_as_in_this_one(ant_flight):
    assert ant_flight("mujoco-native", environment=str(FOUR), integrator="euler") < 1e-6
