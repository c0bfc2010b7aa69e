"""Play each trained policy on each solver of robots: `python docs/play_policies.py [NAME…]`.

The scores go to `docs/images/playing.json`, from which `docs/write_reference.py` writes the page *Trained policies*.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
POLICIES = DOCS / "examples" / "policies"
SCORES = DOCS / "images" / "playing.json"
SOLVERS = ("mujoco-native", "mujoco", "featherstone", "semi-implicit", "xpbd", "vbd", "kamino", "steel")
EPISODES = 16
"""Episodes of each policy on each solver."""

PATIENCE = 600.0
"""Longest time for them [s]."""


def main() -> None:
    """Play the policies, and write each score when it is known."""
    for name in sys.argv[1:] or sorted(path.stem for path in POLICIES.glob("*.toml")):
        for solver in SOLVERS:
            found = json.loads(SCORES.read_text(encoding="utf-8")) if SCORES.is_file() else {"scores": {}}
            found["scores"].setdefault(name, {})[solver] = played(name, solver)
            write(found["scores"])


def write(scores: dict[str, Any]) -> None:
    """Write the scores with a line for each, the date and the number of episodes."""
    rows = []
    for name, row in sorted(scores.items()):
        lines = ",\n".join(f"  {json.dumps(solver)}: {json.dumps(score)}" for solver, score in row.items())
        rows.append(f" {json.dumps(name)}: {{\n{lines}\n }}")
    facts = f'"date": "{date.today()}", "episodes": {EPISODES}'
    SCORES.write_text(f'{{{facts}, "scores": {{\n{",".join(rows)}\n}}}}\n', encoding="utf-8")


def played(name: str, solver: str) -> dict[str, Any]:
    """Return the score of a policy on a solver, or the reason for which the solver refused it or stopped."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--solver", solver, "--episodes", str(EPISODES), "--device", "cpu", "--json", "--out", f"{folder}/run"]
        try:
            done = subprocess.run(
                ["pippin", "play", str(POLICIES / f"{name}.toml"), *words],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return {"stopped": f"not done after {PATIENCE:g} s"}
    if done.returncode == 0:
        score = json.loads(done.stdout)["task"]
        keys = ("mean_return", "mean_return_half_width", "mean_length", "terminated", "diverged")
        return {key: float(f"{score[key]:.4g}") for key in keys}
    error = next(line for line in done.stderr.splitlines() if line.startswith("error: "))
    return {"refused" if done.returncode == 2 else "stopped": shortened(error)}


def shortened(error: str) -> str:
    """Return the reason that an error of a solver gives, without place and cure."""
    if lacks := re.search(r"does not support (.*?) \(", error):
        return f"no `{lacks[1]}`"
    if failed := re.match(r"error: (step \d+)", error):
        return failed[1]
    return re.sub(r"^error: (\S+: )*", "", error).partition(";")[0]


if __name__ == "__main__":
    main()
