"""Page *Trained policies*: what each training learned, and how each policy plays on each solver."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]

PUBLISHED = {
    "ant": "SB3 zoo 1327, Tianshou 3258",
    "cartpole": "CleanRL 963, of 1000",
    "half_cheetah": "SB3 zoo 5819, CleanRL 1443, Tianshou 5784",
    "hopper": "SB3 zoo 2410, CleanRL 2383, Tianshou 2609",
    "humanoid": "CleanRL 716, Tianshou 787",
    "inverted_double_pendulum": "solved from 9100",
    "pusher": "CleanRL −40.4",
    "reacher": "solved from −3.75",
    "swimmer": "SB3 zoo 282, solved from 360",
    "walker2d": "SB3 zoo 3479, CleanRL 2288, Tianshou 3589",
}
"""Returns of PPO after one million steps that others quote, and Gymnasium's thresholds where there is none."""

HEAD = """\
# Trained policies

<!-- Written by docs/write_reference.py from docs/images/training.json and playing.json. Run it after
docs/train_tasks.py or docs/play_policies.py, whose option --videos draws the videos. -->

The repository has a small policy for each of these tasks: networks of two small layers, {size} kB together.
`pippin play docs/examples/policies/NAME.toml` plays one, and needs `pippin[policy]`, and Gymnasium for its robots, or
mjlab for the Go1.
`pippin train docs/examples/training/NAME.toml` repeats a training, and `python docs/train_tasks.py` all of them with
what this page shows. [Train a policy](../how-to/train-a-policy.md) explains the command.

{videos}
![Mean return of each training against its steps](../images/training.svg)

The lines are the returns that a training sees, with the noise of its actions; the dots are returns without noise. Every
return is that of the task's own rewards, also if the training scales them.

| training | steps | processor time | mean return ± 95 % of 64 episodes | ended early | published |
|---|---|---|---|---|---|
"""

NOTES = """
- **Steps** are control steps of all worlds. **Processor time** is that of all iterations in all threads, on a virtual
  machine of {cores} cores without a GPU, for the policy that is shown. Other programs kept it busy: the wall time was
  up to nine times as long. Most of the seeds 1 and 2 ran on a machine that is up to twice as fast as that of seed 0.
- **The return** is that of one seed unless several are given; then it is the mean of their mean returns ± their
  standard deviation, and the return of the best one, whose policy is in the repository. Published returns are those of
  single runs or means of several.
- **The error** of `go1_velocity` is the mean distance between the velocity that is commanded and that of the trunk
  [m/s]. [Performance](performance.md#trainings) says more about this training.
- **Ended early** counts the episodes, of 64, that a termination ended before their time: a fall in most tasks.
- **Published** returns are quoted, not run here: Stable-Baselines3's zoo, CleanRL and Tianshou with PPO after one
  million steps, on versions 3 and 4 of these tasks, whose rewards and robot files differ a little from version 5.
  Compare orders, not digits.

## Trained on one solver, played on the others

Each policy was trained on `mujoco-native`, and plays 16 episodes on each solver, or four where a step takes long, by
`pippin play FILE --solver NAME --episodes 16`. The table has the mean return, and in brackets the episodes that ended
early. It was made on {date}, by `python docs/play_policies.py`.

The files of the policies give the efforts of the motors to the joints themselves, since only MuJoCo's solvers have the
motors of an MJCF file. A solver may ignore what is only a number, such as armature, and all have the step of the file.
So the table does not say which solver is right: it says how far a policy carries that has seen only one. "Stopped"
means that a joint or a body became too fast or not finite, in the control step that is named, or that ten minutes were
not enough. "Not played" was not tried since the policy was trained. `mujoco-native@mujoco-4.0` has MuJoCo 4.0 as its
engine, [in an environment of its own](../how-to/engine-in-an-environment.md). A return far above that of the first
column is no success: it rewards a height or a speed that only a solver which throws the body can give.

Sixteen episodes tell large differences, not small ones. `half_cheetah` and `humanoid` on MuJoCo 4.0 are within chance
of 3.17. [What differs there](../how-to/engine-in-an-environment.md#what-this-gate-found-mujoco-40-and-rk4) is the `rk4`
of `humanoid`.

Why does `ant` fall on `motrix`? Its policy knows the pyramid of friction of `mujoco-native`, where a foot that slips
between the two axes has as little as 0.71 of its friction. `motrix` has the round cone, and a step of Euler's kind. In
the first 15 s of 16 episodes, 10 end early on `motrix`, and 10 on `mujoco-native` with `cone = "elliptic"` and
`integrator = "euler"`, but 1 with the cone alone and none with the step alone. On `motrix`, with frictions of 0.9,
0.7 and 0.5 in place of 1, 11, 2 and none end early, and 5 with half the step; other contacts, limits and tolerances
leave it at 8 to 13.
"""

