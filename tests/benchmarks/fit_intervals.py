"""How often intervals of `pippin fit` hold the truth: `uv run python tests/benchmarks/fit_intervals.py`.

A double pendulum follows tones, with six true values of armature, damping and friction. Each seed draws noise of its
positions and velocities, white or coloured, and a fit, which estimates the noise, gives an interval of each value: the
one for white residuals, and that of blocks. Goal: 90 to 98 % of the intervals of 95 % hold the truth; with coloured
noise, those of blocks.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pippin_fit
from pippin.config import toml_text

sys.path.insert(0, str(Path(__file__).parents[2]))
from core.fit.tests import arms

NOISE = 1e-4
RANGES = {"armature": [1e-3, 1.0], "damping": [0.0, 5.0], "friction": [0.0, 2.0]}


def coloured(random: np.random.Generator, shape: tuple[int, ...], share: float) -> np.ndarray:
    """Return noise of size 1, of which each sample keeps a share of the one before."""
    noise = random.normal(size=shape)
    for at in range(1, len(noise)):
        noise[at] = share * noise[at - 1] + np.sqrt(1.0 - share**2) * noise[at]
    return noise


def held(folder: Path, seeds: int, share: float, **fit: object) -> tuple[float, float]:
    """Return how many intervals hold the truth, of those for white residuals and of those of blocks."""
    truth = {name: {".*shoulder": one, ".*elbow": two} for name, (one, two) in arms.TRUTH.items()}
    clean = arms.log(folder / "log.npz", arms.tables(folder, **truth), seconds=10.0)
    starts = {name: {".*shoulder": 0.7 * one, ".*elbow": 0.7 * two} for name, (one, two) in arms.TRUTH.items()}
    parameters = {f"actuators.arm.{name}": {"range": ends} for name, ends in RANGES.items()}
    table = {"parameters": parameters, "logs": ["log.npz"], **fit}
    file = folder / "arm.toml"
    file.write_text(toml_text({**arms.tables(folder, **starts), "fit": table}), encoding="utf-8")
    counts = np.zeros(2)
    for seed in range(seeds):
        random = np.random.default_rng(1000 + seed)
        noisy = dict(clean)
        for name, size in (("position", NOISE), ("velocity", 10.0 * NOISE)):
            noisy[name] = clean[name] + size * coloured(random, clean[name].shape, share)
        np.savez(folder / "log.npz", **noisy)
        with tempfile.TemporaryDirectory() as out, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = pippin_fit.fit(file, out=out)
        for verdict in result.verdicts:
            kind = verdict.key.rpartition(".")[2]
            error = abs(verdict.value - arms.TRUTH[kind][0 if verdict.name == "shoulder" else 1])
            counts += [error <= verdict.half_width, error <= (verdict.block_half_width or 0.0)]
    return tuple((counts / (6 * seeds)).tolist())


def main() -> None:
    """Print a row for each noise and each way to start a window."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--set", dest="ways", nargs="*", default=["measured", "estimated"], help="starts of windows")
    parser.add_argument("--noise", dest="shares", type=float, nargs="*", default=[0.0, 0.8], help="0 for white noise")
    options = parser.parse_args()
    print("| noise | starts | held, ± 95 % | held, by blocks |")
    print("|---" * 4 + "|")
    for share in options.shares:
        for way in options.ways:
            with tempfile.TemporaryDirectory() as folder:
                white, blocks = held(
                    Path(folder), options.seeds, share, **({} if way == "measured" else {"start": way})
                )
            noise = "white" if share == 0.0 else f"coloured, {share:g}"
            print(f"| {noise} | {way} | {100 * white:.0f} % | {100 * blocks:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
