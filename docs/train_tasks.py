"""Repeat the trainings of `docs/examples/training`: `python docs/train_tasks.py [NAME…] [--seeds 0,1,2] [--add]`.

Each training is `pippin train` in a folder of its own, and one that is complete there is not repeated. The policy with
the best mean return over 64 episodes goes to `docs/examples/policies`, and the curves to `docs/images/training.json`:
those of the seeds alone or, with `--add`, beside those of further seeds, which the same file was trained with before.
Then `docs/draw_training.py` draws them, and `docs/write_reference.py` writes the page *Trained policies*.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
TRAININGS = DOCS / "examples" / "training"
POLICIES = DOCS / "examples" / "policies"
CURVES = DOCS / "images" / "training.json"

EPISODES = 64
"""Episodes of an evaluation."""

POINTS_MAX = 40
"""Largest number of points of a curve."""


def main() -> None:
    """Train, evaluate, and write what was learned."""
    parser = argparse.ArgumentParser(description="Repeat the trainings of the documentation.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="trainings, by default all")
    parser.add_argument("--seeds", default="0", help="seeds, separated by commas")
    parser.add_argument("--runs", type=Path, default=Path("runs/tasks"), help="folder of the run folders")
    parser.add_argument("--add", action="store_true", help="keep the curves of other seeds")
    arguments = parser.parse_args()
    seeds = [int(text) for text in arguments.seeds.split(",")]
    for name in arguments.names or sorted(path.stem for path in TRAININGS.glob("*.toml")):
        folders = {seed: arguments.runs / f"{name}-{seed}" for seed in seeds}
        for seed, folder in folders.items():
            train(name, seed, folder)
        publish(name, folders, is_added=arguments.add)


def train(name: str, seed: int, folder: Path) -> None:
    """Train with a seed in a folder, unless it has the whole training already."""
    state = folder / "training.json"
    if state.is_file() and (known := json.loads(state.read_text(encoding="utf-8")))["iteration"] == known["iterations"]:
        return
    shutil.rmtree(folder, ignore_errors=True)  # of a training that was stopped
    seeded = ["--set", f"simulation.seed={seed}", "--device", "cpu", "--out", str(folder)]
    subprocess.run(["pippin", "train", str(TRAININGS / f"{name}.toml"), *seeded], check=True)


def publish(name: str, folders: dict[int, Path], *, is_added: bool) -> None:
    """Evaluate the trainings of some seeds, and write the best policy and all curves, beside those of others or not."""
    scores = {seed: play(name, "--policy", str(folder / "policy.onnx")) for seed, folder in folders.items()}
    curves = json.loads(CURVES.read_text(encoding="utf-8"))
    rows = curves[name]["seeds"] if is_added else {}
    rows |= {str(seed): row(folders[seed], score) for seed, score in scores.items()}
    best = int(max(rows, key=lambda seed: rows[seed]["return"]))
    if best in folders:
        shutil.copyfile(folders[best] / "policy.onnx", POLICIES / f"{name}.onnx")
    curves[name] = {"policy": best, "cores": os.cpu_count(), "seeds": dict(sorted(rows.items()))}
    write_curves(curves)


def play(name: str, *options: str) -> dict[str, Any]:
    """Return the score of a policy over whole episodes."""
    with tempfile.TemporaryDirectory() as folder:
        words = [*options, "--episodes", str(EPISODES), "--device", "cpu", "--json", "--out", f"{folder}/run"]
        command = ["pippin", "play", str(POLICIES / f"{name}.toml"), *words]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)["task"]


def row(folder: Path, score: dict[str, Any]) -> dict[str, Any]:
    """Return steps, times, score and curve of a training."""
    training = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    with (folder / "training.csv").open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["mean_return"]]
    points = [(int(line["steps"]), float(line["mean_return"])) for line in lines]
    places = {round(index * (len(points) - 1) / (POINTS_MAX - 1)) for index in range(POINTS_MAX)}
    return {
        "steps": training["steps"],
        "wall": rounded(training["seconds"]),
        "cpu": rounded(training["cpu_seconds"]),
        "return": rounded(score["mean_return"], 4),
        "half_width": rounded(score["mean_return_half_width"], 2),
        "length": rounded(score["mean_length"]),
        "ended": score["terminated"],
        "metrics": {label: rounded(metric["mean"]) for label, metric in score["metrics"].items()},
        "curve": [[rounded(value) for value in points[place]] for place in sorted(places)],
    }


def rounded(value: float, digits: int = 3) -> float:
    """Return a number with some significant digits."""
    return json.loads(f"{value:.{digits}g}")


def write_curves(curves: dict[str, Any]) -> None:
    """Write all trainings, with a line for each seed."""
    texts = []
    for name, training in sorted(curves.items()):
        seeds = ",\n".join(f"  {json.dumps(seed)}: {json.dumps(row)}" for seed, row in training["seeds"].items())
        facts = json.dumps({key: value for key, value in training.items() if key != "seeds"})
        texts.append(f'{json.dumps(name)}: {facts[:-1]}, "seeds": {{\n{seeds}}}}}')
    CURVES.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
