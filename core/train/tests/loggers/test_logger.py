"""Loggers: what a training tells, read back by the libraries of TensorBoard, Weights & Biases and MLflow."""

import json
import struct

import numpy as np
import pytest
from click.testing import CliRunner
from pippin.cli import main

NOTES = '''
import json
import attrs
from pippin_train import Logger

@attrs.frozen(kw_only=True)
class NotesConfig:
    """Notes all calls in a file."""
    implementation = "Notes"
    fault: str = ""

class Notes(Logger):
    def __init__(self, config, run):
        super().__init__(config, run)
        self.key = f"key after {run.key}"
        self.note("run", sorted(run.settings))
    def note(self, *what):
        with open(self.run.folder / "notes", "a") as file:
            file.write(json.dumps(what) + "\\n")
        if self.config.fault == what[0]:
            raise ValueError("no connection")
    def add_numbers(self, numbers, iteration):
        self.note("numbers", iteration, numbers)
    def add_file(self, path, iteration):
        self.note("file", path.name, iteration)
    def close(self, ending):
        self.note("close", ending)
'''


@pytest.fixture
def folder(law_folder):
    """A folder with a training in `law.toml`, and a logger in `notes.py`."""
    (law_folder / "notes.py").write_text(NOTES)
    return law_folder


def train(*words, code=0):
    result = CliRunner().invoke(main, ["train", "law.toml", "--set", "trainer.iterations=3", *words])
    assert result.exit_code == code, result.output
    return result


def notes(name="out"):
    with open(f"{name}/notes") as file:
        return [json.loads(line) for line in file]


def test_a_logger_gets_the_settings_each_row_the_files_and_the_end(folder):
    train("--out", "out", "--logger", "notes.py:NotesConfig")

    found = notes()
    assert found[0][0] == "run"
    assert {"scene", "task", "trainer", "loggers"} <= set(found[0][1])
    rows = [each for each in found if each[0] == "numbers"]
    assert [each[1] for each in rows] == [1, 2, 3]
    assert {"steps", "mean_return", "played_return", "std", "kl", "reward/alive", "ended/fallen"} <= rows[-1][2].keys()
    assert (rows[-1][2]["std"], rows[-1][2]["played_return"]) == (1.7, 100.0)
    files = [each for each in found if each[0] == "file"]
    assert files == [["file", name, 3] for name in ("config.toml", "policy.onnx", "report.html")]
    assert found[-1] == ["close", "finished"]


def test_a_resumed_training_finds_its_key(folder):
    words = ("--logger", "notes.py:NotesConfig")
    train("--out", "out", *words, "--iterations", "2")

    train("--resume", "out", *words)

    state = json.loads((folder / "out" / "training.json").read_text())
    assert state["loggers"] == {"notes": "key after key after None"}
    assert [each[1] for each in notes() if each[0] == "numbers"] == [1, 2, 3]


def test_a_logger_that_fails_ends_alone(folder):
    result = train("--out", "out", "--set", 'loggers.a={type="notes.py:NotesConfig", fault="numbers"}')

    assert "loggers.a: has ended, as" in result.output
    assert "add_numbers raised ValueError: no connection" in result.output
    assert result.output.count("loggers.a:") == 1
    assert [each[0] for each in notes()] == ["run", "numbers"]
    assert json.loads((folder / "out" / "training.json").read_text())["iteration"] == 3


def test_a_logger_that_cannot_begin_ends_the_training(folder):
    result = train("--out", "out", "--set", 'loggers.a={type="notes.py:NotesConfig", fault="run"}', code=3)

    assert "__init__ raised ValueError: no connection" in result.output


@pytest.mark.parametrize(
    ("word", "told"), [("nobody", "installed loggers: mlflow"), ("tensorbord", "did you mean 'tensorboard'")]
)
def test_an_unknown_logger_is_named(folder, word, told):
    assert told in train("--logger", word, code=3).output


