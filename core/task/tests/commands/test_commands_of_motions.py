"""Reference motions: the frame of each world, starts, loops, and what other terms read of the clip."""

import attrs
import numpy as np
import pippin
import pytest
from pippin import quaternions
from pippin.motions import Clip

RATE, FRAMES = 100.0, 22
JOINTS, BODIES = ("shoulder", "elbow"), ("box", "upper", "lower")
IN_A_WORLD = {"joint_q": 9, "joint_qd": 8}


def poses(random, shape):
    turns = random.normal(size=(*shape, 4))
    return np.concatenate([random.normal(size=(*shape, 3)), turns / np.linalg.norm(turns, axis=-1, keepdims=True)], -1)


@pytest.fixture(scope="module")
def clip():
    """Return a clip of the floater with numbers at random, within the limits of the elbow."""
    random = np.random.default_rng(5)
    return Clip(
        rate=RATE,
        is_loop=False,
        root="box",
        joint_names=JOINTS[::-1],  # in another order than the model
        body_names=BODIES[::-1],
        joint_positions=random.uniform(-0.09, 0.19, (FRAMES, 2)),
        joint_velocities=random.normal(size=(FRAMES, 2)),
        body_poses=poses(random, (FRAMES, 3)),
        body_velocities=random.normal(size=(FRAMES, 3, 6)),
    )


@pytest.fixture
def followed(floating, clip, tmp_path):
    """Return a function that builds the floater with a command that follows the clip."""

    def build(events=None, changes=None, worlds=4, **keys):
        task = {name: keys.pop(name) for name in list(keys) if name not in attrs_of_command}
        path = tmp_path / "clip.npz"
        attrs.evolve(clip, **(changes or {})).write(path)
        command = {"type": "motion", "path": str(path), "start": "first", **keys}
        return floating(events or {}, worlds=worlds, commands={"clip": command}, **task)

    attrs_of_command = ("start", "anchor", "bin", "memory", "uniform", "reach", "decay", "path")
    return build


def frames_of(simulation):
    return simulation.task.commands["clip"].frames.numpy().tolist()


def rows(simulation, name):
    return getattr(simulation.state, name).numpy().reshape(-1, IN_A_WORLD[name])


def start(**keys):
    return {"start": {"type": "motion", "command": "clip", **keys}}


@pytest.mark.slow
def test_each_step_wants_the_next_frame_up_to_the_last_one(followed, clip):
    with followed() as simulation:
        found = [frames_of(simulation)]
        for _ in range(FRAMES):
            simulation.step()
            found.append(frames_of(simulation))
        command = simulation.task.commands["clip"]

        assert found == [[min(step + 1, FRAMES - 1)] * 4 for step in range(FRAMES + 1)]
        assert [label.rpartition("floater/")[2] for label in command.labels][:3:2] == [
            "shoulder/position",
            "shoulder/velocity",
        ]
        wanted = [*clip.joint_positions[-1][::-1], *clip.joint_velocities[-1][::-1]]
        np.testing.assert_allclose(command.value.numpy(), [wanted] * 4, rtol=1e-6)
        assert not simulation.program.eager_reasons


@pytest.mark.slow
def test_an_episode_starts_with_the_state_of_its_frame_and_ends_with_the_clip(followed, clip):
    ends = {"over": {"type": "motion-end", "command": "clip"}}
    with followed(start(), start="uniform", terminations=ends, simulation={"seed": 3}) as simulation:
        simulation.reset()
        first = np.array(frames_of(simulation)) - 1
        q, qd = rows(simulation, "joint_q"), rows(simulation, "joint_qd")

        assert len(set(first.tolist())) > 1
        np.testing.assert_allclose(q[:, :3], clip.body_poses[first, 2, :3], atol=1e-6)
        turned = quaternions.product(q[:, 3:7].astype(float), quaternions.conjugate(clip.body_poses[first, 2, 3:]))
        np.testing.assert_allclose(quaternions.rotation_vectors(turned), 0.0, atol=1e-5)
        np.testing.assert_allclose(q[:, 7:], clip.joint_positions[first][:, ::-1], atol=1e-6)
        np.testing.assert_allclose(qd[:, :6], clip.body_velocities[first, 2], atol=1e-6)
        np.testing.assert_allclose(qd[:, 6:], clip.joint_velocities[first][:, ::-1], atol=1e-6)
        ended = np.zeros(4, dtype=int)
        for step in range(1, FRAMES):
            simulation.step()
            over = simulation.task.episodes.truncated.numpy()
            ended[over & (ended == 0)] = step
        assert ended.tolist() == (FRAMES - 1 - first).tolist()


