"""The Ray executor on real clusters: nodes made of processes of this machine, with token authentication."""

import importlib.util
import json
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from pippin.errors import ConfigError, PluginError
from pippin_sweep import Job, executor_faults
from pippin_sweep.executor import make_executor
from pippin_task import RolloutShard

from tests.sessions import is_running

from .ray_nodes import LIMIT, ancestors, running_cluster, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(  # not imported here: the executor prepares the import
        importlib.util.find_spec("ray") is None,
        reason="Ray is not installed: uv run --group dev --group ray pytest core/sweep/tests",
    ),
]

EXAMPLES = Path(__file__).parents[3] / "docs/examples"


@pytest.fixture(scope="module")
def cluster():
    with running_cluster() as nodes:
        yield nodes


@pytest.fixture
def executor(cluster):
    executor = make_executor("ray", [f"address={cluster.address}", "processes=2"])
    yield executor
    executor.close()


def job(folder, key, function, timeout=None):
    own = folder / key
    own.mkdir()
    name = f"pippin_sweep.executor_contract:{function}"
    return Job(key=key, function=name, arguments={"folder": str(own)}, folder=own, timeout=timeout)


def ends(executor, count):
    found, end = {}, time.monotonic() + LIMIT
    while len(found) < count and time.monotonic() < end:
        found |= {ended.key: ended for ended in executor.wait(1.0)}
    return found


def pid_of(job):
    """Return the process of a job when it runs."""
    wait_for(lambda: (job.folder / "pid").exists() and (job.folder / "pid").read_text())
    return int((job.folder / "pid").read_text())


def test_several_nodes_keep_the_contract_and_continue_afterwards(cluster, tmp_path):
    cluster.start(f"--address={cluster.address}")
    settings = [f"address={cluster.address}", "cpus=0.5"]

    faults = executor_faults(lambda: make_executor("ray", settings), tmp_path)

    assert faults == []
    assert all(node.poll() is None for node in cluster.nodes)


def test_the_jobs_of_a_killed_node_are_lost_and_the_others_continue(cluster, executor, tmp_path):
    node = cluster.start(f"--address={cluster.address}") if len(cluster.nodes) < 2 else cluster.nodes[1]
    jobs = [job(tmp_path, f"hangs-{number}", "hang") for number in range(2)]
    for each in jobs:
        executor.submit(each)
    above = {each.key: ancestors(pid_of(each)) for each in jobs}
    there = next(each for each in jobs if node.pid in above[each.key])

    cluster.kill(node)
    lost = ends(executor, 1)
    executor.submit(job(tmp_path, "returns", "say"))
    executor.cancel(next(each for each in jobs if each is not there).key)

    assert (lost[there.key].status, lost[there.key].text) == ("node-lost", "its node died")
    assert ends(executor, 2)["returns"].status == "returned"


def test_the_jobs_of_a_killed_command_end(cluster, tmp_path):
    program = (
        "from pathlib import Path\nfrom pippin_sweep import Job\nfrom pippin_sweep.executor import make_executor\n"
        f"folder = Path({str(tmp_path)!r})\nexecutor = make_executor('ray', ['address={cluster.address}'])\n"
        "executor.submit(Job(key='a', function='pippin_sweep.executor_contract:hang',"
        " arguments={'folder': str(folder)}, folder=folder))\nexecutor.wait(3600.0)\n"
    )
    command = subprocess.Popen([sys.executable, "-c", program])
    wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    pid = int((tmp_path / "pid").read_text())

    command.kill()
    command.wait()

    wait_for(lambda: not is_running(pid))
    assert all(node.poll() is None for node in cluster.nodes)


def test_no_address_is_refused_with_the_local_executor(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    executor = make_executor("ray")

    with pytest.raises(ConfigError, match=r"executor\.address: no Ray cluster is named; .*--executor local"):
        _ = executor.slots


def test_a_library_that_cannot_be_imported_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    executor = make_executor("ray", ["address=auto"])

    with pytest.raises(PluginError, match=r"'ray' cannot be imported \(.*\); .*pippin\[ray\]"):
        _ = executor.slots
    executor.close()


def test_joining_a_cluster_leaves_ctrl_c_as_it_is(executor):
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]

    assert executor.slots == 2
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_workers_run_in_the_environment_of_the_command(cluster, tmp_path, monkeypatch):
    """`uv run` usually stands above this process: Ray would then make a new environment for workers."""
    (tmp_path / "interpreter.py").write_text(
        "import pathlib, sys\ndef write(folder): pathlib.Path(folder, 'prefix').write_text(sys.prefix)\n"
    )
    monkeypatch.chdir(tmp_path)
    executor = make_executor("ray", [f"address={cluster.address}"])

    executor.submit(Job(key="a", function="interpreter:write", arguments={"folder": str(tmp_path)}, folder=tmp_path))
    found = ends(executor, 1)
    executor.close()

    assert (found["a"].status, found["a"].text) == ("returned", "")
    assert (tmp_path / "prefix").read_text() == sys.prefix


