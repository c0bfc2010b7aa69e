"""Read a dataset by LeRobot or robomimic, and write what they give: LIBRARY DATASET OUT. Runs without Pippin."""

from __future__ import annotations

import sys

import numpy as np


def by_lerobot(path):
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    dataset = LeRobotDataset("pippin/demonstrations", root=path, video_backend="pyav")
    frames = [dataset[index] for index in range(len(dataset))]
    names = {"action": "action", "state": "observation.state", "image": "observation.images.front"}
    return {short: np.stack([frame[name].numpy() for frame in frames]) for short, name in names.items()}


def by_robomimic(path):
    import robomimic.utils.obs_utils as observations
    from robomimic.utils.dataset import SequenceDataset

    kinds = {"obs": {"low_dim": ["state"], "rgb": ["front_image"]}}
    observations.initialize_obs_utils_with_obs_specs(kinds)
    dataset = SequenceDataset(
        path,
        obs_keys=["state", "front_image"],
        dataset_keys=["actions", "rewards", "dones"],
        load_next_obs=False,
        hdf5_cache_mode=None,
        hdf5_use_swmr=False,
        filter_by_attribute="train",
    )
    frames = [dataset[index] for index in range(len(dataset))]
    images = np.stack([frame["obs"]["front_image"][0] for frame in frames])
    images = images if images.shape[1] == 3 else images.transpose(0, 3, 1, 2)
    return {
        "action": np.stack([frame["actions"][0] for frame in frames]),
        "state": np.stack([frame["obs"]["state"][0] for frame in frames]),
        "image": images / (255.0 if images.max() > 1.0 else 1.0),
    }


if __name__ == "__main__":
    library, path, out = sys.argv[1:]
    np.savez(out, **{"lerobot": by_lerobot, "robomimic": by_robomimic}[library](path))