def test_draws_are_added_to_a_start_within_the_limits(followed, clip):
    ranges = {"x": [0.1, 0.2], "yaw": [0.3, 0.4], "velocity": {"z": [1.0, 2.0]}}
    ranges |= {"joint_positions": [-0.5, 0.5], "joint_velocities": [3.0, 4.0], "soft_limits": 0.8}
    with followed(start(**ranges), worlds=50) as simulation:
        simulation.reset()
        q, qd = rows(simulation, "joint_q").astype(float), rows(simulation, "joint_qd")

        moved = q[:, 0] - clip.body_poses[0, 2, 0]
        turns = quaternions.product(q[:, 3:7], quaternions.conjugate(clip.body_poses[:1, 2, 3:]))
        angles = quaternions.rotation_vectors(turns)
        assert ((moved >= 0.1 - 1e-6) & (moved <= 0.2 + 1e-6)).all()
        assert np.ptp(moved) > 0.05
        np.testing.assert_allclose(angles[:, :2], 0.0, atol=1e-5)
        assert (np.abs(angles[:, 2] - 0.35) < 0.051).all()
        added = qd[:, [2, 6, 7]] - [clip.body_velocities[0, 2, 2], *clip.joint_velocities[0][::-1]]
        assert (np.abs(added - [1.5, 3.5, 3.5]) < 0.5001).all()
        # The elbow has limits -0.1 and 0.2: 80 % of the range about its middle, or as far as the clip itself is.
        elbow = float(clip.joint_positions[0, 0])
        low, high = min(-0.07, elbow), max(0.17, elbow)
        assert [q[:, 8].min(), q[:, 8].max()] == pytest.approx([low, high], abs=1e-6)
        assert np.ptp(q[:, 7]) > 0.5


