"""`pippin fit` beside `mujoco.sysid`, on the same log: `uv run --with 'mujoco[sysid]' python tests/benchmarks/fit.py`.

An arm of seven hinges follows eight tones for 5 s at 500 Hz; MuJoCo makes the log, with noise on positions and ten
times as much on velocities. Both start from 0.4 of the 21 true values of armature, damping and friction, and simulate
the log in one piece, and in windows of 0.25 s, each from its measured state. Figures: the worst and the median error,
and the wall and processor time of the search, without imports and builds: both sides fit once before, so that all
kernels are loaded.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mujoco
import numpy as np
import pippin_fit
from mujoco import rollout, sysid
from pippin.config import toml_text
from pippin_fit.fit_run import FitRun

JOINTS = [f"joint{number}" for number in range(1, 8)]
TRUTH = {
    "armature": (0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.05),
    "damping": (1.0, 1.0, 0.8, 0.8, 0.5, 0.5, 0.3),
    "friction": (0.6, 0.6, 0.5, 0.5, 0.3, 0.3, 0.2),
}
FIELDS = {"armature": "armature", "damping": "damping", "friction": "frictionloss"}
STIFFNESS = (800.0, 800.0, 600.0, 600.0, 300.0, 300.0, 150.0)
MASSES = (3.0, 3.0, 2.5, 2.5, 1.5, 1.2, 0.6)
TONES = np.array([0.1, 0.2, 0.3, 0.5, 0.7, 1.1, 1.7, 2.3])
DT, DURATION, START = 0.002, 5.0, 0.4


class Watch:
    """Wall and processor time of a block [s]: on a machine that others use, the second one can be compared."""

    def __enter__(self) -> Watch:
        """Start."""
        self._begun = (time.perf_counter(), time.process_time())
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.wall, self.processor = time.perf_counter() - self._begun[0], time.process_time() - self._begun[1]


def arm(values: Mapping[str, Any], *, has_drives: bool) -> str:
    """Return the arm as MJCF."""
    bodies, ends = "", ""
    for number, (joint, mass) in enumerate(zip(JOINTS, MASSES, strict=True)):
        axis = "0 0 1" if number % 2 == 0 else "0 1 0"
        own = " ".join(f'{FIELDS[name]}="{values[name][number]}"' for name in values)
        inertia = " ".join(f"{mass * each:.6g}" for each in (0.004, 0.004, 0.0015))
        bodies += f'<body name="link{number + 1}" pos="0 0 {0.0 if number == 0 else 0.2}">'
        bodies += f'<inertial pos="0.01 0.02 0.1" mass="{mass}" diaginertia="{inertia}"/>'
        bodies += f'<joint name="{joint}" axis="{axis}" {own}/>'
        ends += "</body>"
    drives = sensors = ""
    if has_drives:
        for joint, stiffness in zip(JOINTS, STIFFNESS, strict=True):
            drives += f'<position joint="{joint}" kp="{stiffness}" kv="{stiffness / 10}"/>'
        for kind in ("pos", "vel"):
            sensors += "".join(f'<joint{kind} name="{joint}_{kind}" joint="{joint}"/>' for joint in JOINTS)
    return (
        f'<mujoco model="arm"><option timestep="{DT}" integrator="implicitfast"/>'
        f"<worldbody>{bodies}{ends}</worldbody><actuator>{drives}</actuator><sensor>{sensors}</sensor></mujoco>"
    )


def log(noise: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the start, times, commands and noisy measurements (positions, then velocities) of the true arm."""
    random = np.random.default_rng(0)
    phases = random.uniform(0.0, 2.0 * np.pi, (len(JOINTS), len(TONES)))
    times = np.arange(round(DURATION / DT)) * DT
    angles = (0.125 / np.sqrt(TONES / 0.1)) * np.sin(2.0 * np.pi * TONES * times[:, None, None] + phases)
    commands = angles.sum(axis=2) * np.minimum(times, 1.0)[:, None]
    model = mujoco.MjModel.from_xml_string(arm(TRUTH, has_drives=True))
    data = mujoco.MjData(model)
    start = sysid.create_initial_state(model, data.qpos, data.qvel, data.act)
    states, _ = rollout.rollout(model, data, start, commands[:-1])
    measured = np.concatenate([np.zeros((1, 14)), np.squeeze(np.asarray(states), axis=0)[:, 1:15]])
    scale = noise * np.repeat([1.0, 10.0], len(JOINTS))
    return start, times, commands, measured + scale * random.normal(size=measured.shape)