def test_a_wrong_token_is_refused(cluster, monkeypatch):
    """In a process of its own: Ray reads the token once."""
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    program = (
        f"from pippin_sweep.executor import make_executor\nmake_executor('ray', ['address={cluster.address}']).slots\n"
    )

    command = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    error = command.stderr.splitlines()[-1]
    assert error.startswith("pippin.errors.ConfigError: executor.address: cannot connect with a Ray cluster")
    assert "token" in error


def test_jobs_that_no_node_has_room_for_are_refused(cluster):
    executor = make_executor("ray", [f"address={cluster.address}", "gpus=2"])

    with pytest.raises(ConfigError, match=r"executor\.gpus: a job takes 2, and the cluster has 1"):
        _ = executor.slots


def test_each_job_on_a_gpu_has_a_process_of_its_own(cluster, tmp_path):
    """The cluster counts a GPU that is not there: Ray gives out numbers."""
    executor = make_executor("ray", [f"address={cluster.address}", "gpus=1"])
    jobs = [job(tmp_path, f"returns-{number}", "say") for number in range(2)]

    for each in jobs:
        executor.submit(each)
    found = ends(executor, 2)
    slots = executor.slots
    executor.close()

    assert slots == 1
    assert {each.status for each in found.values()} == {"returned"}
    assert len({(each.folder / "pid").read_text() for each in jobs}) == 2


def test_a_sweep_gives_the_figures_of_the_local_executor(cluster, tmp_path):
    sweep = [Path(sys.executable).with_name("pippin"), "sweep", EXAMPLES / "cartpole.toml", "--steps", "5"]
    over = ["--set", "simulation.device=cpu", "--over", "simulation.seed=0..1"]

    settings = {"local": ["--processes", "1"], "ray": ["--executor-set", f"address={cluster.address}"]}
    for name, own in settings.items():
        subprocess.run([*sweep, *over, "--executor", name, *own, "--out", tmp_path / name], check=True)
    found = {name: summaries(tmp_path / name) for name in settings}

    assert found["local"] == found["ray"]
    assert len(found["ray"]) == 2


ACTOR = """
import os
import pickle
import signal
import sys
from pathlib import Path

import ray
from pippin_task import RolloutShard

address, task, policy, folder = sys.argv[1:]
policy = Path(policy).read_bytes()
ray.init(address=address, log_to_driver=False)
actor = ray.remote(max_restarts=1, max_task_retries=1, num_cpus=1)(RolloutShard)
shard = actor.remote(task, 1, 2, folder, {"scene.worlds": 4, "simulation.device": "cpu"})
ray.get(shard.collect.remote(policy, 4, 0, deviation=0.5))
os.kill(ray.get(shard.__ray_call__.remote(lambda self: os.getpid())), signal.SIGKILL)
batch = ray.get(shard.collect.remote(policy, 4, 0, deviation=0.5))
Path(folder, "batch").write_bytes(pickle.dumps(batch))
"""


def test_a_killed_actor_continues_with_the_same_bits(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # as the page says
    task, policy = EXAMPLES / "tasks/inverted_pendulum.toml", EXAMPLES / "policies/cartpole.onnx"
    (tmp_path / "ray").mkdir()

    command = [sys.executable, "-c", ACTOR, cluster.address, task, policy, tmp_path / "ray"]
    subprocess.run(command, check=True)
    batch = pickle.loads((tmp_path / "ray/batch").read_bytes())
    shard = RolloutShard(task, 1, 2, tmp_path / "here", {"scene.worlds": 4, "simulation.device": "cpu"})
    expected = shard.collect(policy.read_bytes(), 4, deviation=0.5)
    shard.close()

    assert (batch.start, batch.first_world) == (0, 1)
    assert np.array_equal(batch.actions, expected.actions)
    assert np.array_equal(batch.last_observations["policy"], expected.last_observations["policy"])


def test_the_example_collects_batches(cluster, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    if len(cluster.nodes) < 2:
        cluster.start(f"--address={cluster.address}")

    command = [sys.executable, EXAMPLES / "ray_rollouts.py", tmp_path]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert [line.rpartition(":")[0] for line in printed.splitlines()] == ["steps 0 to 24", "steps 24 to 48"]


def summaries(folder):
    """Return the summaries of a sweep's variants without times."""
    times = {"seconds", "host", "is_shared"}
    found = {}
    for path in folder.glob("variants/*/summary.json"):
        summary = json.loads(path.read_text())
        measured = ("world_steps_per_second", "time_to_first_step")
        figures = {name: value for name, value in summary["figures"].items() if name not in measured}
        found[path.parent.name] = {name: value for name, value in summary.items() if name not in times}
        found[path.parent.name]["figures"] = figures
    return found
