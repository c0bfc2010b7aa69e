"""Array libraries of actions and results."""

import numpy as np
import pippin
import pytest
import warp as wp


def test_warp_arrays_go_in_and_out(make):
    env, plain = make(backend="warp"), make()
    action = np.full((4, 1), 0.5, dtype=np.float32)
    first, expected = env.reset(seed=1)[0], plain.reset(seed=1)[0]

    observations, reward, terminated, truncated, info = env.step(wp.array(action, dtype=float, device="cpu"))

    results = (first, observations, reward, terminated, truncated, info["episode"]["l"])
    assert all(isinstance(each, wp.array) for each in results)
    np.testing.assert_array_equal(first.numpy(), expected)
    np.testing.assert_array_equal(observations.numpy(), plain.step(action)[0])


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(
    ("action", "fault"),
    [
        (np.zeros((4, 1), np.float32), "expected a Warp array, got ndarray"),
        (wp.zeros((4, 2), dtype=float, device="cpu"), r"expected shape \(4, 1\), worlds × numbers, got \(4, 2\)"),
        (wp.zeros((4, 1), dtype=int, device="cpu"), "expected float32, got int32"),
        (wp.full((4, 1), np.nan, dtype=float, device="cpu"), "number 0 of world 0 is not finite"),
    ],
)
def test_a_wrong_warp_action_is_named(make, action, fault):
    env = make(backend="warp")
    env.reset()

    with pytest.raises(pippin.ConfigError, match=f"step: action: {fault}"):
        env.step(action)


def test_torch_tensors_share_the_memory_of_the_task(make):
    torch = pytest.importorskip("torch")
    env, plain = make(backend="torch", copy=False), make()
    action = np.full((4, 1), 0.5, dtype=np.float32)
    first, _ = env.reset(seed=1)
    plain.reset(seed=1)

    observations, reward, terminated, *_ = env.step(torch.from_numpy(action))

    assert observations.data_ptr() == first.data_ptr() == env.task.observations["policy"].values.ptr
    assert (reward.dtype, terminated.dtype) == (torch.float32, torch.bool)
    np.testing.assert_array_equal(observations.numpy(), plain.step(action)[0])


@pytest.mark.parametrize(
    ("values", "fault"),
    [(np.zeros((4, 1), bool), "expected numbers, got bool"), (np.full((4, 1), np.nan), "is not finite")],
)
def test_a_wrong_tensor_is_named(make, values, fault):
    torch = pytest.importorskip("torch")
    env = make(backend="torch")
    env.reset()

    with pytest.raises(pippin.ConfigError, match=f"step: action: .*{fault}"):
        env.step(torch.from_numpy(values))
