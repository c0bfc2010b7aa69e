"""Local minima of a fit: `uv run --with 'mujoco[sysid]' python tests/benchmarks/fit_minima.py`.

The arm of five hinges of the tests of `mujoco.sysid` follows torques for 2 s, without a drive and without noise. Its
armature and damping are unknown, ten values. Simulated in one piece, a wrong arm soon swings elsewhere, so that the
cost has many minima. `pippin fit` simulates windows of 0.4 s side by side. Figures: the worst relative error of the
values of each side, from the same start. Goal: 1e-3 where both optimisers of `mujoco.sysid` fail.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pippin_fit
from mujoco import rollout
from pippin.config import toml_text

JOINTS = [f"joint{number}" for number in range(1, 6)]
TRUTH = {"armature": (0.5, 0.4, 0.3, 0.2, 0.1), "damping": (1.0, 0.8, 0.6, 0.4, 0.2)}
START = {"armature": 0.01, "damping": 0.03}
RANGES = {"armature": (1e-3, 1.0), "damping": (1e-3, 5.0)}
LINKS = (  # axis, way from the last one, centre of mass [m], mass [kg], moments [kg·m²]
    ("0 0 1", 0.1, 0.05, 1.0, "0.01 0.01 0.005"),
    ("0 1 0", 0.1, 0.05, 0.8, "0.008 0.008 0.004"),
    ("0 1 0", 0.1, 0.05, 0.6, "0.006 0.006 0.003"),
    ("0 0 1", 0.1, 0.04, 0.4, "0.004 0.004 0.002"),
    ("0 1 0", 0.08, 0.03, 0.2, "0.002 0.002 0.001"),
)
TORQUES = np.array([[5.0, 0.5, 0.0], [4.0, 0.7, 0.5], [3.0, 0.4, 1.0], [2.0, 0.9, 1.5], [1.0, 0.6, 2.0]])
"""Amplitude [N·m], frequency [Hz] and phase [rad] of the torque of each joint."""
DT, DURATION, WINDOW = 0.002, 2.0, 0.4


def arm(values: Mapping[str, Any], *, has_motors: bool) -> str:
    """Return the arm as MJCF."""
    bodies = motors = sensors = ""
    for joint, link, armature, damping in zip(JOINTS, LINKS, values["armature"], values["damping"], strict=True):
        axis, up, centre, mass, moments = link
        bodies += f'<body name="{joint}_link" pos="0 0 {up}">'
        bodies += f'<inertial pos="0 0 {centre}" mass="{mass}" diaginertia="{moments}"/>'
        bodies += f'<joint name="{joint}" axis="{axis}" armature="{armature}" damping="{damping}"/>'
        motors += f'<motor joint="{joint}"/>'
        sensors += f'<jointpos name="{joint}_pos" joint="{joint}"/><jointvel name="{joint}_vel" joint="{joint}"/>'
    more = f"<actuator>{motors}</actuator><sensor>{sensors}</sensor>" if has_motors else ""
    return (
        f'<mujoco model="arm"><option timestep="{DT}" integrator="implicitfast"/>'
        f"<worldbody>{bodies}{'</body>' * len(JOINTS)}</worldbody>{more}</mujoco>"
    )


def log() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the start, times, torques and motion (positions, then velocities) of the true arm."""
    times = np.arange(round(DURATION / DT)) * DT
    size, frequency, phase = TORQUES.T
    torques = size * np.sin(2.0 * np.pi * frequency * times[:, None] + phase)
    model = mujoco.MjModel.from_xml_string(arm(TRUTH, has_motors=True))
    data = mujoco.MjData(model)
    start = np.concatenate([[0.0], data.qpos, data.qvel])
    states, _ = rollout.rollout(model, data, start, torques[:-1])
    return start, times, torques, np.concatenate([np.zeros((1, 10)), np.squeeze(np.asarray(states), axis=0)[:, 1:11]])


