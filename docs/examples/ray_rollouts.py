"""Collect batches of steps from two shards of a task on Ray: `python docs/examples/ray_rollouts.py FOLDER`.

The policy travels to the shards, and batches of steps come back. A shard whose process is lost is made again by Ray,
and continues from its last checkpoint in the folder, bit for bit. Without RAY_ADDRESS, Ray starts on this machine.
"""

import sys
from pathlib import Path

import ray
from pippin_task import RolloutShard

HERE = Path(__file__).parent
TASK = HERE / "tasks/inverted_pendulum.toml"
POLICY = HERE / "policies/cartpole.onnx"
WORLDS, SHARDS, STEPS = 16, 2, 24


def main(folder: str) -> None:
    """Collect two batches from each shard, and print the mean reward of a step."""
    ray.init(include_dashboard=False, log_to_driver=False)
    shard = ray.remote(max_restarts=3, max_task_retries=3, num_cpus=1)(RolloutShard)
    size, all_worlds = WORLDS // SHARDS, {"scene.worlds": WORLDS}
    shards = [shard.remote(TASK, index * size, size, folder, all_worlds) for index in range(SHARDS)]
    policy = ray.put(POLICY.read_bytes())  # once for each version of the policy
    for start in (0, STEPS):
        batches = ray.get([each.collect.remote(policy, STEPS, start, deviation=0.2) for each in shards])
        mean = sum(batch.rewards.mean() for batch in batches) / SHARDS
        print(f"steps {start} to {start + STEPS}: {mean:.3f} a step")
    ray.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
