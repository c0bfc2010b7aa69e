"""Play a policy of LeRobot in a task of Pippin: TASK OUT. Runs with LeRobot's interpreter, which finds the package."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from lerobot.configs import FeatureType
from lerobot.envs.factory import make_env, make_env_config
from lerobot.envs.utils import close_envs, env_to_policy_features
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.factory import make_policy, make_pre_post_processors
from lerobot.processor import PolicyProcessorPipeline
from lerobot.scripts.lerobot_eval import eval_policy
from lerobot.utils.import_utils import register_third_party_plugins


def main(task: str, out: str) -> None:
    """Write what LeRobot sees of the environment, and the result of its evaluation."""
    register_third_party_plugins()  # as its commands do
    config = make_env_config("pippin", task=task, instruction="reach the ball", episode_length=5)
    features = env_to_policy_features(config)
    small = {"dim_model": 16, "n_heads": 2, "dim_feedforward": 16, "n_encoder_layers": 1, "n_vae_encoder_layers": 1}
    chosen = ACTConfig(device="cpu", pretrained_backbone_weights=None, chunk_size=2, n_action_steps=2, **small)
    torch.manual_seed(1)
    policy = make_policy(chosen, env_cfg=config)
    before, after = make_pre_post_processors(chosen, dataset_stats=None)
    envs = make_env(config, n_envs=3, use_async_envs=True)
    [env] = envs["pippin"].values()
    same = PolicyProcessorPipeline(steps=[])
    result = eval_policy(
        env,
        policy,
        env_preprocessor=same,
        env_postprocessor=same,
        preprocessor=before,
        postprocessor=after,
        n_episodes=6,
        max_episodes_rendered=2,
        videos_dir=Path(out).parent / "videos",
        start_seed=1,
    )
    close_envs(envs)
    facts = {
        "fps": config.fps,
        "features": {key: [FeatureType(each.type).value, list(each.shape)] for key, each in features.items()},
        "episodes": result["per_episode"],
        "videos": [str(path) for path in result["video_paths"]],
    }
    Path(out).write_text(json.dumps(facts, default=float))


if __name__ == "__main__":
    main(*sys.argv[1:])
