"""An engine in another process does what it does in this one, and whatever ends it is told by name."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import attrs
import newton
import numpy as np
import pippin
import pytest
from pippin_engines import EngineProcess, start_engine

from core.engines.tests import springs

HERE = sys.prefix
"""The environment of the tests is an environment, too."""


def cart():
    """Return a slider on a skew axis with a hinge on it."""
    builder = newton.ModelBuilder(up_axis="Z")
    first, second = (builder.add_link(mass=1.0, inertia=0.1 * np.eye(3)) for _ in range(2))
    slider = builder.add_joint_prismatic(-1, first, axis=(0.6, 0.0, 0.8))
    hinge = builder.add_joint_revolute(first, second, axis=(0.0, 1.0, 0.0))
    builder.add_articulation([slider, hinge])
    builder.joint_q[:] = [0.1, -0.2]
    return builder


def simulation(worlds=3, **settings):
    tables = {
        "simulation": {"dt": 0.004, "substeps": 2, "device": "cpu"},
        "scene": {"worlds": worlds, "gravity": [0.0, 0.0, 0.0]},
    }
    solver = springs.SolverSprings(springs.SpringsConfig(**settings))
    return pippin.Simulation(pippin.structure(tables), [solver], prototype=cart())


def stepped(found, count):
    found.step(count)
    found.raise_errors()


def moved(**settings):
    """Return the joints after 50 steps, one world lifted and reset on the way."""
    with simulation(**settings) as found:
        joints = found.view.articulations("**")
        found.step(20)
        joints.set_dof_positions([[0.5, 0.0]], indices=[1])
        joints.set_dof_actuation_forces([[1.0, 0.0]], indices=[2])
        found.step(15)
        found.reset([0])
        found.step(15)
        return found.state.joint_q.numpy().copy(), found.solver.engine.facts["process"]


@pytest.fixture(params=["events", "sockets"])
def signals(request, monkeypatch):
    """Both ways to signal a step; Linux has both."""
    if request.param == "sockets":
        monkeypatch.delattr(os, "eventfd")
    return request.param


def test_the_same_bits_come_from_both_places(signals):
    here, own = moved()
    there, other = moved(environment=HERE)

    assert own == os.getpid() != other
    assert (here == there).all()
    assert len(set(map(tuple, there.reshape(3, 2).tolist()))) == 3  # worlds that were treated unlike are unlike


def test_a_step_is_the_formula_of_a_spring():
    with simulation(worlds=1, environment=HERE) as found:
        found.step(250)
        q = found.state.joint_q.numpy()

    exact = np.array([0.1, -0.2]) * np.cos(np.sqrt(10.0))
    assert np.abs(q - exact).max() < 0.0025 * 0.2 * np.sqrt(10.0)


def test_other_calls_carry_arrays_both_ways(signals):
    with simulation(environment=HERE) as found:
        told = found.solver.engine.call("scaled", rows=np.arange(6.0).reshape(2, 3), factor=2.0)

    assert told["names"] == ["a", "b"]
    assert (told["rows"] == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]).all()


@pytest.mark.parametrize("environment", [None, HERE])
def test_arguments_may_follow_from_the_version(environment):
    found = []

    def told(library):
        found.append((library["name"], library["version"]))
        return {"dt": 0.1, "fails": ""}

    arrays = dict.fromkeys(("q", "v", "efforts"), ((1, 1), float))
    with start_engine(springs.SpringsConfig(environment=environment), told, arrays) as engine:
        engine.arrays["v"][:] = 1.0
        engine.step()

        assert engine.arrays["q"][0, 0] == pytest.approx(0.1)
    assert found == [("numpy", np.__version__)]


@pytest.mark.parametrize(
    ("fails", "told"),
    [
        (
            "killed",
            r"engine of \S+ ended with signal SIGKILL in a step; .*it printed at the end:.*the last words\n",
        ),
        ("left", r"ended with exit code 7 in a step; see what it printed, and try `pippin env check"),
        ("raises", "solver: RuntimeError: the wire is torn"),
        ("hangs", "gave no answer to a step within 0.5 s, and its process was ended; set solver.timeout to more"),
        ("late", "gave no answer to a step within 0.5 s, and its process was ended; set solver.timeout to more"),
        ("nan", "step [23] .*body_0.* of world 0 is not finite"),
    ],
)
def test_whatever_ends_it_is_named(fails, told, signals, capfd):
    with simulation(environment=HERE, fails=fails, timeout=0.5) as found:
        start = time.perf_counter()
        with pytest.raises(pippin.SimulationError, match=rf"(?s){told}"):
            stepped(found, 5)
        assert time.perf_counter() - start < 5.0

    out, error = capfd.readouterr()
    assert out == ""
    assert "core.engines.tests: springs are ready\n" in error
    assert "\x1b" not in error


def test_a_killed_process_is_named_at_once(signals):
    with simulation(environment=HERE) as found:
        found.step(3)
        os.kill(found.solver.engine.pid, signal.SIGKILL)
        start = time.perf_counter()
        with pytest.raises(pippin.SimulationError, match="SIGKILL"):
            found.step()

    assert time.perf_counter() - start < 1.0  # 0.05 s on an idle machine: tests/benchmarks/engine_process.py


def test_a_stopped_process_is_ended(signals):
    with simulation(environment=HERE, timeout=0.5) as found:
        found.step(3)
        pid = found.solver.engine.pid
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(pippin.SimulationError, match=r"no answer to a step within 0.5 s"):
            found.step()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("method", "arguments"), [("scaled", {"rows": np.zeros(1 << 23), "factor": 2.0}), ("stop_within_a_message", {})]
)
def test_a_process_that_stops_within_a_message_is_ended(method, arguments, signals):
    """It reads no more of what it is told, or says only a part of its answer."""
    with simulation(environment=HERE, timeout=0.5) as found:
        engine = found.solver.engine
        if method == "scaled":
            os.kill(engine.pid, signal.SIGSTOP)
        start = time.perf_counter()
        with pytest.raises(pippin.SimulationError, match=r"no answer to `\w+` within 0.5 s"):
            engine.call(method, **arguments)

    assert time.perf_counter() - start < 5.0


@pytest.mark.parametrize(
    ("fails", "kind", "told"),
    [
        ("start", pippin.ConfigError, "springs: no wire"),
        (
            "import",
            pippin.ConfigError,
            r"cannot import the engine of \S+: No module named 'no_such_library'",
        ),
    ],
)
def test_a_start_that_fails_is_named(fails, kind, told):
    with pytest.raises((kind, pippin.PluginError), match=told):
        simulation(environment=HERE, fails=fails)


def test_a_folder_without_python_is_named(tmp_path):
    with pytest.raises(pippin.ConfigError, match=rf"solver.environment: no Python in '{tmp_path}'; make it by"):
        simulation(environment=str(tmp_path))
    with pytest.raises(pippin.ConfigError, match=r"solver.environment: no folder .*envs/none"):
        simulation(environment=str(tmp_path / "envs" / "none"))


@pytest.mark.parametrize("environment", [None, HERE])
def test_another_version_of_the_contract_is_refused(environment, tmp_path, monkeypatch):
    (tmp_path / "future_engine.py").write_text("CONTRACT = 2\nDISTRIBUTION = 'numpy'\n")
    (tmp_path / "future.py").write_text(
        "from pippin_engines import EngineSource\n\n\nclass Config:\n"
        "    engine = EngineSource(file='future_engine.py', licence='', megabytes=1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import future

    settings = springs.SpringsConfig(environment=environment)
    other = type("Settings", (future.Config,), attrs.asdict(settings))()
    with pytest.raises(pippin.ConfigError, match=r"has CONTRACT = 2, and this Pippin speaks version 1"):
        started(other)


def started(settings):
    return start_engine(settings, {}, {})


HOST = """
import sys, time
import springs
from pippin_engines import start_engine

