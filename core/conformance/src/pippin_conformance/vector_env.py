"""Checks of a vector environment: interface, timeline of its autoreset, masks, seeds, and memory of its results.

They hold for any environment of Gymnasium's kind whose arrays are NumPy's; Gymnasium itself checks single ones only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import attrs
import numpy as np
from pippin import PluginError

from .outcomes import CheckResult, NotApplicableError, raise_failed, result_of


@attrs.frozen(eq=False)
class _Step:
    observations: Any
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    info: dict[str, Any]

    @property
    def done(self) -> np.ndarray:
        return self.terminated | self.truncated


def check_vector_env(env: Any, *, steps: int = 200) -> list[CheckResult]:
    """Run every check of a vector environment of Gymnasium, and close it.

    Args:
        env: An environment with NumPy arrays that returns copies, such as `pippin_task.gym.VectorEnv`.
        steps: Steps with random actions; some episode should end in them.

    Raises:
        PluginError: Checks failed; one paragraph for each.
    """
    checks = (_interface, _spaces, _flags, _timeline, _memory, _seeds, _masks, _closing)
    return raise_failed([result_of(each.__name__.strip("_"), partial(each, env, steps)) for each in checks])


def _interface(env: Any, steps: int) -> None:
    """The attributes that Gymnasium's wrappers read are there."""
    import gymnasium

    _require(isinstance(env, gymnasium.vector.VectorEnv), "is not a gymnasium.vector.VectorEnv")
    mode = env.metadata.get("autoreset_mode")
    is_mode = isinstance(mode, gymnasium.vector.AutoresetMode)
    _require(is_mode, f"metadata['autoreset_mode'] is not an AutoresetMode: {mode!r}")
    for kind in ("observation", "action"):
        single = getattr(env, f"single_{kind}_space")
        batched = gymnasium.vector.utils.batch_space(single, env.num_envs)
        _require(getattr(env, f"{kind}_space") == batched, f"{kind}_space is not the batch of single_{kind}_space")


def _spaces(env: Any, steps: int) -> None:
    """Observations of `reset` and `step` are in their space, dtype included."""
    observations, info = env.reset(seed=1)
    _require(isinstance(info, dict), f"reset returns no dictionary of information, but a {type(info).__name__}")
    _require(env.observation_space.contains(observations), "reset returns observations outside their space")
    for step in _run(env, 3):
        _require(env.observation_space.contains(step.observations), "step returns observations outside their space")


def _flags(env: Any, steps: int) -> None:
    """Rewards and flags have one entry for each world; no world is both terminated and truncated."""
    env.reset(seed=1)
    for step in _run(env, steps):
        for name in ("reward", "terminated", "truncated"):
            array = getattr(step, name)
            _require(isinstance(array, np.ndarray), f"{name} is not a NumPy array, but a {type(array).__name__}")
            _require(array.shape == (env.num_envs,), f"{name} has shape {array.shape}")
            kind = np.floating if name == "reward" else np.bool_
            _require(np.issubdtype(array.dtype, kind), f"{name} is of dtype {array.dtype}")
        _require(np.isfinite(step.reward).all(), "a reward is not finite")
        _require(not (step.terminated & step.truncated).any(), "a world is both terminated and truncated")


def _timeline(env: Any, steps: int) -> None:
    """The step that ends an episode, and the one after it, are as the mode says."""
    mode = env.metadata["autoreset_mode"].name
    env.reset(seed=1)
    before, count = None, 0
    for step in _run(env, steps):
        count += int(step.done.sum())
        if mode == "SAME_STEP" and step.done.any():
            mask = step.info.get("_final_obs")
            _require(mask is not None and np.array_equal(mask, step.done), "_final_obs is not terminated | truncated")
        if mode == "NEXT_STEP" and before is not None:
            is_reset = before.done
            _require(not step.reward[is_reset].any(), "a world that is reset has a reward; it must be 0")
            _require(not step.done[is_reset].any(), "a world that is reset ends again in that step")
        if step.done.any() and "episode" in step.info:
            mask = step.info.get("_episode")
            _require(mask is not None and np.array_equal(mask, step.done), "_episode is not terminated | truncated")
        before = step
    if not count:
        raise NotApplicableError(f"no episode ended in {steps} steps with random actions")


def _memory(env: Any, steps: int) -> None:
    """What was returned does not change in later steps."""
    observations, _ = env.reset(seed=1)
    kept = [(observations, _copied(observations))]
    for step in _run(env, 5):
        parts = (step.observations, step.reward, step.terminated, step.truncated, step.info)
        kept += [(part, _copied(part)) for part in parts]
    _require(all(_equal(first, second) for first, second in kept), "a later step changed an array that was returned")


def _seeds(env: Any, steps: int) -> None:
    """The same seed and actions give the same bits, beyond the ends of episodes."""
    runs = []
    for _ in range(2):
        observations, _ = env.reset(seed=3)
        run = [_copied(observations)]
        run += [_copied((step.observations, step.reward, step.done)) for step in _run(env, steps)]
        runs.append(run)
    _require(_equal(*runs), "two runs with one seed differ")


def _masks(env: Any, steps: int) -> None:
    """`reset_mask` resets the chosen worlds alone, wrong masks are errors, and the options stay as they were."""
    count = env.num_envs
    before, _ = env.reset(seed=1)
    for step in _run(env, 2):
        before = step.observations
    wrong = (np.ones(count, dtype=int), np.ones(count + 1, dtype=bool), np.zeros(count, dtype=bool), [True] * count)
    for mask in wrong:
        try:
            env.reset(options={"reset_mask": mask})
        except Exception:
            continue
        raise PluginError(f"the mask {mask!r} is not an error")
    mask = np.arange(count) == 0
    options = {"reset_mask": mask}
    after, _ = env.reset(options=options)
    _require(options.get("reset_mask") is mask and mask.sum() == 1, "reset changes the options of the caller")
    others = [leaf[1:] for leaf in _leaves(after)], [leaf[1:] for leaf in _leaves(before)]
    _require(_equal(*others), "a reset of the first world changes the observations of others")


def _closing(env: Any, steps: int) -> None:
    """A second call of `close` does nothing."""
    env.close()
    env.close()
    _require(env.closed, "`closed` is not set")


def _run(env: Any, steps: int) -> Iterator[_Step]:
    """Yield steps with the same random actions in every run; without autoreset, ended worlds are reset."""
    env.action_space.seed(5)
    for _ in range(steps):
        step = _Step(*env.step(env.action_space.sample()))
        yield step
        if env.metadata["autoreset_mode"].name == "DISABLED" and step.done.any():
            env.reset(options={"reset_mask": step.done.copy()})


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [leaf for each in value.values() for leaf in _leaves(each)]
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in _leaves(each)]
    return [value]


def _copied(value: Any) -> Any:
    return [np.array(leaf) for leaf in _leaves(value)]


def _equal(first: Any, second: Any) -> bool:
    pairs = zip(_leaves(first), _leaves(second), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


def _require(holds: object, fault: str) -> None:
    if not holds:
        raise PluginError(fault)