COLUMNS = 4
"""Videos in a row."""

SOLVERS = (
    *("mujoco-native", "mujoco", "featherstone", "semi-implicit", "xpbd", "vbd", "kamino", "steel"),
    *("mujoco-native@mujoco-4.0", "motrix", "physx", "drake", "pinocchio"),
)


def page() -> str:
    """Return the table of trainings, and that of solvers."""
    trainings, scores = (_data(name) for name in ("training", "playing"))
    size = sum(path.stat().st_size for path in (DOCS / "examples" / "policies").glob("*.onnx")) // 1000
    text = HEAD.format(size=size, videos=_videos(list(trainings)))
    text += "".join(_training(name, training) for name, training in trainings.items())
    cores = " or ".join(str(count) for count in sorted({training["cores"] for training in trainings.values()}))
    text += NOTES.format(cores=cores, date=scores["date"])
    text += "\n" + "".join(_solver_rows(scores["scores"]))
    reasons = list(_reasons(scores["scores"]))
    return text + ("\n" + "".join(reasons) if reasons else "")


def _videos(names: Sequence[str]) -> str:
    """Return a table of videos, four in a row."""
    rows = [names[first : first + COLUMNS] for first in range(0, len(names), COLUMNS)]
    lines = [f"| {' | '.join(f'`{name}`' for name in rows[0])} |", "|---" * COLUMNS + "|"]
    for index, row in enumerate(rows):
        blank = [""] * (COLUMNS - len(row))
        videos = [f"![The policy of {name}](../images/policies/{name}.webp)" for name in row]
        lines += [f"| {' | '.join(f'`{name}`' for name in row)}{' |' * len(blank)} |"] if index else []
        lines.append(f"| {' | '.join([*videos, *blank])} |")
    return "\n".join(lines) + "\n"


def _training(name: str, training: Mapping[str, Any]) -> str:
    seeds = list(training["seeds"].values())
    best = training["seeds"][str(training["policy"])]
    if len(seeds) == 1:
        value = f"{_number(best['return'])} ± {_number(best['half_width'], 2)}"
    else:
        returns = [seed["return"] for seed in seeds]
        mean = sum(returns) / len(returns)
        spread = (sum((each - mean) ** 2 for each in returns) / (len(returns) - 1)) ** 0.5
        value = f"{_number(mean)} ± {_number(spread, 2)}, {len(seeds)} seeds, best {_number(best['return'])}"
    value += "".join(f", {label} {number:g}" for label, number in best.get("metrics", {}).items())
    cells = [
        f"[`{name}`](../examples/training/{name}.toml), [policy](../examples/policies/{name}.toml)",
        f"{best['steps'] * 1e-6:.2g} million",
        f"{best['cpu']:,g} s",
        value.replace("-", "−"),
        f"{best['ended']}",
        PUBLISHED.get(name, "none known"),
    ]
    return f"| {' | '.join(cells)} |\n"


def _solver_rows(scores: Mapping[str, Any]) -> Iterator[str]:
    yield f"| policy | {' | '.join(f'`{solver}`' for solver in SOLVERS)} |\n"
    yield "|---" * (len(SOLVERS) + 1) + "|\n"
    for name, row in scores.items():
        yield f"| `{name}` | {' | '.join(_cell(row.get(solver)) for solver in SOLVERS)} |\n"


def _cell(score: Mapping[str, Any] | None) -> str:
    if score is None:
        return "not played"
    if "refused" in score:
        return "refused"
    if "stopped" in score:
        return f"stopped: {score['stopped']}"
    return f"{_number(score['mean_return'])} ({score['terminated']:g} of {score['episodes']})".replace("-", "−")


def _number(value: float, digits: int = 4) -> str:
    """Return a number with some significant digits, and never with an exponent."""
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000.0 else f"{rounded:g}"


def _reasons(scores: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each reason of a refusal, with the policies that it keeps from a solver."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, row in scores.items():
        for solver, score in row.items():
            if "refused" in score:
                found.setdefault((solver, score["refused"]), []).append(name)
    for (solver, reason), names in sorted(found.items()):
        yield f"- `{solver}` refuses {', '.join(f'`{name}`' for name in names)}: {reason}\n"


def _data(name: str) -> dict[str, Any]:
    return json.loads((DOCS / "images" / f"{name}.json").read_text(encoding="utf-8"))
