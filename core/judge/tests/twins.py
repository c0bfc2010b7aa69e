"""Twins: logs of robots that other programs than Pippin simulate, with laws of their own.

A pendulum is a recursion in NumPy, and arms are stepped by MuJoCo itself. Their laws are written here, after textbooks.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import mujoco
import numpy as np
from pippin.config import toml_text

STEP = 0.01
"""Step of a twin: its controller measures, and its torque holds [s]."""

NOISE = 1e-4
"""Standard deviation of its encoders [rad]."""

MASS, LENGTH, INERTIA, GRAVITY = 1.2, 0.2, 0.012, 9.81
"""Mass [kg], distance of its centre from the hinge [m], inertia about the centre [kg·m²], and gravity [m/s²]."""

LINK = """<body name="{name}" pos="0 0 {height}">
  <inertial pos="0 0 -0.2" mass="1.2" diaginertia="0.012 0.012 0.001"/>
  <joint name="{name}" axis="0 1 0"{more}/>{inner}
</body>"""

Law = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Torques [N·m] of targets and positions [rad] and speeds [rad/s], shape [joints] each."""


def robot(links: int = 1, more: str = "") -> str:
    """Return the MJCF of a chain of links, whose joints may have more attributes."""
    text = ""
    for number in reversed(range(links)):
        text = LINK.format(name=f"joint{number}", height=-0.4 if number else 1.0, more=more, inner=text)
    return f'<mujoco model="twin"><compiler autolimits="true"/><worldbody>{text}</worldbody></mujoco>'


def commands(seconds: float, joints: int, random: np.random.Generator) -> np.ndarray:
    """Return targets [rad], shape [samples, joints]: tones with random phases."""
    times = np.arange(round(seconds / STEP)) * STEP
    tones = np.array([0.3, 0.7, 1.3, 2.3])
    phases = random.uniform(0.0, 2.0 * np.pi, (joints, len(tones)))
    swings = 0.35 * np.sqrt(tones[0] / tones) * np.sin(2.0 * np.pi * tones * times[:, None, None] + phases)
    return swings.sum(axis=2) * np.minimum(times, 1.0)[:, None]


def pendulum(
    targets: np.ndarray, law: Law, armature: float, budget: Callable[[float, float, float], float] | None = None
) -> np.ndarray:
    """Return the positions of a pendulum [rad], shape [samples, 1].

    Friction stops the joint within a budget [N·m], a function of the torque of the motor, of all other torques, and of
    the speed; beyond it, the joint slides.
    """
    inertia, angle, speed, found = INERTIA + MASS * LENGTH**2 + armature, np.zeros(1), np.zeros(1), []
    for target in targets:
        found.append(angle)
        torque, weight = law(target, angle, speed), -MASS * GRAVITY * LENGTH * np.sin(angle)
        free = speed + STEP * (torque + weight) / inertia
        if budget is not None:
            most = budget(torque.item(), weight.item(), speed.item())
            free = free + STEP * np.clip(-inertia * free / STEP, -most, most) / inertia
        speed = free
        angle = angle + STEP * speed
    return np.array(found)


def geared(targets: np.ndarray, law: Law, rotor: float, stiffness: float) -> np.ndarray:
    """Return the positions of a motor that drives the pendulum by a spring [N·m/rad], shape [samples, 1] [rad]."""
    motor, link, found, fine = np.zeros(2), np.zeros(2), [], 20
    inertia = INERTIA + MASS * LENGTH**2
    for target in targets:
        found.append(motor[:1].copy())
        torque = law(target, motor[:1], motor[1:])[0]
        for _ in range(fine):
            twist = stiffness * (link[0] - motor[0]) + 0.02 * (link[1] - motor[1])
            motor[1] += STEP / fine * (torque + twist) / rotor
            link[1] += STEP / fine * (-twist - MASS * GRAVITY * LENGTH * np.sin(link[0])) / inertia
            motor[0], link[0] = motor[0] + STEP / fine * motor[1], link[0] + STEP / fine * link[1]
    return np.array(found)


