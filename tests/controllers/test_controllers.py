"""Controllers: the way of a tool to its goal, by formulas; resets, worlds, and what is refused."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

from .scenes import ARM, DRIVEN, simulate

FAST = {"type": "differential-ik", "damping": 0.0, "bandwidth": 10.0}
SEARCH = {"type": "ik"}
AXIS = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])


def commanded_pose(simulation, world=0, tool=0, joint_q=None):
    """Return the pose that the tool has at the commanded positions; other joints are those of the state."""
    controller, model = simulation.controllers["hand"], simulation.model
    joint_q = simulation.state.joint_q.numpy().copy() if joint_q is None else joint_q
    joint_q[controller.coordinates] = controller.positions.numpy()
    state = model.state()
    newton.eval_fk(model, wp.array(joint_q, dtype=float), state.joint_qd, state)
    site = int(controller.sites[world, tool])
    body, frame = int(model.shape_body.numpy()[site]), wp.transform(*model.shape_transform.numpy()[site])
    return np.array(wp.transform(*state.body_q.numpy()[body]) * frame)


def set_goal(simulation, world=0, shift=(0.0, 0.0, 0.0), angle=0.0):
    """Move the goal of a world by a shift, and turn it; return it."""
    goals = simulation.controllers["hand"].goals.numpy().copy()
    turn = wp.quat_from_axis_angle(wp.vec3(*AXIS), float(angle)) * wp.quat(*goals[world, 0, 3:])
    goals[world, 0] = [*(goals[world, 0, :3] + np.array(shift)), *turn]
    simulation.controllers["hand"].goals.assign(goals)
    return goals[world, 0]


def angle_between(one, other):
    return 2.0 * np.arccos(np.clip(abs(np.dot(one[3:], other[3:])), 0.0, 1.0))


def test_the_error_decays_with_the_bandwidth():
    with simulate(FAST) as simulation:
        goal = set_goal(simulation, shift=(0.03, 0.04, -0.02), angle=0.1)
        start = commanded_pose(simulation)
        simulation.step(10)
        now = commanded_pose(simulation)

    rate = (1.0 - 10.0 * 0.01) ** 10
    distances = [np.linalg.norm(goal[:3] - pose[:3]) for pose in (start, now)]
    assert distances[1] / distances[0] == pytest.approx(rate, rel=0.02)
    assert angle_between(goal, now) / angle_between(goal, start) == pytest.approx(rate, rel=0.02)


@pytest.mark.parametrize("kind", [FAST, SEARCH], ids=lambda kind: kind["type"])
def test_the_tool_is_at_its_goal_after_a_second(kind):
    with simulate(kind, worlds=2) as simulation:
        goal = set_goal(simulation, world=1, shift=(0.05, 0.1, -0.08), angle=0.4)
        home = simulation.controllers["hand"].goals.numpy()[0, 0]
        simulation.step(100)
        first, second = simulation.controllers["hand"].poses().numpy()[:, 0]

    assert first[:3] == pytest.approx(home[:3], abs=1e-4)
    assert np.linalg.norm(second[:3] - goal[:3]) < 5e-4
    assert angle_between(second, goal) < 2e-3


@pytest.mark.slow
def test_servos_that_follow_positions_alone_bring_the_tool_to_its_goal():
    overrides = {"scene.worlds": 1, "solver.type": "mujoco-native"}
    with pippin.Simulation.from_file(ARM.parent / "so101_push.toml", overrides) as simulation:
        hand = simulation.controllers["hand"]
        goal = set_goal(simulation, shift=(0.0, 0.04, 0.02))
        simulation.step(100)
        place = hand.poses().numpy()[0, 0]

    assert not hand.writes_velocities
    assert np.linalg.norm(place[:3] - goal[:3]) < 0.02  # the servos give way under the weight


@pytest.mark.slow
def test_a_search_stays_within_the_limits():
    with simulate(SEARCH) as simulation:
        controller = simulation.controllers["hand"]
        set_goal(simulation, shift=(0.0, 0.0, 1.0))
        simulation.step(20)
        lower, upper = (
            array.numpy()[simulation.actuators["arm"].actuated_dofs.numpy()]
            for array in (simulation.model.joint_limit_lower, simulation.model.joint_limit_upper)
        )
        beyond = np.maximum(lower - controller.positions.numpy()[0], controller.positions.numpy()[0] - upper)

    assert beyond.max() < 0.05


def test_free_axes_turn_with_the_posture():
    with simulate({**FAST, "axis_weights": [1, 1, 1, 0, 0, 0], "posture_stiffness": 2.0}) as simulation:
        goal = set_goal(simulation, shift=(0.0, 0.1, 0.0), angle=1.0)
        simulation.step(150)
        pose, home = commanded_pose(simulation), simulation.controllers["hand"].positions.numpy()[0]

    assert pose[:3] == pytest.approx(goal[:3], abs=1e-3)
    assert angle_between(pose, goal) > 0.5
    assert np.abs(home).max() < 2.0


def test_a_singular_pose_asks_for_no_large_speed():
    stretched = {"shoulder_lift": 0.0, "elbow_lift": 0.0, "wrist_lift": 0.0}
    with simulate({**FAST, "damping": 0.1}) as simulation:
        controller = simulation.controllers["hand"]
        coordinates = dict(
            zip((label.rpartition("/")[2] for label in controller.joint_labels), controller.coordinates[0], strict=True)
        )
        joint_q = simulation.state.joint_q.numpy().copy()
        joint_q[[coordinates[name] for name in stretched]] = 0.0
        simulation.state.joint_q.assign(joint_q)
        simulation.invalidate("joints")
        controller.hold()
        set_goal(simulation, shift=(0.0, 0.0, 0.1))
        simulation.step(1)
        speeds = controller.velocities.numpy()

    assert np.isfinite(speeds).all()
    assert np.abs(speeds).max() < 10.0 * 0.1 / (2.0 * 0.1)


def test_a_reset_lets_the_tool_hold_its_place():
    with simulate(FAST, worlds=2) as simulation:
        controller = simulation.controllers["hand"]
        home = controller.goals.numpy()[:, 0].copy()
        for world in (0, 1):
            set_goal(simulation, world=world, shift=(0.05, 0.0, 0.0))
        simulation.step(20)
        moved = controller.positions.numpy()[1].copy()
        simulation.reset([0])

        assert controller.goals.numpy()[0, 0] == pytest.approx(home[0], abs=1e-6)
        assert controller.goals.numpy()[1, 0, 0] == pytest.approx(home[1, 0] + 0.05, abs=1e-6)
        assert controller.positions.numpy()[1] == pytest.approx(moved)
        simulation.step(5)
        assert controller.poses().numpy()[0, 0, :3] == pytest.approx(home[0, :3], abs=1e-4)


@pytest.mark.slow
def test_a_motion_leads_the_tool_in_the_frame_of_a_body():
    cube = {
        "type": "body",
        "label": "cube",
        "position": [0.45, 0.1, 0.3],
        "shapes": [{"type": "box", "size": [0.05] * 3}],
    }
    way = {"type": "keyframes", "goal_of": "hand", "relative_to": "cube", "times": [0.0], "values": [[0.0, 0.0, 0.2]]}
    with simulate(FAST, worlds=2, objects=[cube], motions={"reach": way}) as simulation:
        poses = simulation.state.body_q.numpy().copy()
        second = [index for index, label in enumerate(simulation.model.body_label) if label.endswith("cube")][1]
        poses[second, :2] = [0.4, -0.15]
        simulation.state.body_q.assign(poses)
        simulation.invalidate("bodies", [1])
        simulation.step(100)
        places = simulation.controllers["hand"].poses().numpy()[:, 0, :3]

    assert places[0] == pytest.approx([0.45, 0.1, 0.5], abs=2e-3)
    assert places[1] == pytest.approx([0.4, -0.15, 0.5], abs=2e-3)


@pytest.mark.first_cases(3)
@pytest.mark.parametrize(
    ("controller", "told"),
    [
        (
            {**FAST, "actuator": "amr"},
            r"controllers\.hand\.actuator: no group 'amr' in \[actuators\]; did you mean 'arm'",
        ),
        (
            {**FAST, "bandwidth": 100.0},
            r"bandwidth: 100 1/s overshoots within a control step of 0\.01 s; use less than 100",
        ),
        ({**FAST, "body": ["hand", "elbow"]}, r"body: 2 tools, .* for 1 robots, but each robot has one"),
        ({**FAST, "axis_weights": [0.0] * 6}, r"axis_weights: must have a weight above 0"),
        ({**FAST, "damping_max": 0.7}, r"damping_max: needs method = \"adaptive-damping\""),
        ({**SEARCH, "position_weight": 0.0, "rotation_weight": 0.0}, r"both 0, so that no goal acts"),
        ({**FAST, "joints": ["slide"]}, r"joints: .*'slide'"),
        ({**FAST, "site": "gripp"}, r"site: .*'gripp'"),
    ],
)
def test_what_cannot_be_is_refused(controller, told):
    with pytest.raises(pippin.ConfigError, match=told):
        simulate(controller)


def test_two_controllers_command_no_axis_together():
    hand = {**FAST, "actuator": "arm", "site": "grip"}
    with pytest.raises(pippin.ConfigError, match=r"is commanded by controllers\.hand already"):
        simulate(FAST, controllers={"hand": hand, "other": hand})


def test_a_motion_writes_no_targets_that_a_controller_writes():
    push = {"type": "sine", "actuator": "arm", "amplitude": 0.1, "frequency": 1.0}
    with pytest.raises(pippin.ConfigError, match=r"is commanded by controllers\.hand; move its goals, by 'goal_of'"):
        simulate(FAST, motions={"push": push})


@pytest.mark.slow
def test_feet_of_a_floating_robot_follow_their_goals():
    assets = [{"path": "pkg:newton/examples/assets/quadruped.urdf", "position": [0.0, 0.0, 0.7], "floating": True}]
    tables = {"scene": {"worlds": 2, "gravity": [0.0, 0.0, 0.0], "assets": assets}}
    feet = {**SEARCH, "body": [".*SHANK"], "position": [0.0, 0.0, -0.3], "rotation_weight": 0.0}
    tables["actuators"] = {"arm": {"type": "solver-pd", "joints": [".*"], "kp": 100.0, "kd": 2.0}}
    with simulate(feet, **tables) as simulation:
        controller = simulation.controllers["hand"]
        goals = controller.goals.numpy().copy()
        assert goals.shape == (2, 4, 7)
        goals[1, 0, :3] += [0.03, 0.0, 0.05]
        controller.goals.assign(goals)
        before = simulation.state.joint_q.numpy().copy()
        simulation.step(1)
        poses = np.array([commanded_pose(simulation, world=1, tool=tool, joint_q=before)[:3] for tool in range(4)])

    assert poses == pytest.approx(goals[1, :, :3], abs=1e-3)


@pytest.mark.slow
def test_an_action_moves_the_goals():
    actions = {
        "hand": {"type": "tool-goals", "controller": "hand", "scale": 0.01, "rotation_scale": 0.02, "clip": [-1, 1]},
        "grip": {"type": "gripper", "actuator": "fingers", "open": 0.04},
    }
    fingers = {"fingers": {"type": "solver-pd", "joints": [".*_slide"], "kp": 800.0, "kd": 60.0}}
    arm = {"type": "solver-pd", "joints": DRIVEN, "kp": 2000.0, "kd": 100.0}
    tables = {"actuators": {"arm": arm, **fingers}, "task": {"actions": actions, "autoreset": "disabled"}}
    with simulate(FAST, worlds=2, **tables) as simulation:
        home = simulation.controllers["hand"].goals.numpy().copy()
        assert simulation.task.episodes.action.shape == (2, 7)
        for _ in range(3):
            simulation.task.episodes.action.assign([[1.0, 0, 0, 0, 0, 0, -1.0], [0, 5.0, 0, 0, 0, 0.5, 1.0]])
            simulation.step()
        goals = simulation.controllers["hand"].goals.numpy()
        targets = simulation.actuators["fingers"].position_targets.numpy()

    assert goals[:, 0, :3] - home[:, 0, :3] == pytest.approx(np.array([[0.03, 0, 0], [0, 0.03, 0]]), abs=1e-6)
    assert angle_between(goals[0, 0], home[0, 0]) < 1e-3
    assert angle_between(goals[1, 0], home[1, 0]) == pytest.approx(0.03, abs=1e-4)
    assert targets == pytest.approx(np.array([[0.0, 0.0], [0.04, 0.04]]))


def test_an_action_sets_no_targets_that_a_controller_sets():
    task = {"actions": {"arm": {"type": "joint-targets", "actuator": "arm"}}}
    with pytest.raises(pippin.ConfigError, match=r'controllers\.hand writes position targets .* action "tool-goals"'):
        simulate(FAST, task=task)


def test_phases_take_turns_and_begin_where_the_goal_is():
    """Each goes to its first value from where the goal is, and writes nothing after its end."""
    way = {"type": "keyframes", "goal_of": "hand", "interpolation": "linear"}
    first = {**way, "times": [0.2, 0.4], "values": [[0.1, 0.0, 0.0], [0.1, 0.0, 0.1]], "end": 0.4}
    second = {**way, "times": [0.2], "values": [[0.0, 0.1, 0.0]], "start": 0.6}
    with simulate(FAST, worlds=2, motions={"first": first, "second": second}) as simulation:
        hand = simulation.controllers["hand"]
        home = hand.goals.numpy()[1, 0, :3].copy()
        places = []
        for _ in range(90):
            simulation.step(1)
            places.append(hand.goals.numpy()[1, 0, :3] - home)

    expected = {10: [0.05, 0, 0], 20: [0.1, 0, 0], 30: [0.1, 0, 0.05], 50: [0.1, 0, 0.1], 70: [0.1, 0.05, 0.1]}
    for step, place in {**expected, 85: [0.1, 0.1, 0.1]}.items():
        assert places[step] == pytest.approx(np.array(place), abs=1e-5), f"after {step} steps"


@pytest.mark.slow
def test_phases_go_on_from_a_checkpoint(tmp_path):
    way = {"type": "keyframes", "goal_of": "hand", "times": [0.4], "values": [[0.1, 0.0, -0.1]]}
    with simulate(FAST, worlds=2, motions={"reach": way}) as simulation:
        simulation.step(20)
        simulation.save(tmp_path / "half.npz")
        simulation.step(20)
        expected = simulation.controllers["hand"].goals.numpy().copy()
    with pippin.Simulation.load(tmp_path / "half.npz") as simulation:
        simulation.step(20)
        goals = simulation.controllers["hand"].goals.numpy().copy()

    np.testing.assert_array_equal(goals, expected)


def test_phases_that_overlap_are_refused():
    way = {"type": "keyframes", "goal_of": "hand", "times": [0.0], "values": [[0.1, 0.0, 0.0]]}
    motions = {"first": {**way, "end": 1.0}, "second": {**way, "start": 0.5}}
    with pytest.raises(pippin.ConfigError, match=r"motions\.second.* is moved by motions\.first already"):
        simulate(FAST, motions=motions)


@pytest.mark.slow
def test_an_action_moves_the_goals_of_a_spring_in_space():
    """The goals of a group `operational-space` are those of an action, from the place after each reset."""
    action = {"type": "tool-goals", "controller": "arm", "reference": "start", "scale": 0.05}
    spring = {"type": "operational-space", "joints": DRIVEN, "site": "grip", "kp": 400.0, "kd": 40.0}
    task = {"actions": {"hand": action}, "autoreset": "disabled"}
    with simulate(None, worlds=2, dt=0.002, actuators={"arm": spring}, task=task) as simulation:
        group = simulation.actuators["arm"]
        home = group.goals.numpy()[:, 0, :3].copy()
        assert simulation.task.episodes.action.shape == (2, 3)
        simulation.task.episodes.action.assign([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
        simulation.step(500)
        goals = group.goals.numpy()[:, 0, :3].copy()
        tools = group.tools.poses(simulation.state).numpy()[:, 0, :3].copy()
        simulation.reset([1])
        after = group.goals.numpy()[:, 0, :3]

    assert goals - home == pytest.approx(np.array([[0.05, 0, 0], [0, 0, -0.05]]), abs=1e-6)
    assert tools == pytest.approx(goals, abs=1e-3)
    assert after == pytest.approx(np.array([goals[0], home[1]]), abs=1e-5)


@pytest.mark.slow
def test_a_hand_that_goes_to_the_ball_earns_the_reward_of_the_task(examples):
    """The reward is exp(-(distance / 0.1 m)²) per second, and the actions are steps of at most 2 cm."""
    overrides = {"scene.worlds": 4, "simulation.device": "cpu"}
    with pippin.Simulation.from_file(examples / "reach.toml", overrides) as simulation:
        hand, episodes = simulation.controllers["hand"], simulation.task.episodes
        labels = [label.rpartition("/")[2] for label in simulation.model.body_label]
        balls = [index for index, label in enumerate(labels) if label == "ball"]
        for _ in range(80):
            way = simulation.state.body_q.numpy()[balls, :3] - hand.goals.numpy()[:, 0, :3]
            episodes.action.assign(np.clip(way / 0.02, -1.0, 1.0))
            simulation.step()
        left = simulation.state.body_q.numpy()[balls, :3] - hand.poses().numpy()[:, 0, :3]
        rewards = episodes.reward.numpy() / simulation.control_dt

    assert np.linalg.norm(left, axis=1).max() < 0.02
    assert rewards == pytest.approx(np.exp(-((np.linalg.norm(left, axis=1) / 0.1) ** 2)), abs=0.02)
