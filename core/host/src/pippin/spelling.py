"""Words of errors and notes: the nearest valid name, and the first of many texts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that command a terminal, reorder a line or end it, and halves of characters, which nothing can write."""


def printable(text: str) -> str:
    """Return a text, such as the name of a file or of a joint, on one line and without control characters.

    Args:
        text: The text; each control character becomes a space, and a byte that is not UTF-8 a question mark.
    """
    return _UNPRINTABLE.sub(lambda found: "?" if found[0] >= "\ud800" else " ", text)


_ELSEWHERE = """
actor_hidden_dims=hidden agent=trainer checkpoint_interval=save_period clip_param=clip clip_range=clip
critic_hidden_dims=hidden curriculum=curricula damping=kd discount_factor=gamma domain_randomization=events
empirical_normalization=normalise ent_coef=entropy entropy_coef=entropy entropy_loss_scale=entropy env=task
env_spacing=spacing episode_length_s=episode_length frame_skip=decimation gae_lambda=lam hidden_dims=hidden
init_noise_std=std init_std=std learning_epochs=epochs logger=loggers max_episode_length=episode_length
max_episode_steps=episode_length max_iterations=iterations mini_batches=batches n_envs=worlds n_epochs=epochs
n_steps=steps net_arch=hidden num_envs=worlds num_learning_epochs=epochs num_learning_iterations=iterations
num_mini_batches=batches num_steps_per_env=steps obs_normalization=normalise physics_dt=dt randomization=events
ratio_clip=clip rollouts=steps runner=trainer save_interval=save_period sim=simulation sim_dt=dt stiffness=kp
decimation=simulation.decimation max_iterations=trainer.iterations num_envs=scene.worlds seed=simulation.seed
"""
"""Names of mjlab, Isaac Lab, Gymnasium, rsl-rl-lib, Stable-Baselines3 and skrl, and the keys that they are here: those
of the same table, and those of others by their path."""


def key_elsewhere(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'KEY'?` for a name that another library has for a key, or an empty string.

    Args:
        name: The name.
        known: The keys of the table; if it has none of this meaning, the path of one in another table is given.
    """
    keys, here = [pair.partition("=")[2] for pair in _ELSEWHERE.split() if pair.startswith(f"{name}=")], set(known)
    found = [key for key in keys if key in here] or [key for key in keys if "." in key]
    return f"; did you mean {found[0]!r}?" if found else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'NAME'?` to end an error with, or an empty string if no known name is close."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1)
    return f"; did you mean {by_folded[near[0]]!r}?" if near else ""


def listed(texts: Iterable[str], limit: int = 3) -> str:
    """Return the first of many texts, each once, and the number of the others: worlds repeat labels."""
    unique = list(dict.fromkeys(texts))
    more = f" and {len(unique) - limit} more" if len(unique) > limit else ""
    return ", ".join(unique[:limit]) + more