def video(path):
    """Write a video of 12 images, 40 × 30, which become brighter."""
    av = pytest.importorskip("av")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=20)
        stream.width, stream.height, stream.pix_fmt = 40, 30, "yuv420p"
        for index in range(12):
            image = np.full((30, 40, 3), 20 * index, dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())


def test_tensorboard_reads_what_was_logged(folder):
    pytest.importorskip("tensorboard", reason="the extra pippin[tensorboard] is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train("--out", "out", "--logger", "tensorboard", "--iterations", "2")
    video(folder / "out" / "walk.mp4")
    train("--resume", "out", "--logger", "tensorboard")

    read = EventAccumulator(str(folder / "out" / "tensorboard"))
    read.Reload()
    scalars = read.Scalars("reward/alive")
    assert [each.step for each in scalars] == [1, 2, 3]
    assert read.Scalars("std")[0].value == pytest.approx(1.7)
    assert read.Scalars("played_return")[-1].value == 100.0
    (image,) = read.Images("walk")
    assert (image.width, image.height, image.encoded_image_string[:3]) == (40, 30, b"GIF")
    text = read.Tensors("settings")[0].tensor_proto.string_val[0].decode()
    assert '"iterations": 2' in text
    assert read.Tensors("ending")[-1].tensor_proto.string_val == [b"finished"]


def records(path):
    """Yield the records of an offline run: blocks of 32 KiB, and a head of 7 bytes before each part of a record."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, place, parts = path.read_bytes(), 7, b""
    while place + 7 <= len(data):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
        _, size, kind = struct.unpack("<IHB", data[place : place + 7])
        parts += data[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (1, 4):  # the whole record, or its last part
            yield Record.FromString(parts)
            parts = b""


@pytest.mark.slow
def test_weights_and_biases_has_what_was_logged(folder, monkeypatch):
    pytest.importorskip("wandb", reason="the extra pippin[wandb] is not installed")
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")

    train("--out", "out", "--set", 'loggers.board={type="wandb", mode="offline", project="legs"}')

    key = json.loads((folder / "out" / "training.json").read_text())["loggers"]["board"]
    (file,) = (folder / "out" / "wandb").glob(f"offline-run-*-{key}/run-{key}.wandb")
    found = list(records(file))
    rows = [{item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in each.history.item}
            for each in found if each.history.item]  # fmt: skip
    told = [each for each in rows if "reward/alive" in each]
    assert [each["_step"] for each in told] == [1, 2, 3]
    assert (told[-1]["std"], told[-1]["played_return"]) == (1.7, 100.0)
    assert [each["report/_type"] for each in rows if "report/_type" in each] == ["html-file"]
    (run,) = [each.run for each in found if each.run.run_id]
    assert (run.project, run.display_name) == ("legs", "out")
    assert "trainer" in {item.key for item in run.config.update}


def test_mlflow_reads_what_was_logged(folder, monkeypatch):
    pytest.importorskip("mlflow", reason="the extra pippin[mlflow] is not installed")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    from mlflow import MlflowClient

    train("--out", "out", "--logger", "mlflow", "--iterations", "2")
    video(folder / "out" / "walk.mp4")
    train("--resume", "out", "--logger", "mlflow")

    client = MlflowClient(tracking_uri=f"sqlite:///{folder / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("pippin")
    (run,) = client.search_runs([experiment.experiment_id])
    history = client.get_metric_history(run.info.run_id, "reward/alive")
    assert [each.step for each in history] == [1, 2, 3]
    assert run.data.metrics["std"] == 1.7
    assert run.data.params["trainer.iterations"] == "2", "as it began"
    assert (run.info.status, run.info.run_name) == ("FINISHED", "out")
    names = {each.path for each in client.list_artifacts(run.info.run_id)}
    assert {"walk.mp4", "report.html", "policy.onnx", "config.toml"} <= names