def theirs(data: tuple[np.ndarray, ...], optimiser: str) -> dict[str, np.ndarray]:
    """Return the values that `mujoco.sysid` finds."""
    from mujoco import sysid  # it needs more libraries than the tests have

    start, times, torques, measured = data
    spec = mujoco.MjSpec.from_string(arm(TRUTH, has_motors=True))
    model = spec.compile()
    parameters = sysid.ParameterDict()
    for name, truth in TRUTH.items():
        for joint, value in zip(JOINTS, truth, strict=True):

            def change(spec: Any, parameter: Any, joint: str = joint, name: str = name) -> None:
                own = parameter.value[0]
                setattr(spec.joint(joint), name, [own, 0.0, 0.0] if name == "damping" else own)

            parameter = sysid.Parameter(f"{joint}_{name}", value, *RANGES[name], modifier=change)
            parameters.add(parameter)
            parameter.value[:] = START[name]
    order = np.arange(10).reshape(2, 5).T.ravel()  # position and velocity of one joint after the other
    sensors = sysid.TimeSeries.from_names(times[1:], measured[:-1, order], model)  # those of the step's start
    sequence = sysid.ModelSequences("arm", spec, "log", start, sysid.TimeSeries(times, torques), sensors)
    residual = sysid.build_residual_fn(models_sequences=[sequence])
    found, _ = sysid.optimize(initial_params=parameters, residual_fn=residual, optimizer=optimiser, verbose=False)
    return {name: np.array([found[f"{joint}_{name}"].value[0] for joint in JOINTS]) for name in TRUTH}


def ours(data: tuple[np.ndarray, ...], folder: Path, window: float | str = WINDOW) -> dict[str, np.ndarray]:
    """Return the values that `pippin fit` finds."""
    _, times, torques, measured = data
    starts = {name: [value] * len(JOINTS) for name, value in START.items()}
    (folder / "arm.xml").write_text(arm(starts, has_motors=False), encoding="utf-8")
    arrays = {"time": times, "command": torques, "joints": np.array(JOINTS)}
    np.savez(folder / "log.npz", position=measured[:, :5], velocity=measured[:, 5:], **arrays)
    parameters = {f"actuators.arm.{name}": {"range": list(ends)} for name, ends in RANGES.items()}
    tables = {
        "simulation": {"dt": DT, "device": "cpu"},
        "scene": {"assets": [{"path": str(folder / "arm.xml")}]},
        "solver": {"type": "mujoco-native"},
        "actuators": {"arm": {"type": "pd", "joints": [".*"], "kp": 0.0, "kd": 0.0}},
        "fit": {"command": "feedforward", "window": window, "parameters": parameters},
    }
    file = folder / "arm.toml"
    file.write_text(toml_text(tables), encoding="utf-8")
    result = pippin_fit.fit(file, [folder / "log.npz"], out=folder / f"fitted in {window}")
    return {name: np.array(list(result.value(f"actuators.arm.{name}").values())) for name in TRUTH}


def worst(found: Mapping[str, np.ndarray]) -> float:
    """Return the worst relative error."""
    return max(float(np.abs(found[name] / np.array(truth) - 1.0).max()) for name, truth in TRUTH.items())


def main() -> None:
    """Print a row for each side."""
    logging.disable(logging.WARNING)
    data = log()
    print("| side | worst error | time [s] |\n|---|---|---|")
    for optimiser in ("mujoco", "scipy"):
        begun = time.perf_counter()
        error = worst(theirs(data, optimiser))
        print(f"| mujoco.sysid, {optimiser} | {error:.2g} | {time.perf_counter() - begun:.1f} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for window in ("whole", WINDOW):
            begun = time.perf_counter()
            error = worst(ours(data, Path(folder), window))
            name = "one piece" if window == "whole" else f"windows of {window} s"
            print(f"| pippin fit, {name} | {error:.2g} | {time.perf_counter() - begun:.1f} |", flush=True)


if __name__ == "__main__":
    main()
