"""Events that change actuator groups: gains from the built ones, and errors of targets."""

import numpy as np
import pippin
import pytest

GAINS = {"type": "gains", "when": "reset", "actuator": "arm", "gain": "kp", "scale": [0.5, 1.5]}
TARGETS = {"arm": {"type": "joint-targets", "actuator": "arm"}}


@pytest.mark.parametrize("kind", ["pd", "solver-pd"])
def test_gains_stay_in_the_range_around_the_built_ones(floating, kind):
    simulation = floating({"gains": GAINS}, worlds=50, actuator={"type": kind})

    for _ in range(20):
        simulation.reset()

    gains = simulation.actuators["arm"].get("kp").numpy()
    assert 5.0 <= gains.min() < 5.5
    assert 14.5 < gains.max() <= 15.0
    assert len(np.unique(gains)) == gains.size
    assert (simulation.actuators["arm"].get("kd").numpy() == 1.0).all()


def test_the_law_has_the_drawn_gains(floating):
    """Effort = kp × error in the first step from rest."""
    simulation = floating({"gains": GAINS}, actions=TARGETS)
    simulation.reset()
    simulation.task.episodes.action.fill_(0.1)

    simulation.step()

    group = simulation.actuators["arm"]
    np.testing.assert_allclose(group.applied_effort.numpy(), group.get("kp").numpy() * 0.1, rtol=1e-5)


@pytest.mark.slow
def test_the_solver_is_told_of_its_gains_within_the_step(floating):
    """MuJoCo keeps its own copy of the gains; ten steps in one call have three resets."""
    pair = [
        floating({"gains": GAINS}, solver="mujoco", actuator={"type": "solver-pd"}, episode_length=0.03)
        for _ in range(2)
    ]
    for simulation in pair:
        simulation.actuators["arm"].position_targets.fill_(0.15)

    pair[0].step(10)
    for _ in range(10):
        pair[1].step()

    gains = pair[0].actuators["arm"].get("kp").numpy()
    np.testing.assert_array_equal(pair[0].model.joint_target_ke.numpy().reshape(4, 8)[:, 6:], gains)
    np.testing.assert_array_equal(*(each.state.joint_q.numpy() for each in pair))


@pytest.mark.slow
def test_gains_that_a_group_draws_reach_the_solver_within_the_step(floating):
    """A loop of recorded steps tells the solver at each reset, as single steps do."""
    actuator = {"type": "solver-pd", "kp": {"uniform": [1.0, 100.0]}}
    pair = [floating({}, solver="mujoco", actuator=actuator, episode_length=0.03) for _ in range(2)]
    for simulation in pair:
        simulation.actuators["arm"].position_targets.fill_(0.15)

    pair[0].step(8)
    for _ in range(8):
        pair[1].step()

    np.testing.assert_array_equal(*(each.state.joint_q.numpy() for each in pair))
    assert (pair[0].state.joint_q.numpy() != 0.4).any()


@pytest.mark.slow
def test_targets_are_off_by_a_constant_of_the_episode(floating):
    events = {"zero": {"type": "joint-offsets", "when": "reset", "action": "arm", "range": [0.1, 0.2]}}
    simulation = floating(events, actions=TARGETS)
    simulation.reset()
    group, targets = simulation.actuators["arm"], []

    for action in (0.0, 0.5):
        simulation.task.episodes.action.fill_(action)
        simulation.step()
        targets.append(group.position_targets.numpy().copy())

    errors = targets[0] - [0.4, 0.0]
    assert ((errors >= 0.1 - 1e-6) & (errors <= 0.2 + 1e-6)).all()
    assert len(np.unique(errors)) == errors.size
    np.testing.assert_allclose(targets[1] - targets[0], 0.5, atol=1e-6)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(("worlds", "capture"), [(4, "require"), (1, "off")])
def test_a_servo_holds_its_target_by_the_encoder_that_is_off(floating, worlds, capture):
    """At rest, the reading is the target, and the joint is as far from it as the target was put off."""
    read = {"type": "joint-positions", "relative": True, "offsets": "zero"}
    groups = {"policy": {"q": {"of": read}}, "limits": {"q": {"of": {**read, "joints": ["elbow"]}}}}
    groups["limits"]["q"]["of"] |= {"relative": False, "normalised": True}
    groups["critic"] = {"q": {"of": {"type": "joint-positions", "relative": True}}}
    events = {"zero": {"type": "joint-offsets", "action": "arm", "range": [0.02, 0.05]}}
    settings = {"capture": capture}
    with floating(events, worlds, simulation=settings, actions=TARGETS, observations=groups) as simulation:
        simulation.reset()
        simulation.task.episodes.action.fill_(0.1)
        simulation.step(600)
        actor, share, critic = (each.values.numpy() for each in simulation.task.observations.values())
        errors = simulation.task.actions["arm"].errors.numpy()

    assert (errors >= 0.02 - 1e-6).all()
    np.testing.assert_allclose(actor, 0.1, atol=1e-4)
    np.testing.assert_allclose(critic, 0.1 + errors, atol=1e-4)
    np.testing.assert_allclose(share[:, 0], (actor[:, 1] - 0.05) / 0.15, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"offsets": "zeros"}, r"offsets: there is no event 'zeros' of type 'joint-offsets'.*zero"),
        ({"offsets": "push"}, "offsets: there is no event 'push' of type 'joint-offsets'; add one"),
        ({"offsets": "speed"}, "offsets: 'speed' is of velocity targets of 'fast', and not of positions"),
        ({"offsets": "zero", "joints": ["elbow"]}, "offsets: 'arm' has none of the joints elbow; choose others"),
    ],
)
def test_offsets_of_other_events_and_joints_are_refused(floating, changes, fault):
    events = {"zero": {"type": "joint-offsets", "action": "arm", "range": [0.0, 0.1]}, "push": {"type": "gravity"}}
    events["speed"] = {**events["zero"], "action": "fast"}
    actions = {**TARGETS, "fast": {"type": "joint-velocity-targets", "actuator": "arm"}}
    groups = {"policy": {"q": {"of": {"type": "joint-positions", **changes}}}}
    with pytest.raises(pippin.ConfigError, match=fault):
        floating(events, actuator={"joints": ["shoulder"]}, actions=actions, observations=groups)


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        ({**GAINS, "actuator": "leg"}, "events.it.actuator: there is no actuator 'leg'"),
        ({**GAINS, "gain": "kq"}, "events.it.gain: 'arm' has no gain 'kq'.*gains: kp, kd"),
        (
            {**GAINS, "add": [-6.0, 0.0]},
            r"events\.it\.add: the kp can become -1, and must be above 0; narrow the range",
        ),
        ({**GAINS, "gain": "kd"}, "events.it.gain: the group 'arm' draws 'kd' itself"),
        ({"type": "joint-offsets", "action": "leg", "range": [0.0, 1.0]}, "events.it.action: there is no action 'leg'"),
    ],
)
def test_bad_input_is_refused_with_its_place(floating, event, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        floating({"it": event}, actuator={"kd": {"uniform": [0.5, 1.0]}}, actions=TARGETS)