def theirs(data: tuple[np.ndarray, ...], window: float | str) -> tuple[dict[str, np.ndarray], Watch]:
    """Return the values that `mujoco.sysid` finds, and the time of its search."""
    start, times, commands, measured = data
    steps = len(times) if isinstance(window, str) else round(window / DT)
    spec = mujoco.MjSpec.from_string(arm(TRUTH, has_drives=True))
    model = spec.compile()
    parameters = sysid.ParameterDict()
    for name, field in FIELDS.items():
        for joint, truth in zip(JOINTS, TRUTH[name], strict=True):

            def change(spec: Any, parameter: Any, joint: str = joint, field: str = field) -> None:
                value = parameter.value[0]
                setattr(spec.joint(joint), field, [value, 0.0, 0.0] if field == "damping" else value)

            low, high = (1e-3, 2.0) if name == "armature" else (0.0, 5.0)
            parameter = sysid.Parameter(f"{joint}_{name}", truth, low, high, modifier=change)
            parameters.add(parameter)
            parameter.value[:] = START * truth
    pieces: list[tuple[Any, ...]] = []
    for first in range(0, len(times) - 1, steps):
        last = min(first + steps, len(times) - 1)
        own = times[: last + 1 - first]
        begin = start.copy()
        begin[1:15] = measured[first]  # after the time
        # its sensors are those of the step's start
        sensors = sysid.TimeSeries.from_names(own[1:], measured[first:last], model)
        pieces.append((f"log {first}", begin, sysid.TimeSeries(own, commands[first : last + 1]), sensors))
    sequences = sysid.ModelSequences("arm", spec, *(list(each) for each in zip(*pieces, strict=True)))
    residual = sysid.build_residual_fn(models_sequences=[sequences])
    with Watch() as watch:
        found, _ = sysid.optimize(initial_params=parameters, residual_fn=residual, verbose=False)
    values = {name: np.array([found[f"{joint}_{name}"].value[0] for joint in JOINTS]) for name in TRUTH}
    return values, watch


def ours(data: tuple[np.ndarray, ...], window: float | str, folder: Path) -> tuple[dict[str, np.ndarray], Watch]:
    """Return the values that `pippin fit` finds, and the time of its search."""
    _, times, commands, measured = data
    file, values = folder / "arm.toml", {name: START * np.array(truth) for name, truth in TRUTH.items()}
    (folder / "arm.xml").write_text(arm(values, has_drives=False), encoding="utf-8")
    arrays = {"time": times, "command": commands, "joints": np.array(JOINTS)}
    np.savez(folder / "log.npz", position=measured[:, :7], velocity=measured[:, 7:], **arrays)
    drive = {"type": "solver-pd", "joints": [".*"], "kp": dict(zip(JOINTS, STIFFNESS, strict=True))}
    drive["kd"] = {joint: stiffness / 10 for joint, stiffness in drive["kp"].items()}
    ends = {name: [1e-3, 2.0] if name == "armature" else [0.0, 5.0] for name in TRUTH}
    tables = {
        "simulation": {"dt": DT, "device": "cpu"},
        "scene": {"assets": [{"path": "arm.xml"}]},
        "solver": {"type": "mujoco-native"},
        "actuators": {"arm": drive},
        "fit": {
            "window": window,
            "parameters": {f"actuators.arm.{name}": {"range": own} for name, own in ends.items()},
        },
    }
    file.write_text(toml_text(tables), encoding="utf-8")
    watch, run = Watch(), FitRun.run

    def timed(course: FitRun, *arguments: Any) -> None:
        with watch:
            run(course, *arguments)

    with tempfile.TemporaryDirectory() as out, patch.object(FitRun, "run", timed):
        result = pippin_fit.fit(file, [folder / "log.npz"], out=out)
    found = {name: np.array(list(result.value(f"actuators.arm.{name}").values())) for name in TRUTH}
    return found, watch


def errors(found: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """Return the worst and the median relative error."""
    own = np.concatenate([np.abs(found[name] / np.array(truth) - 1.0) for name, truth in TRUTH.items()]).tolist()
    return max(own), statistics.median(own)


def told(watch: Watch, reference: Watch) -> str:
    """Return the cells of a time."""
    pairs = ((watch.wall, reference.wall), (watch.processor, reference.processor))
    return " | ".join(f"{own:.1f} | {own / other:.2f}" for own, other in pairs)


def main() -> None:
    """Print a row for each noise and each side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", type=float, nargs="*", default=[0.0, 1e-4, 1e-3], help="on positions [rad]")
    parser.add_argument("--windows", type=float, nargs="*", default=[0.0, 0.25], help="0 for the whole log [s]")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    heads = ("noise [rad]", "side", "worst error", "÷ theirs", "median error", "time [s]", "÷ theirs", "processor [s]")
    data = log(1e-3)
    theirs(data, "whole")
    with tempfile.TemporaryDirectory() as folder:
        ours(data, "whole", Path(folder))
    print(f"| {' | '.join(heads)} | ÷ theirs |")
    print("|---" * 9 + "|")
    for noise in options.noise:
        data = log(noise)
        for window in (each or "whole" for each in options.windows):
            found, reference = theirs(data, window)
            limit, median = errors(found)
            name = "whole" if isinstance(window, str) else f"windows of {window} s"
            print(
                f"| {noise:g} | mujoco.sysid, {name} | {limit:.3g} | 1 | {median:.3g} | {told(reference, reference)} |"
            )
            with tempfile.TemporaryDirectory() as folder:
                found, watch = ours(data, window, Path(folder))
            worst, median = errors(found)
            ratios = f"{worst / limit:.3g} | {median:.3g} | {told(watch, reference)}"
            print(f"| {noise:g} | pippin fit, {name} | {worst:.3g} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