def stepped(targets: np.ndarray, law: Law, text: str) -> np.ndarray:
    """Return the positions of a robot that MuJoCo steps [rad], shape [samples, joints]."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = STEP
    data, found = mujoco.MjData(model), []
    for target in targets:
        found.append(data.qpos.copy())
        data.qfrc_applied[:] = law(target, data.qpos, data.qvel)
        mujoco.mj_step(model, data)
    return np.array(found)


@attrs.frozen(kw_only=True, eq=False)
class Twin:
    """A twin: what it is, and its log."""

    law: str
    """The law that explains it with the fewest values; empty if none does."""

    solvers: frozenset[str]
    """Solvers that cannot be told apart under this law."""

    text: str
    """The MJCF of its robot, without the numbers of its drives."""

    targets: np.ndarray
    positions: np.ndarray

    parameters: tuple[str, ...] = ()
    """What its file lets vary besides gains and armature."""

    def write(self, folder: Path) -> Path:
        """Write file, robot and log into a folder, and return the file."""
        (folder / "robot.xml").write_text(self.text, encoding="utf-8")
        joints = [f"joint{number}" for number in range(self.targets.shape[1])]
        times = np.arange(len(self.targets)) * STEP
        np.savez(folder / "log.npz", time=times, position=self.positions, command=self.targets, joints=np.array(joints))
        ranges = {"kp": [5.0, 500.0], "kd": [0.1, 30.0], "armature": [1e-3, 1.0], "friction": [0.0, 3.0]}
        varied = ("kp", "kd", "armature", *self.parameters)
        gains = {"kp": 50.0 * len(joints), "kd": 1.5 * len(joints)}  # as a data sheet has them: off by a third
        drive = {"type": "pd", "joints": [".*"], **gains, "armature": 0.1}
        tables: dict[str, Any] = {
            "simulation": {"dt": STEP, "device": "cpu"},
            "scene": {"assets": [{"path": "robot.xml"}]},
            "solver": {"type": "mujoco-native"},
            "actuators": {"arm": drive | dict.fromkeys(self.parameters, 0.1)},
            "fit": {
                "logs": ["log.npz"],
                "start": "estimated",
                "window": 0.5,
                "validation": 0.33,
                "parameters": {f"actuators.arm.{name}": {"range": ranges[name]} for name in varied},
            },
        }
        file = folder / "twin.toml"
        file.write_text(toml_text(tables), encoding="utf-8")
        return file


SOLVERS = frozenset({"featherstone", "mujoco-native"})

KINDS = ("pd", "dc-motor", "servo-m1", "servo-m2", "servo-m3", "arm", "arm-dc-motor", "stop", "friction", "gear")


def draw(kind: str, seed: int, seconds: float = 5.0) -> Twin:
    """Return a twin of a kind whose numbers are random."""
    random = np.random.default_rng(seed)
    links = 2 if kind.startswith("arm") else 1
    targets = commands(seconds, links, random)
    kp, kd = links * random.uniform(40.0, 80.0), links * random.uniform(1.5, 2.5)
    armature = random.uniform(0.04, 0.08)

    def spring(target: np.ndarray, angle: np.ndarray, speed: np.ndarray) -> np.ndarray:
        return kp * (target - angle) - kd * speed

    def motor(target: np.ndarray, angle: np.ndarray, speed: np.ndarray) -> np.ndarray:
        return np.clip(spring(target, angle, speed), stall * (-1.0 - speed / fast), stall * (1.0 - speed / fast))

    smooth = stepped(targets, spring, robot(links, f' armature="{armature}"'))
    speeds = np.gradient(smooth, STEP, axis=0)
    fast = random.uniform(1.5, 2.5) * np.abs(speeds).max(axis=0)
    efforts = np.abs(spring(targets, smooth, speeds)).max(axis=0)
    stall, effort = (random.uniform(0.5, 0.7) + 0.2 * (links > 1)) * efforts, efforts.max()
    dry, more, scale = random.uniform(0.06, 0.15) * effort, random.uniform(0.08, 0.2), random.uniform(0.05, 0.1)
    fade = scale * np.abs(speeds).max()
    budgets = {
        "servo-m1": lambda torque, load, speed: dry,
        "servo-m2": lambda torque, load, speed: dry + more * effort * np.exp(-((speed / fade) ** 2)),
        "servo-m3": lambda torque, load, speed: 0.5 * dry + more * abs(torque - load),
    }
    text, law, solvers, parameters = robot(links), kind, SOLVERS, ()
    if kind in ("pd", "dc-motor", *budgets):
        positions = pendulum(targets, motor if kind == "dc-motor" else spring, armature, budgets.get(kind))
    elif kind == "gear":
        positions, law = geared(targets, spring, armature, random.uniform(40.0, 80.0)), ""
    else:
        law, own = "dc-motor" if kind == "arm-dc-motor" else "pd", f' armature="{armature}"'
        if kind == "stop":
            ends = np.degrees(0.8 * np.array([smooth.min(), smooth.max()]))
            stops = ' range="{:.3f} {:.3f}"'.format(*ends)
            text, solvers, own = robot(links, stops), frozenset({"mujoco-native"}), own + stops
        if kind == "friction":
            own += f' frictionloss="{dry}"'
            solvers, parameters = frozenset({"mujoco-native"}), ("friction",)
        positions = stepped(targets, motor if law == "dc-motor" else spring, robot(links, own))
    positions = positions + NOISE * random.normal(size=positions.shape)
    return Twin(law=law, solvers=solvers, text=text, targets=targets, positions=positions, parameters=parameters)
