"""Memory of an engine that the host cannot see: no trial step moves it on, and a checkpoint holds it or reads it."""

from collections.abc import Mapping

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin.solving import ContactSource, EngineMemory

GRAVITY = -9.81
FILE = '''
import attrs
from pippin.solving import EngineMemory
from {module} import SolverSecret


@attrs.frozen(kw_only=True)
class SecretConfig:
    """Sliders whose coordinates nobody sees."""

    implementation = "Secret"


class Secret(SolverSecret):
    engine_memory = {memory!r}
    is_saved = {is_saved}

    def __init__(self, config):
        super().__init__()
'''


def make_engine():
    """Return functions over memory that the host does not find, as it enters no functions."""
    known = {"q": np.zeros(0), "v": np.zeros(0)}

    def read(written, q, v):
        if not known["q"].size:
            known.update(q=q.astype(float), v=v.astype(float))
        known["q"][written], known["v"][written] = q[written], v[written]

    def step(acceleration, dt):
        known["v"] += dt * acceleration
        known["q"] += dt * known["v"]
        return known["q"], known["v"]

    def save():
        return np.concatenate([known["q"], known["v"]]).tobytes()

    def load(data):
        known["q"], known["v"] = np.split(np.frombuffer(data).copy(), 2)

    return read, step, save, load


class Memory(EngineMemory):
    def __init__(self, save, load):
        self.save_, self.load_ = save, load

    def save(self):
        return self.save_()

    def load(self, data):
        self.load_(data)


class SolverSecret:
    """Sliders on vertical rails, one in each world."""

    coordinates = "joint"
    supported_features: Mapping[str, str] = {"rigid_bodies": "live", "prismatic_joints": "build", "gravity": "build"}
    is_capturable = False
    eager_reason = "the engine runs on the host"
    detects_contacts = True
    is_saved = False

    def __init__(self):
        self.calls = 0

    @pippin.hookimpl
    def build_solver(self, model):
        self.read, self.advance, *functions = make_engine()
        self.kept = Memory(*functions) if self.is_saved else None
        return newton.solvers.SolverBase(model)

    @pippin.hookimpl
    def initialize_contacts(self):
        return ContactSource()

    @pippin.hookimpl
    def step_solver(self, state_in, state_out, control, dt, written_worlds):
        self.calls += 1
        self.read(written_worlds.numpy()[:-1], state_in.joint_q.numpy(), state_in.joint_qd.numpy())
        q, v = self.advance(GRAVITY + control.joint_f.numpy() / 2.0, dt)
        state_out.joint_q.assign(q)
        state_out.joint_qd.assign(v)


class Saved(SolverSecret):
    engine_memory = "shared"
    is_saved = True


def rail():
    builder = newton.ModelBuilder(up_axis="Z")
    body = builder.add_link(mass=2.0, inertia=wp.diag(wp.vec3(0.1)), label="mass")
    builder.add_articulation([builder.add_joint_prismatic(-1, body, axis=(0.0, 0.0, 1.0), label="rail")])
    return builder


def tables(capture):
    simulation = {"dt": 0.01, "device": "cpu", "capture": capture}
    return pippin.structure({"simulation": simulation, "scene": {"worlds": 2}})


@pytest.mark.parametrize("solver", [SolverSecret, Saved])
@pytest.mark.parametrize("capture", ["off", "auto"])
def test_no_trial_step_moves_the_engine_on(solver, capture):
    plugin = solver()
    with pippin.Simulation(tables(capture), [plugin], prototype=rail()) as simulation:
        simulation.step(10)
        speeds = simulation.state.joint_qd.numpy().tolist()

    assert speeds == pytest.approx([0.1 * GRAVITY] * 2, rel=1e-6)
    assert solver is Saved or plugin.calls == 10


@pytest.mark.parametrize(("solver", "error"), [(SolverSecret, 1e-6), (Saved, 0.0)])
def test_a_resumed_run_goes_on(tmp_path, solver, error):
    """A solver that reads the saved state is off by rounding; one whose memory was saved goes on bit for bit."""
    file = tmp_path / "run.npz"
    with pippin.Simulation(tables("auto"), [solver()], prototype=rail()) as simulation:
        simulation.view.articulations("**").set_dof_velocities([[1.0 / 3.0]], indices=[1])
        simulation.step(7)
        simulation.save(file)
        simulation.step(7)
        end = simulation.state.joint_q.numpy().copy()
    with pippin.Simulation.load(file, [solver()], prototype=rail()) as simulation:
        simulation.step(7)
        resumed = simulation.state.joint_q.numpy().copy()

    assert abs(resumed - end).max() <= error
    assert resumed[1] - resumed[0] == pytest.approx(0.14 / 3.0, rel=1e-5)


@pytest.mark.parametrize(
    ("memory", "is_saved", "is_right"), [("own", False, True), ("shared", True, True), ("shared", False, False)]
)
def test_the_kit_finds_memory_that_is_declared_wrongly(tmp_path, memory, is_saved, is_right):
    file = tmp_path / "secret.py"
    file.write_text(FILE.format(module=__name__, memory=memory, is_saved=is_saved), encoding="utf-8")
    kit = conformance.Conformance("solver", f"{file}:SecretConfig", prototype=rail_of_the_kit)
    results = [kit.run(name) for name in ("capture", "checkpoint")]

    assert [result.outcome for result in results] == ["passed" if is_right else "failed"] * 2
    assert is_right or all("declare engine_memory = 'own'" in result.reason for result in results)


def rail_of_the_kit(builder):
    builder.add_builder(rail())


def test_a_save_reads_the_memory_and_loads_nothing(tmp_path):
    plugin = Saved()
    with pippin.Simulation(tables("off"), [plugin], prototype=rail()) as simulation:
        simulation.step()
        loaded, load = [], plugin.kept.load_
        plugin.kept.load_ = lambda data: (loaded.append(data), load(data))
        simulation.save(tmp_path / "run.npz")

    assert loaded == []


def test_another_word_is_refused():
    class Odd(SolverSecret):
        engine_memory = "mine"

    with pytest.raises(pippin.PluginError, match="engine_memory: 'mine'; declare 'own' or 'shared'"):
        pippin.Simulation(tables("off"), [Odd()], prototype=rail())