@pytest.mark.slow
def test_a_loop_moves_by_its_stride_each_time_round(followed, clip):
    """The place of the clip after k loops is the stride to the power of k."""
    turn = np.array([0.0, 0.0, np.sin(0.2), np.cos(0.2)])
    changed = clip.body_poses.copy()
    changed[-1, 2, 3:] = quaternions.product(turn[None], changed[:1, 2, 3:])[0]
    poses_ahead = {"of": {"type": "motion-anchor", "command": "clip", "form": "pose", "ahead": [0, 45]}}
    observations = {"policy": {"ahead": poses_ahead}}
    changes = {"is_loop": True, "body_poses": changed}
    with followed(changes=changes, observations=observations) as simulation:
        stride = simulation.task.commands["clip"].clip.stride
        simulation.step(46)
        assert frames_of(simulation) == [47 % (FRAMES - 1)] * 4
        place = simulation.task.commands["clip"].places.numpy()[0]
        ahead = simulation.task.observations["policy"].values.numpy()[0].reshape(2, 3)
        box = simulation.state.body_q.numpy()[0].astype(float)

    def moved(pose, times):
        for _ in range(times):
            pose = stride[:3] + quaternions.rotated(stride[3:], pose)
        return pose

    np.testing.assert_allclose(moved(np.zeros(3), 2), place[:3], atol=1e-5)
    for found, frame in zip(ahead, (47, 92), strict=True):
        wanted = moved(changed[frame % 21, 2, :3], frame // 21) - box[:3]
        np.testing.assert_allclose(found, quaternions.rotated(quaternions.conjugate(box[3:]), wanted), atol=1e-4)


@pytest.mark.slow
def test_starts_are_drawn_where_episodes_fail(followed):
    """Failures of 3, 0 and 1 of three bins with a uniform part of 1: the shares 10, 1 and 4 of 15."""
    worlds = 400
    with followed(start="adaptive", bin=0.07, uniform=1.0, worlds=worlds) as simulation:
        command, episodes = simulation.task.commands["clip"], simulation.task.episodes
        assert command.failures.numpy().tolist() == [0.0, 0.0, 0.0]
        even = np.bincount((np.array(frames_of(simulation)) - 1) * 3 // 21, minlength=3) / worlds
        np.testing.assert_allclose(even, 1 / 3, atol=4 * np.sqrt(0.25 / worlds))
        command.failures.assign([3.0, 0.0, 1.0])
        simulation.step()
        simulation.reset()
        kept = command.failures.numpy()
        found = np.bincount((np.array(frames_of(simulation)) - 1) * 3 // 21, minlength=3) / worlds

    np.testing.assert_allclose(kept, np.array([3.0, 0.0, 1.0]) * 0.999, rtol=1e-5)
    assert episodes.finished.numpy().sum() == 0
    # A share p of n draws has a standard error of √(p (1 - p) / n).
    shares = np.array([10.0, 1.0, 4.0]) / 15.0
    assert (np.abs(found - shares) < 4 * np.sqrt(shares * (1 - shares) / worlds) + 1e-3).all()


@pytest.mark.slow
def test_an_end_counts_as_a_failure_of_its_bin_once_and_a_truncation_does_not(followed):
    """Worlds end in the frame 5, of the first bin of three, by a speed that the start gives them."""
    far = {"type": "outside", "of": "root-position", "axes": "x", "high": 5.0}
    seen = {"policy": {"phase": {"of": {"type": "phase", "command": "clip"}}}}
    for truncates, wanted in ((False, 0.5 * 4), (True, 0.0)):
        keys = {"terminations": {"far": {**far, "truncates": truncates}}, "observations": seen}
        with followed(start="adaptive", bin=0.07, memory=0.5, **keys) as simulation:
            simulation.step()
            q = simulation.state.joint_q.numpy().reshape(4, -1)
            q[:, 0] = 6.0
            simulation.state.joint_q.assign(q.ravel())
            simulation.invalidate("joints")
            simulation.step()
            assert simulation.task.episodes.finished.numpy().all()
            assert simulation.task.commands["clip"].failures.numpy().sum() == pytest.approx(wanted)
            simulation.step()
            assert simulation.task.commands["clip"].failures.numpy().sum() == pytest.approx(0.5 * wanted)


def error_of(simulation, clip, frame, moved):
    """Return what NumPy has for positions, rotations and velocities of the bodies minus those of a frame."""
    body_q = simulation.state.body_q.numpy().reshape(4, 3, 7).astype(float)
    body_qd = simulation.state.body_qd.numpy().reshape(4, 3, 6).astype(float)
    wanted, speeds = clip.body_poses[frame, ::-1], clip.body_velocities[frame, ::-1]
    errors = []
    for world in range(4):
        turn, shift = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3)
        if moved:
            apart = quaternions.product(body_q[world, :1, 3:], quaternions.conjugate(wanted[:1, 3:]))[0]
            forward = quaternions.rotated(apart, np.array([1.0, 0.0, 0.0]))
            half = 0.5 * np.arctan2(forward[1], forward[0])
            turn = np.array([0.0, 0.0, np.sin(half), np.cos(half)])
            shift = (body_q[world, 0, :3] - quaternions.rotated(turn, wanted[0, :3])) * (1.0, 1.0, 0.0)
        places = shift + quaternions.rotated(turn, wanted[:, :3])
        turns = quaternions.product(turn[None], wanted[:, 3:])
        rotation = quaternions.product(body_q[world, :, 3:], quaternions.conjugate(turns))
        linear = body_qd[world, :, :3] - quaternions.rotated(turn, speeds[:, :3])
        angular = body_qd[world, :, 3:] - quaternions.rotated(turn, speeds[:, 3:])
        errors.append([body_q[world, :, :3] - places, quaternions.rotation_vectors(rotation), linear, angular])
    return np.moveaxis(np.array(errors), 1, 0)


WHATS = ("position", "rotation", "linear-velocity", "angular-velocity")


def quantity(kind, **keys):
    return {"of": {"type": f"motion-{kind}", "command": "clip", **keys}}


@pytest.mark.slow
def test_errors_and_poses_of_a_motion_are_those_of_numpy(followed, clip):
    terms = {}
    for what in WHATS:
        terms |= {
            f"anchor {what}": quantity("anchor", what=what),
            f"anchor pose {what}": quantity("anchor", what=what, form="pose"),
        }
        terms |= {
            f"moved {what}": quantity("bodies", what=what),
            f"world {what}": quantity("bodies", what=what, frame="world"),
        }
    terms |= {
        "by rows": quantity("anchor", what="rotation", form="pose", order="rows"),
        "of origins": quantity("bodies", what="linear-velocity", frame="world", point="origin"),
        "pose of origin": quantity("anchor", what="linear-velocity", form="pose", point="origin"),
    }
    terms |= {
        "distance": quantity("bodies", form="distance", frame="world"),
        "gravity": quantity("anchor", what="gravity"),
    }
    terms |= {
        "joints": quantity("joints"),
        "speeds": quantity("joints", what="velocity", form="pose", ahead=[0, 2, 90]),
    }
    terms |= {
        "phase": {"of": {"type": "phase", "command": "clip"}},
        "clock": {"of": {"type": "phase", "frequency": 5.0, "offsets": [0.0, 1.0]}},
    }
    random = {
        "root": {
            "type": "root",
            "x": [-1, 1],
            "z": [-1, 1],
            "roll": [-1, 1],
            "yaw": [-3, 3],
            "velocity": {"y": [-1, 1], "pitch": [-1, 1]},
        }
    }
    observations = {name: {"x": term} for name, term in terms.items()}
    scene = {"gravity": [0.0, 3.0, -4.0]}
    with followed(random, observations=observations, scene=scene) as simulation:
        simulation.reset()
        simulation.step(3)
        found = {name: group.values.numpy().astype(float) for name, group in simulation.task.observations.items()}
        worlds = [error_of(simulation, clip, 4, moved) for moved in (False, True)]
        body_q = simulation.state.body_q.numpy().reshape(4, 3, 7).astype(float)
        q = rows(simulation, "joint_q")
        simulation_com = simulation.model.body_com.numpy()[:3].astype(float)
        spins = simulation.state.body_qd.numpy().reshape(4, 3, 6)[..., 3:]

    arms = [quaternions.rotated(turns, simulation_com) for turns in (body_q[..., 3:], clip.body_poses[4, ::-1, 3:])]
    moved = np.cross(spins, arms[0]) - np.cross(clip.body_velocities[4, ::-1, 3:], arms[1])
    np.testing.assert_allclose(
        found["of origins"], (worlds[0][2] - moved).reshape(4, 9), atol=2e-5, err_msg="velocities of origins"
    )
    pose, speed = clip.body_poses[4, 2], clip.body_velocities[4, 2]
    back = quaternions.conjugate(body_q[:, 0, 3:])
    columns = quaternions.matrix(quaternions.product(back, pose[None, 3:]))[..., :2].swapaxes(-1, -2).reshape(4, 6)
    in_anchor = [quaternions.rotated(back, pose[:3] - body_q[:, 0, :3]), columns]
    in_anchor += [quaternions.rotated(back, speed[None, part]) for part in (slice(0, 3), slice(3, 6))]
    np.testing.assert_allclose(found["by rows"], columns.reshape(4, 2, 3).swapaxes(1, 2).reshape(4, 6), atol=2e-5)
    origin = speed[:3] - np.cross(speed[3:], quaternions.rotated(pose[3:], simulation_com[0]))
    np.testing.assert_allclose(found["pose of origin"], quaternions.rotated(back, origin[None]), atol=2e-5)
    for row, what in enumerate(WHATS):
        close = {"atol": 2e-5, "err_msg": what}
        np.testing.assert_allclose(found[f"anchor {what}"], worlds[0][row][:, 0], **close)
        np.testing.assert_allclose(found[f"world {what}"], worlds[0][row].reshape(4, 9), **close)
        np.testing.assert_allclose(found[f"moved {what}"], worlds[1][row].reshape(4, 9), **close)
        np.testing.assert_allclose(found[f"anchor pose {what}"], in_anchor[row], **close)
    np.testing.assert_allclose(found["distance"][:, 0], np.linalg.norm(worlds[0][0], axis=-1).mean(axis=-1), atol=2e-5)
    down = np.array([0.0, 0.6, -0.8])
    wanted = quaternions.rotated(back, down) - quaternions.rotated(quaternions.conjugate(pose[3:]), down)
    np.testing.assert_allclose(found["gravity"], wanted, atol=2e-5)
    np.testing.assert_allclose(found["joints"], q[:, 7:] - clip.joint_positions[4, ::-1], atol=1e-6)
    np.testing.assert_allclose(found["speeds"], [clip.joint_velocities[[4, 6, 21], ::-1].ravel()] * 4, atol=1e-6)
    np.testing.assert_allclose(found["phase"], [[np.cos(8 * np.pi / 21), np.sin(8 * np.pi / 21)]] * 4, atol=1e-6)
    turn = 2 * np.pi * 5.0 * 0.03
    np.testing.assert_allclose(
        found["clock"], [[np.cos(turn), np.sin(turn), np.cos(turn + 1), np.sin(turn + 1)]] * 4, atol=1e-6
    )


@pytest.mark.slow
def test_the_last_observation_of_an_episode_has_the_next_frame(followed, clip):
    observations = {"policy": {"joints": quantity("joints", form="pose"), "anchor": quantity("anchor")}}
    found = []
    for length in (0.04, 1.0):
        with followed(start(), observations=observations, episode_length=length) as simulation:
            simulation.step(4)
            group = simulation.task.observations["policy"]
            found.append((group.final if length == 0.04 else group.values).numpy())

    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    np.testing.assert_allclose(found[0][:, :2], [clip.joint_positions[5, ::-1]] * 4, atol=1e-6)


@pytest.mark.slow
def test_a_checkpoint_resumes_the_frames_and_the_failures(clip, tmp_path):
    path = tmp_path / "ball.npz"
    parts = {"joint_names": (), "joint_positions": np.zeros((FRAMES, 0)), "joint_velocities": np.zeros((FRAMES, 0))}
    parts |= {
        "body_names": ("ball",),
        "body_poses": clip.body_poses[:, 2:],
        "body_velocities": clip.body_velocities[:, 2:],
    }
    attrs.evolve(clip, root="ball", **parts).write(path)
    ball = {"type": "body", "label": "ball", "shapes": [{"type": "sphere", "radius": 0.1}]}
    command = {"type": "motion", "path": str(path), "bin": 0.05}
    task = {"commands": {"clip": command}, "events": start(), "episode_length": 0.05}
    tables = {"simulation": {"device": "cpu", "dt": 0.01}, "scene": {"objects": [ball], "worlds": 2}}
    with pippin.Simulation(
        pippin.structure({**tables, "solver": {"type": "featherstone"}, "task": task})
    ) as simulation:
        simulation.step(7)
        simulation.task.commands["clip"].failures.assign([1.0, 0.0, 2.0, 0.0, 0.5])
        simulation.save(tmp_path / "saved.npz")
        simulation.step(6)
        wanted, record = frames_of(simulation), simulation.state_record()

    with pippin.Simulation.load(tmp_path / "saved.npz") as resumed:
        resumed.step(6)
        assert frames_of(resumed) == wanted
        assert resumed.state_record().difference(record) is None


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("changes", "keys", "fault"),
    [
        ({"rate": 50.0}, {}, r"path: .* has 50 frames per second, and there are 100 control steps; convert it"),
        ({"joint_names": ("elbow", "knee")}, {}, r"path: no joint matches 'knee'"),
        ({}, {"anchor": "head"}, r"anchor: no body matches 'head'"),
        ({}, {"period": [1.0, 1.0]}, r"period: has no use: a motion lasts until the episode ends"),
        ({}, {"path": "none.npz"}, r"path: no file 'none\.npz'"),
        (
            {"is_loop": True},
            {"terminations": {"over": {"type": "motion-end", "command": "clip"}}},
            r"a loop, which has no end",
        ),
        ({}, {"observations": {"policy": {"x": quantity("bodies", ahead=[1])}}}, r"ahead: needs form = \"pose\""),
        (
            {},
            {"observations": {"policy": {"x": quantity("bodies", bodies=["foot"])}}},
            r"no body of the clip matches 'foot'",
        ),
    ],
)
def test_a_wrong_motion_is_refused(floating, clip, tmp_path, changes, keys, fault):
    path = tmp_path / "clip.npz"
    attrs.evolve(clip, **changes).write(path)
    own = {key: keys[key] for key in keys if key not in ("terminations", "observations")}
    task = {key: keys[key] for key in keys if key in ("terminations", "observations")}
    with pytest.raises(pippin.ConfigError, match=fault):
        floating({}, commands={"clip": {"type": "motion", "path": str(path), **own}}, **task)


@pytest.mark.slow
def test_a_term_refuses_a_command_that_follows_no_motion(floating):
    walk = {"walk": {"type": "velocity"}}
    for task in (
        {"events": {"start": {"type": "motion", "command": "walk"}}},
        {"observations": {"policy": {"x": {"of": {"type": "motion-joints", "command": "walk"}}}}},
        {"terminations": {"over": {"type": "motion-end", "command": "walk"}}},
    ):
        with pytest.raises(
            pippin.ConfigError,
            match=r"command: 'walk' follows no motion; choose one of type 'motion'|'walk' follows no motion",
        ):
            floating(task.pop("events", {}), commands=walk, **task)
