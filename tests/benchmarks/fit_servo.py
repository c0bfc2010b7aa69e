"""The friction of a servo from a bench: `uv run python tests/benchmarks/fit_servo.py`.

A servo MX-106 of the library, with friction M4, swings weights of three masses on arms of two lengths by four motions
of 6 s, as in BAM (arXiv 2410.08650). Its torque constant, resistance, rotor inertia and friction are fitted by each
formula from M1 to M6. One motion of each weight judges them: the first formula that is within 5 % of the best one wins.
Goals: M4 wins, and the error of M1 is 1.5 times as large. `--truth m5` gives the servo another friction, and
`--model mx64` is another servo.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pippin
import pippin_fit
from pippin.config import toml_text
from pippin_actuator_servo.friction_config import KEYS_OF_FRICTION
from pippin_actuator_servo.library import read_library

MASSES, LENGTHS, MOTIONS = (0.5, 1.0, 1.5), (0.1, 0.2), 4  # [kg], [m]
WEIGHTS = tuple(product(MASSES, LENGTHS))
MODEL, TRUTH = "mx106", "m4"
DT, DURATION, NOISE, KP = 0.005, 6.0, 1e-4, 8.0
RANGES = {
    "kt": (0.5, 5.0),
    "resistance": (0.5, 10.0),
    "armature": (0.002, 0.2),
    "kc": (0.0, 1.0),
    "kv": (0.0, 1.0),
    "kcs": (0.0, 1.0),
    "vs": (0.05, 10.0),
    "alpha": (0.3, 4.0),
    **dict.fromkeys(("kl", "kls", "km", "ke", "kms", "kes"), (0.0, 1.0)),
    **dict.fromkeys(("kmq", "keq"), (0.0, 0.1)),
}
STARTS = {"kt": 1.8, "resistance": 3.0, "armature": 0.015, "vs": 1.0, "alpha": 1.0, "kmq": 0.005, "keq": 0.005}
"""Those of friction are 0.05, in its units."""


def bench(folder: Path, mass: float, length: float, **servo: Any) -> dict[str, Any]:
    """Return the tables of a servo with a weight."""
    text = (
        f'<mujoco model="bench"><worldbody><body name="weight"><inertial pos="0 0 -{length}" mass="{mass}"'
        f' diaginertia="{mass * 1e-4} {mass * 1e-4} {mass * 1e-4}"/><joint name="servo" axis="0 1 0"/></body>'
        "</worldbody></mujoco>"
    )
    (folder / "bench.xml").write_text(text, encoding="utf-8")
    return {
        "simulation": {"dt": DT, "device": "cpu"},
        "scene": {"assets": [{"path": str(folder / "bench.xml")}]},
        "solver": {"type": "mujoco-native"},
        "actuators": {"servo": {"type": "servo", "joints": [".*"], "kp": KP, **servo}},
    }


def targets(times: np.ndarray, motion: int) -> np.ndarray:
    """Return the targets of a motion [rad], shape [samples, 1]: slow and fast tones, with steps in every second one."""
    random = np.random.default_rng(motion)
    tones = np.array([0.2, 0.45, 0.9, 1.6]) * random.uniform(0.8, 1.2, 4)
    angles = (0.5 / np.sqrt(tones / 0.2) * np.sin(2.0 * np.pi * tones * times[:, None] + random.uniform(0, 6, 4))).sum(
        1
    )
    steps = 0.5 * np.sign(np.sin(2.0 * np.pi * times / 3.0)) if motion % 2 else 0.0
    return ((angles + steps) * np.minimum(times, 1.0))[:, None]


def log(
    folder: Path,
    mass: float,
    length: float,
    motion: int,
    seconds: float = DURATION,
    truth: str = TRUTH,
    model: str = MODEL,
) -> Path:
    """Write a log of the true servo."""
    file, random = folder / f"m{mass}_l{length}_{motion}.npz", np.random.default_rng(motion)
    times = np.arange(round(seconds / DT)) * DT
    told, measured = targets(times, motion), []
    with pippin.Simulation(bench(folder, mass, length, model=model, friction={"type": truth})) as simulation:
        for target in told:
            measured.append(simulation.state.joint_q.numpy().copy())
            simulation.actuators["servo"].position_targets.assign(target[None].astype(np.float32))
            simulation.step()
    position = np.array(measured, dtype=float)
    position += NOISE * random.normal(size=position.shape)
    np.savez(file, time=times, position=position, command=told, joints=np.array(["servo"]))
    return file


def fit(
    folder: Path,
    kind: str,
    logs: Sequence[Path],
    judges: Sequence[Path],
    weights: Sequence[tuple[float, float]],
    model: str = MODEL,
) -> pippin_fit.FitResult:
    """Return the fit of a formula of friction."""
    keys = KEYS_OF_FRICTION[kind]  # pyrefly: ignore[bad-index]
    motor = {name: STARTS[name] for name in ("kt", "resistance", "armature")}
    friction = {name: STARTS.get(name, 0.05) for name in keys}
    places = {name: f"actuators.servo.{name}" for name in motor} | {
        name: f"actuators.servo.friction.{name}" for name in keys
    }
    known = {
        f"m{mass}_l{length}_*.npz": {"bodies.weight.mass": mass, "bodies.weight.com": [0.0, 0.0, -length]}
        for mass, length in weights
    }
    table = {
        "known": known,
        "window": 3.0,
        "burn_in": 0.5,
        "parameters": {place: {"range": list(RANGES[name])} for name, place in places.items()},
    }
    tables = bench(folder, 1.0, 0.15, model=model, **motor, friction={"type": kind, **friction})
    file = folder / f"{kind}.toml"
    file.write_text(toml_text({**tables, "fit": table}), encoding="utf-8")
    return pippin_fit.fit(file, logs, validate=judges, out=folder / f"{kind} of {len(logs)}")


def compare(
    folder: Path,
    kinds: Sequence[str],
    motions: int = MOTIONS,
    seconds: float = DURATION,
    weights: Sequence[tuple[float, float]] = WEIGHTS,
    truth: str = TRUTH,
    model: str = MODEL,
) -> dict[str, Any]:
    """Return the fit of each formula; the last motion of each weight judges."""
    each = product(weights, range(motions))
    logs = {(*own, motion): log(folder, *own, motion, seconds, truth, model) for own, motion in each}
    seen = [file for key, file in logs.items() if key[2] < motions - 1]
    unseen = [file for key, file in logs.items() if key[2] == motions - 1]
    return {kind: fit(folder, kind, seen, unseen, weights, model) for kind in kinds}


def chosen(results: dict[str, Any]) -> str:
    """Return the first formula whose error in logs that it has not seen is within 5 % of the least one."""
    least = min(each.validation[1] for each in results.values())
    return next(kind for kind, each in results.items() if each.validation[1] <= 1.05 * least)


def main() -> None:
    """Print a row for each formula."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="*", default=list(KEYS_OF_FRICTION))
    parser.add_argument("--motions", type=int, default=MOTIONS)
    parser.add_argument("--seconds", type=float, default=DURATION)
    parser.add_argument("--truth", default=TRUTH, help="the friction of the servo")
    parser.add_argument("--model", default=MODEL, help="the servo of the library")
    options = parser.parse_args()
    truth = read_library()[options.model][options.truth]
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        size = (options.motions, options.seconds, WEIGHTS)
        results = compare(Path(folder), options.kinds, *size, options.truth, options.model)
        print("| friction | error, seen [σ] | unseen [σ] | kt (truth) | R (truth) | identified |\n" + "|---" * 6 + "|")
        for kind, result in results.items():
            values = [result.value(f"actuators.servo.{name}")["servo"] for name in ("kt", "resistance")]
            texts = [f"{value:.4g} ({truth[name]})" for name, value in zip(("kt", "resistance"), values, strict=True)]
            count = f"{sum(each.is_identified for each in result.verdicts)} of {len(result.verdicts)}"
            print(f"| {kind} | {result.costs[-1]:.2f} | {result.validation[1]:.2f} | {' | '.join(texts)} | {count} |")
    print(f"chosen: {chosen(results)}, in {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
