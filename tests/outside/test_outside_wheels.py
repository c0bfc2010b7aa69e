"""Plugins of contract 1 as they were built with the release 0.1, on the host of today: nothing of them is built anew.

The wheels were made by `pippin new solver kept-one`, `actuator` and `sensor`, and `uv build --wheel`. From the first
release on they are never replaced. A change that breaks them breaks the plugins of others: it belongs to contract 2.
"""

import subprocess
import sys
from pathlib import Path

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
from pippin.catalog.entries import Catalog
from pippin.catalog.source import CONTRACT_VERSIONS

WHEELS = sorted((Path(__file__).parent / "wheels").glob("*.whl"))
KINDS = ("actuator", "sensor", "solver")


@pytest.fixture(scope="module", autouse=True)
def site(uv, tmp_path_factory):
    """The folder in which the wheels are installed, also for processes that are started."""
    site = tmp_path_factory.mktemp("kept") / "site"
    command = [uv, "pip", "install", "-q", "--no-deps", "--python", sys.executable, "--target", site]
    subprocess.run([*command, *WHEELS], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        patch.setenv("PYTHONPATH", str(site))
        yield site
    for module in [name for name in sys.modules if name.partition(".")[0].endswith("_kept_one")]:
        del sys.modules[module]


def test_they_declare_contract_1_and_are_accepted():
    entries = [entry for entry in Catalog.installed().entries if entry.name == "kept-one"]

    assert sorted(entry.kind for entry in entries) == list(KINDS)
    assert {(entry.contract, entry.state, entry.version) for entry in entries} == {(1, "ok", "0.1.0")}
    assert 1 in CONTRACT_VERSIONS, "a release may drop contract 1: then these wheels are refused, and this file goes"


def test_the_solver_and_the_sensor_run():
    """A fall from 2 m for 0.5 s; the method is of first order, so that the step gives the tolerance."""
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(label="box", mass=1.0, inertia=np.eye(3), xform=((0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0)))
    tables = {
        "simulation": {"dt": 0.001, "device": "cpu", "capture": "require"},
        "scene": {"worlds": 3},
        "solver": {"type": "kept-one"},
        "sensors": {"meter": {"type": "kept-one", "body": "box"}},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.step(500)
        heights = simulation.sensors["meter"].outputs["height"].data.numpy().copy()
        simulation.reset([1])
        simulation.step()
        after = simulation.sensors["meter"].outputs["height"].data.numpy().ravel()

    np.testing.assert_allclose(heights, 2.0 - 0.5 * 9.81 * 0.5**2, atol=9.81 * 0.5 * 0.001)
    assert after[1] > 1.99 > after[0]


def test_the_actuator_drives_a_joint():
    """A spring and a damper of 1 kg·m² without gravity: it is at its target after ten times the slowest decay."""
    builder = newton.ModelBuilder(up_axis="Z")
    link = builder.add_link(mass=1.0, inertia=np.eye(3))
    builder.add_articulation([builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label="elbow", armature=0.0)])
    servo = {"type": "kept-one", "joints": ["elbow"], "kp": 100.0, "kd": 20.0, "max_effort": 50.0}
    tables = {
        "simulation": {"dt": 0.002, "device": "cpu", "capture": "require"},
        "scene": {"worlds": 2, "gravity": [0.0, 0.0, 0.0]},
        "solver": {"type": "featherstone"},
        "actuators": {"servo": servo},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.actuators["servo"].position_targets.fill_(0.4)
        simulation.step(500)

        np.testing.assert_allclose(simulation.state.joint_q.numpy(), 0.4, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_kit_of_today_finds_no_fault(kind):
    config = {"actuator": {"kp": 20.0, "kd": 1.0, "max_effort": 8.0}, "sensor": {"body": "ball"}}.get(kind, {})
    results = conformance.Conformance(kind, "kept-one", config=config).check()

    assert {result.outcome for result in results} <= {"passed", "not applicable"}


def test_they_stay_small():
    assert len(WHEELS) == len(KINDS)
    assert sum(wheel.stat().st_size for wheel in WHEELS) < 30_000