if SIGNALS == "sockets":
    import os
    del os.eventfd
config = springs.SpringsConfig(environment=sys.prefix, fails=FAILS)
arrays = dict.fromkeys(("q", "v", "efforts"), ((1, 1), float))
engine = start_engine(config, {"dt": 0.1, "fails": "hangs"}, arrays)
print(engine.pid, flush=True)
for _ in range(STEPS):
    engine.step()
time.sleep(3600.0)
"""


@pytest.mark.parametrize("steps", [2, 3], ids=["idle", "hanging"])
def test_it_ends_with_a_host_that_is_killed(steps, signals):
    code = HOST.replace("SIGNALS", repr(signals)).replace("STEPS", str(steps)).replace("FAILS", "'hangs'")
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, env=environment
    ) as host:
        pid = int(host.stdout.readline())
        time.sleep(0.3)
        os.kill(pid, 0)
        host.kill()
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} is left")


def test_both_ways_are_what_the_system_has():
    settings = springs.SpringsConfig(environment=HERE)
    with EngineProcess(settings) as first, EngineProcess(settings, signals="sockets") as second:
        assert first.hello == second.hello
        assert first.hello["name"] == "numpy"


def sleeps(pid):
    """Return how often the main thread of a process has slept of its own accord."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="it counts sleeps on two cores")
@pytest.mark.parametrize("end", ["host", "engine"])
def test_an_end_that_is_answered_at_once_does_not_sleep(end):
    """Who does not look first sleeps in each of 100 steps; the quietest of many rounds counts, on a busy machine."""
    with simulation(worlds=1, environment=HERE) as found:
        engine, counts = found.solver.engine, []
        for _ in range(100):
            before = sleeps({"host": os.getpid(), "engine": engine.pid}[end])
            for _ in range(100):
                engine.step()
            counts.append(sleeps({"host": os.getpid(), "engine": engine.pid}[end]) - before)

    assert min(counts) < 50
