"""Policies that met one solver or several, on one that none has met: `python tests/benchmarks/several_solvers.py NAME`.

NAME is a training of `docs/examples/training`, by default the ant. It is repeated with each seed and the same budget:
once on the first solver alone, and once on all of `--solvers`, in equal numbers of worlds. Then each policy plays on
these solvers and on those of `--unseen`. Rows of a table are printed as they are known. Runs that are complete in
`--runs` are not repeated.

The efforts of the motors are those of the file of the policy, which every solver takes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from pippin.config import toml_text

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def main() -> None:
    """Train, play, and print a row for each policy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="ant", help="a training of docs/examples/training")
    parser.add_argument(
        "--solvers", default="mujoco-native,motrix", help="solvers, some NAME@FOLDER, the first also alone"
    )
    parser.add_argument("--unseen", default="physx@envs/physx", help="solvers to play on besides")
    parser.add_argument("--seeds", default="0,1,2", help="seeds, separated by commas")
    parser.add_argument("--iterations", type=int, help="iterations of a training; by default those of the file")
    parser.add_argument("--episodes", type=int, default=16, help="episodes of a policy on a solver")
    parser.add_argument("--runs", type=Path, default=Path("runs/several"), help="folder of the run folders")
    options = parser.parse_args()
    known, unseen = ([placed(name) for name in names.split(",")] for names in (options.solvers, options.unseen))
    played = [*known, *(name for name in unseen if name)]
    print(f"| trained on | seed | {' | '.join(map(short, played))} |\n|{'---|' * (2 + len(played))}")
    for seed in map(int, options.seeds.split(",")):
        for solvers in (known[:1], known):
            folder = options.runs / f"{options.name}-{'+'.join(map(short, solvers))}-{seed}"
            train(options.name, solvers, seed, options.iterations, folder)
            cells = [play(options.name, folder, solver, options.episodes) for solver in played]
            print(f"| {', '.join(map(short, solvers))} | {seed} | {' | '.join(cells)} |", flush=True)


def placed(name: str) -> str:
    """Return NAME@FOLDER with the whole path of its folder, as files that are written elsewhere need it."""
    solver, at, folder = name.partition("@")
    return f"{solver}@{Path(folder).absolute()}" if at else solver


def short(name: str) -> str:
    """Return the name of a solver without its folder."""
    return name.partition("@")[0]


def train(name: str, solvers: list[str], seed: int, iterations: int | None, folder: Path) -> None:
    """Train on some solvers in a folder, unless it has the whole training."""
    state = folder / "training.json"
    known = json.loads(state.read_text(encoding="utf-8")) if state.is_file() else {"iteration": 0, "iterations": 1}
    if known["iteration"] < known["iterations"]:
        own = tomllib.loads((EXAMPLES / "policies" / f"{name}.toml").read_text(encoding="utf-8"))
        tables: dict[str, Any] = {"extends": [str(EXAMPLES / "training" / f"{name}.toml")]}
        tables |= {"simulation": {"seed": seed, "device": "cpu"}, "task": {"solvers": solvers}}
        if iterations is not None:
            tables["trainer"] = {"iterations": iterations}
        if "actuators" in own:
            tables["actuators"], tables["task"]["actions"] = own["actuators"], own["task"]["actions"]
        file = folder.with_suffix(".toml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(toml_text(tables), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)  # of a training that was stopped
        subprocess.run(["pippin", "train", str(file), "--out", str(folder)], check=True, stdout=subprocess.DEVNULL)


def play(name: str, folder: Path, solver: str, episodes: int) -> str:
    """Return the mean return of a policy on a solver, and the episodes that ended early; or that it was stopped."""
    solver, _, environment = solver.partition("@")
    out = folder / f"play-{solver}"
    if not (out / "summary.json").is_file():
        words = ["--policy", str(folder / "policy.onnx"), "--solver", solver, "--episodes", str(episodes)]
        words += ["--set", f"solver.environment={environment}"] if environment else []
        file = EXAMPLES / "policies" / f"{name}.toml"
        subprocess.run(
            ["pippin", "play", str(file), *words, "--device", "cpu", "--out", str(out)], stdout=subprocess.DEVNULL
        )
    score = json.loads((out / "summary.json").read_text(encoding="utf-8"))["task"]
    if not score["episodes"]:
        return "stopped"
    return f"{score['mean_return']:,.0f} ± {score['mean_return_half_width']:,.0f} ({score['terminated']})"


if __name__ == "__main__":
    main()
