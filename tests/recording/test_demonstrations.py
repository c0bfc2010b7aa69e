"""Recorders of whole episodes: datasets of LeRobot and robomimic, read by pyarrow, PyAV and h5py."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import attrs
import av
import h5py
import numpy as np
import pippin
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pippin.recording.joining import refuse_unjoinable
from pippin_fit.readers.configs import LeRobotConfig
from pippin_fit.readers.lerobot import LeRobotReader

from .conftest import robot, tables

WORLDS = (0, 2)
EPISODE = 8
STEPS = 20
RESET = 12
"""Steps before world 2 is reset by hand."""

CAMERA = {
    "type": "camera",
    "width": 32,
    "height": 16,
    "vertical_fov": 1.0,
    "position": [2.0, 0.0, 1.0],
    "look_at": [0.0, 0.0, 0.0],
    "outputs": ["color"],
}
TASK = {
    "episode_length": EPISODE * 0.02,
    "actions": {"targets": {"type": "joint-targets", "actuator": "hinges"}},
    "observations": {"policy": {"positions": {"of": "joint-positions"}}},
    "rewards": {"alive": {"type": "alive", "weight": 2.0}},
    "events": {"start": {"type": "joints", "joints": ["hinge_.*"], "position": [-0.5, 0.5]}},
}

CHOICES = (("every", "lerobot", "all"), ("kept", "lerobot", "success"), ("demos", "robomimic", "all"))


def simulation(folder: Path | None, recorders: dict[str, Any], **changes: Any) -> pippin.Simulation:
    config = tables(recorders) | {"task": TASK} | changes
    config["simulation"] = config["simulation"] | {"decimation": 10}
    return pippin.Simulation(pippin.structure(config), prototype=robot(), folder=folder)


@attrs.frozen(eq=False)
class Demonstrated:
    """A folder with both datasets, a copy of it before the end of the run, and what was recorded by world."""

    folder: Path
    unfinished: Path
    before: np.ndarray
    actions: np.ndarray
    images: np.ndarray


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> Demonstrated:
    """Twenty steps of two worlds, whose episodes end after eight; world 2 is reset by hand after twelve."""
    folder, copy = tmp_path_factory.mktemp("demos") / "run", tmp_path_factory.mktemp("demos") / "copy"
    shared = {"worlds": list(WORLDS), "flush_period": 0.0}
    recorders = {
        "lerobot": {"type": "lerobot", "instruction": "swing", **shared},
        "robomimic": {"type": "robomimic", **shared},
    }
    draws = np.random.default_rng(3)
    before, actions, images = [], [], []
    with simulation(folder, recorders, sensors={"front": CAMERA}) as running:
        task: Any = running.task
        for step in range(STEPS):
            if step == RESET:
                running.reset([2])
            action = draws.uniform(-1.0, 1.0, task.episodes.action.shape).astype(np.float32)
            task.episodes.action.assign(action)
            before.append(running.state.joint_q.numpy().reshape(4, -1)[list(WORLDS)].copy())
            images.append(running.sensors["front"].outputs["color"].data.numpy()[list(WORLDS), 0, :, :, :3].copy())
            actions.append(action[list(WORLDS)])
            running.step()
        for recorder in running.recorders.values():
            recorder.flush()
        recorder = running.recorders["lerobot"]
        recorder._encoder.call(int).result()  # the videos of what has ended are complete
        recorder.commit()
        shutil.copytree(folder, copy)
    return Demonstrated(folder, copy, np.array(before), np.array(actions), np.array(images))


def pieces() -> list[tuple[int, slice]]:
    """Return world and steps of each episode, in the order in which they end."""
    return [
        (0, slice(0, 8)),
        (1, slice(0, 8)),
        (1, slice(8, 12)),
        (0, slice(8, 16)),
        (1, slice(12, 20)),
        (0, slice(16, 20)),
    ]


def table_of(dataset: Path) -> pa.Table:
    return pa.concat_tables(pq.read_table(file) for file in sorted(dataset.glob("data/chunk-*/file-*.parquet")))


def episodes_of(dataset: Path) -> list[dict[str, Any]]:
    files = sorted(dataset.glob("meta/episodes/chunk-*/file-*.parquet"))
    return pa.concat_tables(pq.read_table(file) for file in files).to_pylist()


def column(table: pa.Table, name: str) -> np.ndarray:
    return np.array(table.column(name).to_pylist())


@pytest.mark.slow
def test_a_dataset_declares_its_features(demonstrated):
    dataset = demonstrated.folder / "lerobot"
    info = json.loads((dataset / "meta" / "info.json").read_text())
    tasks = pq.read_table(dataset / "meta" / "tasks.parquet")
    table = table_of(dataset)

    counts = [info[f"total_{name}"] for name in ("episodes", "frames", "tasks")]
    assert (info["codebase_version"], info["fps"], counts) == ("v3.0", 50, [6, 40, 1])
    assert info["splits"] == {"train": "0:6"}
    state = info["features"]["observation.state"]
    assert (state["dtype"], state["shape"]) == ("float32", [len(state["names"])])
    assert info["features"]["observation.images.front"]["shape"] == [16, 32, 3]
    assert table.schema.field("action").type == pa.list_(pa.field("element", pa.float32()), 2)
    assert table.schema.field("next.done").type == pa.bool_()
    assert [*table.column_names] == [name for name, each in info["features"].items() if each["dtype"] != "video"]
    assert tasks.to_pydict() == {"task_index": [0], "task": ["swing"]}


@pytest.mark.slow
def test_a_frame_has_what_preceded_its_action(demonstrated):
    table = table_of(demonstrated.folder / "lerobot")

    places = pieces()
    before = np.concatenate([demonstrated.before[steps, world] for world, steps in places])
    actions = np.concatenate([demonstrated.actions[steps, world] for world, steps in places])
    assert column(table, "simulation.joint_q") == pytest.approx(before, abs=0.0)
    assert column(table, "action") == pytest.approx(actions, abs=0.0)
    numbers = np.concatenate([np.full(steps.stop - steps.start, k) for k, (_, steps) in enumerate(places)])
    assert column(table, "episode_index").tolist() == numbers.tolist()
    frames = np.concatenate([np.arange(steps.stop - steps.start) for _, steps in places])
    assert column(table, "timestamp") == pytest.approx(frames / 50.0, abs=1e-6)
    done = np.flatnonzero(column(table, "next.done"))
    assert done.tolist() == [7, 15, 27, 35]  # world 2 was reset by hand after 12 steps; the run ended after 20
    assert column(table, "next.reward") == pytest.approx(0.04)  # for each second, 2


@pytest.mark.slow
def test_rows_of_episodes_find_their_frames(demonstrated):
    dataset = demonstrated.folder / "lerobot"
    rows, table = episodes_of(dataset), table_of(dataset)

    assert [row["length"] for row in rows] == [8, 8, 4, 8, 8, 4]
    for row in rows:
        file = dataset / f"data/chunk-{row['data/chunk_index']:03d}/file-{row['data/file_index']:03d}.parquet"
        indices = column(pq.read_table(file), "index")
        assert {row["dataset_from_index"], row["dataset_to_index"] - 1} <= set(indices.tolist())
        frames = slice(row["dataset_from_index"], row["dataset_to_index"])
        own = column(table, "action")[frames]
        assert row["stats/action/mean"] == pytest.approx(own.mean(axis=0), abs=1e-6)
        assert row["stats/action/q90"] == pytest.approx(np.quantile(own, 0.9, axis=0), abs=1e-6)
        assert row["stats/action/count"] == [row["length"]]


@pytest.mark.slow
def test_the_statistics_are_those_of_all_frames(demonstrated):
    dataset = demonstrated.folder / "lerobot"
    stats = json.loads((dataset / "meta" / "stats.json").read_text())
    actions = column(table_of(dataset), "action")
    images = np.stack([demonstrated.images[steps, world] for world, steps in pieces() for steps in range(20)[steps]])

    assert stats["action"]["std"] == pytest.approx(actions.std(axis=0), abs=1e-6)
    assert stats["action"]["max"] == pytest.approx(actions.max(axis=0), abs=0.0)
    assert stats["action"]["count"] == [40]
    few = images[:, ::2, ::2] / 255.0
    found = stats["observation.images.front"]
    assert np.array(found["mean"]) == pytest.approx(few.mean(axis=(0, 1, 2)).reshape(3, 1, 1), abs=1e-9)
    assert np.array(found["std"]) == pytest.approx(few.std(axis=(0, 1, 2)).reshape(3, 1, 1), abs=1e-9)


@pytest.mark.slow
def test_a_video_has_the_images_at_their_times(demonstrated):
    dataset = demonstrated.folder / "lerobot"

    for index, (world, steps) in enumerate(pieces()):
        file = dataset / f"videos/observation.images.front/chunk-000/file-{index:03d}.mp4"
        with av.open(str(file)) as video:
            frames = list(video.decode(video=0))
        assert [frame.time for frame in frames] == pytest.approx(np.arange(len(frames)) / 50.0, abs=1e-9)
        shown = np.stack([frame.to_ndarray(format="rgb24") for frame in frames]).astype(float)
        error = np.abs(shown - demonstrated.images[steps, world])
        assert error.mean() < 2.0  # of 255: colours have half the resolution, and are compressed
    assert demonstrated.images.std() > 5.0


@pytest.mark.slow
def test_a_dataset_that_was_cut_off_has_whole_episodes(demonstrated):
    dataset = demonstrated.unfinished / "lerobot"
    info = json.loads((dataset / "meta" / "info.json").read_text())
    rows, table = episodes_of(dataset), table_of(dataset)

    assert (info["total_episodes"], len(rows), len(table)) == (5, 5, 36)
    assert (dataset / "unfinished").is_dir()
    assert not (demonstrated.folder / "lerobot" / "unfinished").exists()
    assert len(list(dataset.glob("videos/*/chunk-000/file-*.mp4"))) == 5


@pytest.mark.slow
def test_robomimic_has_the_same_numbers(demonstrated):
    table = table_of(demonstrated.folder / "lerobot")

    for folder, count in ((demonstrated.folder, 6), (demonstrated.unfinished, 5)):
        with h5py.File(folder / "robomimic.hdf5", locking=False) as file:
            assert sorted(file["data"]) == [f"demo_{index}" for index in range(count)]
            assert file["data"].attrs["total"] == sum(each.attrs["num_samples"] for each in file["data"].values())
            for index, (world, steps) in enumerate(pieces()[:count]):
                demo = file[f"data/demo_{index}"]
                rows = column(table, "episode_index") == index
                for ours, theirs in (("actions", "action"), ("obs/state", "observation.state")):
                    assert demo[ours][:] == pytest.approx(column(table, theirs)[rows], abs=0.0)
                assert np.array_equal(demo["obs/front_image"][:], demonstrated.images[steps, world])
                assert demo["states"][:, : demonstrated.before.shape[2]] == pytest.approx(
                    demonstrated.before[steps, world], abs=0.0
                )


def test_episodes_are_kept_if_they_are_asked_for(tmp_path):
    recorders = {"demos": {"type": "lerobot", "keep": "asked", "images": []}}
    with simulation(tmp_path, recorders) as running:
        demos: Any = running.recorders["demos"]
        running.step(5)
        first = demos.decide(keep=True)
        running.step(2)  # before the reset: of no episode
        running.reset()
        running.step(3)
        demos.decide(keep=False)
        running.reset()
        running.step(4)

    rows = episodes_of(tmp_path / "demos")
    assert (first, [row["length"] for row in rows]) == (1, [5])


def test_a_frame_tells_whether_it_is_a_success(tmp_path):
    """A drive brings the hinges to a place of each world; the limit lies between the places."""
    keys = {"type": "within", "of": {"type": "joint-positions", "joints": ["hinge_0"]}, "limit": 0.3, "latch": False}
    task = TASK | {"metrics": {"success": keys}}
    recorders = {
        name: {"type": kind, "keep": keep, "worlds": "0:4", "flush_period": 0.0} for name, kind, keep in CHOICES
    }
    with simulation(tmp_path, recorders, task=task) as running:
        names = list(running.task.observations["policy"].labels)
        hinge = names.index(next(name for name in names if "hinge_0" in name))
        shown = np.zeros((4, 2 * EPISODE), dtype=bool)
        for step in range(2 * EPISODE):
            running.step()
            seen = running.task.observations["policy"]
            ended = running.task.episodes.finished.numpy()
            shown[:, step] = np.abs(np.where(ended, seen.final.numpy()[:, hinge], seen.values.numpy()[:, hinge])) <= 0.3
        ends = shown[:, EPISODE - 1 :: EPISODE].T.ravel()

    every, kept = table_of(tmp_path / "every"), table_of(tmp_path / "kept")
    rows = [shown[world, first : first + EPISODE] for first in (0, EPISODE) for world in range(4)]
    assert 0 < ends.sum() < len(ends)
    np.testing.assert_array_equal(column(every, "next.success"), np.concatenate(rows))
    chosen = [row for row, is_success in zip(rows, ends, strict=True) if is_success]
    np.testing.assert_array_equal(column(kept, "next.success"), np.concatenate(chosen))
    with h5py.File(tmp_path / "demos.hdf5") as file:
        assert [bool(each.attrs["success"]) for _, each in sorted(file["data"].items())] == ends.tolist()


@pytest.mark.slow
def test_a_fit_reads_the_dataset(tmp_path):
    recorders = {"demos": {"type": "lerobot", "state": ["joint_q"], "action": [".*/position_targets"]}}
    with simulation(tmp_path, recorders, task=None) as running:
        labels = running.actuators["hinges"].joint_labels
        running.step(5)

    with pytest.raises(pippin.ConfigError, match=r"has no .free:0"):  # no drive moves the ball
        list(LeRobotReader(LeRobotConfig()).read(tmp_path / "demos", "position"))
    action = json.loads((tmp_path / "demos/meta/info.json").read_text())["features"]["action"]
    assert action["names"] == list(labels)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"worlds": [0, 1, 3]}, "worlds: the worlds are not evenly spaced"),
        ({"state": ["nothing"]}, "state: no channel matches 'nothing'"),
        ({"images": ["joint_q"]}, "images: 'joint_q' has no colours"),
        ({"period": 0.1}, "period: must be left out"),
    ],
)
def test_a_wrong_setting_is_refused(tmp_path, changes, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        simulation(tmp_path, {"demos": {"type": "lerobot", **changes}})


def test_a_rate_that_is_no_whole_number_is_refused(tmp_path):
    config = tables({"demos": {"type": "lerobot"}})
    config["simulation"] = config["simulation"] | {"dt": 0.006}

    with pytest.raises(pippin.ConfigError, match=r"makes 166.667 frames per second"):
        pippin.Simulation(pippin.structure(config), prototype=robot(), folder=tmp_path)


def test_folders_of_several_processes_are_refused(tmp_path):
    refuse_unjoinable("", tmp_path / "demos.v2", is_split=False)

    with pytest.raises(pippin.ConfigError, match="worlds: folders cannot be read back"):
        refuse_unjoinable("", tmp_path / "demos", is_split=True)


def test_other_files_are_not_removed(tmp_path):
    (tmp_path / "demos").mkdir()
    (tmp_path / "demos" / "thesis.txt").write_text("all of it")

    with simulation(tmp_path, {"demos": {"type": "lerobot"}}) as running:  # noqa: SIM117  (only the step is refused)
        with pytest.raises(pippin.PippinError, match="is not empty, and no dataset of Pippin"):
            running.step()

    assert (tmp_path / "demos" / "thesis.txt").read_text() == "all of it"


@pytest.mark.slow
@pytest.mark.skipif("PIPPIN_LEROBOT_PYTHON" not in os.environ, reason="no interpreter with lerobot and robomimic")
@pytest.mark.parametrize("library", ["lerobot", "robomimic"])
def test_the_library_itself_reads_it(demonstrated, library, tmp_path):
    script = Path(__file__).parent / "read_by_library.py"
    dataset = demonstrated.folder / {"lerobot": "lerobot", "robomimic": "robomimic.hdf5"}[library]
    read = tmp_path / "read.npz"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    subprocess.run([os.environ["PIPPIN_LEROBOT_PYTHON"], script, library, dataset, read], env=environment, check=True)

    table, arrays = table_of(demonstrated.folder / "lerobot"), np.load(read)
    assert arrays["action"] == pytest.approx(column(table, "action"), abs=0.0)
    assert arrays["state"] == pytest.approx(column(table, "observation.state"), abs=0.0)
    assert arrays["image"].shape == (40, 3, 16, 32)
    truth = np.concatenate([demonstrated.images[steps, world] for world, steps in pieces()]).transpose(0, 3, 1, 2)
    assert np.abs(arrays["image"] * 255.0 - truth).mean() < 4.0
