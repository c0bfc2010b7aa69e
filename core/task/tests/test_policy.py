"""The policy: the network of the file acts in the recorded step."""

import numpy as np
import pippin
import pytest
from onnx.reference import ReferenceEvaluator

WEIGHTS = np.array([[0.1], [-2.0], [0.3], [0.4], [-0.2], [0.5]], np.float32)


def test_the_action_is_the_network_of_the_last_observations(tasked, network_file):
    file = network_file(6, [("MatMul", [WEIGHTS], {}), ("Tanh", [], {})])
    reference = ReferenceEvaluator(str(file))
    with tasked(policy={"path": str(file)}, simulation={"capture": "require"}) as simulation:
        simulation.reset()
        for _ in range(5):
            observations = simulation.task.observations["policy"].values.numpy().copy()
            simulation.step()
            action = simulation.task.episodes.last_action.numpy()
            (expected,) = reference.run(None, {"observations": observations})
            np.testing.assert_allclose(action, expected, rtol=1e-5, atol=1e-6)
        targets = simulation.actuators["rail"].position_targets.numpy()
        text = str(simulation.program)

    np.testing.assert_allclose(targets, expected, rtol=1e-5, atol=1e-6)
    assert text.index("start_step(policy)") < text.index("start_step(task)")
    assert text.startswith("captured")


def test_a_policy_that_is_switched_off_does_nothing_in_the_recorded_step(tasked, network_file):
    file = network_file(6, [("MatMul", [WEIGHTS], {}), ("Tanh", [], {})])
    with tasked(policy={"path": str(file)}, simulation={"capture": "require"}) as simulation:
        simulation.step(2)
        program, actions = simulation.program, []
        for is_on in (False, True):
            simulation.task.policy_switch.fill_(is_on)
            simulation.step()
            actions.append(simulation.task.episodes.taken_action.numpy().copy())

    assert not actions[0].any()
    assert actions[1].all()
    assert simulation.program is program


@pytest.mark.parametrize(
    ("weights", "policy", "message"),
    [
        (WEIGHTS[:5], {}, r"policy\.path: .* takes 5 numbers, and there are 6 observations"),
        (np.ones((6, 2), np.float32), {}, r"policy\.path: .* gives 2 numbers, and the action has 1"),
        (WEIGHTS, {"observations": "polciy"}, r"policy\.observations: got 'polciy'; did you mean 'policy'"),
    ],
)
def test_a_network_that_does_not_fit_the_task_is_refused(weights, policy, message, tasked, network_file):
    file = network_file(len(weights), [("MatMul", [weights], {})])

    with pytest.raises(pippin.ConfigError, match=message):
        tasked(policy={"path": str(file), **policy})


def test_a_network_that_may_not_be_recorded_acts_in_an_eager_part_of_the_step(tasked, network_file):
    hidden = np.array([[0.5, -1.0, 2.0]], np.float32)
    file = network_file(6, [("Gemm", [WEIGHTS @ hidden, hidden[0]], {}), ("MatMul", [hidden.T], {})])
    reference = ReferenceEvaluator(str(file))
    with tasked(policy={"path": str(file)}, simulation={"capture": "auto"}) as simulation:
        simulation.reset()
        observations = simulation.task.observations["policy"].values.numpy().copy()
        simulation.step()
        action = simulation.task.episodes.last_action.numpy()
        reasons = dict(simulation.program.eager_reasons)

    (expected,) = reference.run(None, {"observations": observations})
    np.testing.assert_allclose(action, expected, rtol=1e-5, atol=1e-6)
    assert "kernels of one name" in reasons["start_step(policy)"]


def test_a_policy_without_a_task_is_refused(ball):
    config = pippin.structure({"solver": {"type": "xpbd"}, "policy": {"path": "policy.onnx"}})

    with pytest.raises(pippin.ConfigError, match=r"policy: there is no \[task\], which it needs"):
        pippin.Simulation(config, prototype=ball())
