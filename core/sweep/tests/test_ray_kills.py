"""Sweeps and actors on a Ray cluster whose nodes are killed.

`PIPPIN_RAY_VARIANTS=200 uv run --group dev --group ray pytest -m "" core/sweep/tests/test_ray_kills.py` takes minutes.
"""

import contextlib
import csv
import importlib.util
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pippin_task import RolloutShard

from .ray_nodes import ancestors, running_cluster, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None,
        reason="Ray is not installed: uv run --group dev --group ray pytest core/sweep/tests",
    ),
]

EXAMPLES = Path(__file__).parents[3] / "docs/examples"
VARIANTS = int(os.environ.get("PIPPIN_RAY_VARIANTS", "18"))
NODES, KILLS = 6, 2
LIMIT = 60.0 + 30.0 * VARIANTS


@pytest.fixture(scope="module")
def cluster():
    """A head and five nodes."""
    with running_cluster() as nodes:
        for _ in range(NODES - 1):
            nodes.start(f"--address={nodes.address}")
        yield nodes


def is_busy(node):
    """Tell whether a node runs a job now."""
    jobs = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"ray::run_job" in (path / "cmdline").read_bytes():
                jobs.append(ancestors(int(path.name)))
    return any(node.pid in above for above in jobs)


def test_a_sweep_ends_though_a_third_of_its_nodes_is_killed(cluster, tmp_path):
    """Each variant is once in the table, and its figures are those of its seed."""
    out = tmp_path / "out"
    command = [Path(sys.executable).with_name("pippin"), "sweep", EXAMPLES / "cartpole.toml", "--steps", "3"]
    command += ["--set", "simulation.device=cpu", "--set", "scene.worlds=1", "--executor", "ray", "--out", out]
    command += ["--over", f"simulation.seed=0..{VARIANTS - 1}", "--executor-set", f"address={cluster.address}"]
    draws = random.Random(57)

    def done():
        return len([path for path in (out / "variants").glob("*/summary.json") if path.parent.name[0] != "."])

    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    killed = []
    for wanted in (VARIANTS * (kill + 1) // (KILLS + 2) for kill in range(KILLS)):
        wait_for(lambda wanted=wanted: done() >= wanted or process.poll() is not None, LIMIT)
        assert process.poll() is None, process.stdout.read()
        wait_for(lambda: len(list((out / "variants").glob(".*/started"))) >= NODES - KILLS, LIMIT)
        wait_for(lambda: any(map(is_busy, cluster.nodes[1:])), LIMIT)
        killed.append(draws.choice([node for node in cluster.nodes[1:] if is_busy(node)] or cluster.nodes[1:]))
        cluster.kill(killed[-1])
    text, _ = process.communicate(timeout=LIMIT)

    with (out / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    print(text)
    assert process.returncode == 0, text
    assert [int(row["simulation.seed"]) for row in rows] == list(range(VARIANTS))
    assert {row["outcome"] for row in rows} == {"ok"}
    assert {path.name for path in (out / "variants").iterdir()} == {row["id"] for row in rows}
    assert "its node died; it begins again, retry 1 of 3" in text


ACTORS = """
import os
import pickle
import sys
import time
from pathlib import Path

import ray
from pippin_task import RolloutShard

address, task, policy, folder = sys.argv[1:]
folder = Path(folder)
policy = Path(policy).read_bytes()
ray.init(address=address, log_to_driver=False)
make = ray.remote(max_restarts=-1, max_task_retries=-1, num_cpus=1, scheduling_strategy="SPREAD")(RolloutShard)
settings = {"scene.worlds": 4, "simulation.device": "cpu"}
shards = [make.remote(task, 2 * index, 2, str(folder / f"shard-{index}"), settings) for index in range(2)]
for call in range(6):
    found = ray.get([shard.collect.remote(policy, 4, 4 * call, deviation=0.5) for shard in shards])
    (folder / f"batch-{call}").write_bytes(pickle.dumps(found))
    pids = ray.get([shard.__ray_call__.remote(lambda self: os.getpid()) for shard in shards])
    (folder / f".pids-{call}").write_text(" ".join(map(str, pids)))
    (folder / f".pids-{call}").rename(folder / f"pids-{call}")
    while call in (1, 3) and not (folder / f"killed-{call}").exists():
        time.sleep(0.05)
"""


def test_actors_of_killed_nodes_continue_with_the_same_bits(cluster, tmp_path, monkeypatch):
    """The node of an actor dies between two calls, and another one in the middle of a call."""
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # as the page says
    task, policy = EXAMPLES / "tasks/inverted_pendulum.toml", EXAMPLES / "policies/cartpole.onnx"
    while len(cluster.nodes) < NODES:
        cluster.start(f"--address={cluster.address}")

    command = [sys.executable, "-c", ACTORS, cluster.address, task, policy, tmp_path]
    process = subprocess.Popen(command)
    killed = 0
    for call in (1, 3):
        wait_for(lambda call=call: (tmp_path / f"pids-{call}").exists() or process.poll() is not None, LIMIT)
        above = [ancestors(int(pid)) for pid in (tmp_path / f"pids-{call}").read_text().split()]
        there = [node for node in cluster.nodes[1:] if any(node.pid in each for each in above)]
        if call == 3:
            (tmp_path / f"killed-{call}").touch()
        assert there, (above, [node.pid for node in cluster.nodes])
        cluster.kill(there[0])
        killed += 1
        (tmp_path / f"killed-{call}").touch()
    assert process.wait(LIMIT) == 0

    assert killed == KILLS
    shards = [
        RolloutShard(task, 2 * index, 2, tmp_path / f"here-{index}", {"scene.worlds": 4, "simulation.device": "cpu"})
        for index in range(2)
    ]
    for call in range(6):
        found = pickle.loads((tmp_path / f"batch-{call}").read_bytes())
        for shard, batch in zip(shards, found, strict=True):
            expected = shard.collect(policy.read_bytes(), 4, deviation=0.5)
            assert (batch.start, batch.first_world) == (4 * call, shard.worlds.start)
            assert np.array_equal(batch.actions, expected.actions)
            assert np.array_equal(batch.rewards, expected.rewards)
            assert np.array_equal(batch.last_observations["policy"], expected.last_observations["policy"])
    for shard in shards:
        shard.close()
