"""Random MJCF files beside plain MuJoCo: `python -m tests.fidelity.random_files [--solver NAME] [--count N]`.

A file is a tree of up to five bodies with what MJCF has for joints, geoms, actuators, tendons, equalities, defaults and
options. A solver moves it as plain MuJoCo does, tells of a difference, or refuses the file. With `--without WORDS`,
kinds of statements are left out, so that a second difference cannot hide behind the one that is told.
"""

from __future__ import annotations

import argparse
import collections
import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import mujoco
import numpy as np
import pippin
from pippin.errors import ConfigError, SimulationError

STEPS = 50
"""Number of steps, of the length that the file states."""

FLOOR = 3e-5
"""Distance [m] or angle [rad] that single precision may make after these steps."""

ROUNDING = 100.0
"""Largest error, as a multiple of what a rounding to single precision changes in MuJoCo itself."""


@attrs.define
class Draw:
    """A file that is drawn, element by element."""

    rng: np.random.Generator
    without: frozenset[str] = frozenset()
    """Words of statements that are left out, such as "tendon" or "margin"."""

    joints: list[tuple[str, str]] = attrs.field(factory=list)
    """Names and types of the joints so far."""

    bodies: list[str] = attrs.field(factory=list)
    geoms: list[str] = attrs.field(factory=list)
    sites: list[str] = attrs.field(factory=list)

    def may(self, share: float, word: str = "") -> bool:
        """Draw whether a statement is made."""
        return self.rng.uniform() < share and word not in self.without

    def number(self, low: float, high: float) -> str:
        """Return a number, of four digits."""
        return f"{self.rng.uniform(low, high):.4g}"

    def vector(self, size: int = 3, scale: float = 1.0) -> str:
        """Return numbers around zero."""
        return " ".join(f"{each:.4g}" for each in self.rng.normal(size=size) * scale)

    def range(self, scale: float) -> str:
        """Return two numbers below and above zero."""
        return f"-{self.number(0.2 * scale, scale)} {self.number(0.2 * scale, scale)}"

    def some(self, attributes: dict[str, tuple[float, Callable[[], str]]]) -> str:
        """Return some attributes, each with its share and its values."""
        chosen = (name for name, (share, _) in attributes.items() if self.may(share, name))
        return " ".join(f'{name}="{attributes[name][1]()}"' for name in chosen)

    def one(self, names: Sequence[str]) -> str:
        """Return one of some names that are not left out."""
        return str(self.rng.choice([name for name in names if name not in self.without]))


def text_of(seed: int, without: frozenset[str] = frozenset()) -> str:
    """Return the file of a seed. MuJoCo reads most of them."""
    draw = Draw(np.random.default_rng(seed), without)
    world = "".join(_body(draw, 0) for _ in range(draw.rng.integers(1, 3)))
    parts = [_defaults(draw), f"<worldbody>{_ground(draw)}{world}</worldbody>"]
    if draw.joints:
        parts += [*_tendons(draw), *_equalities(draw), *_actuators(draw)]
    parts += [*_contacts(draw)]
    return f'<mujoco model="r{seed}">{_options(draw)}{"".join(parts)}</mujoco>'


def _options(draw: Draw) -> str:
    options = draw.some(
        {
            "density": (0.1, lambda: draw.number(0.5, 100.0)),
            "viscosity": (0.1, lambda: draw.number(0.01, 1.0)),
            "wind": (0.1, lambda: draw.vector()),
            "impratio": (0.2, lambda: draw.number(1.0, 5.0)),
            "cone": (0.5, lambda: draw.one(["pyramidal", "elliptic"])),
            "noslip_iterations": (0.1, lambda: "3"),
        }
    )
    flags = draw.some(
        {
            name: (0.04, lambda: "disable")
            for name in ("limit", "spring", "damper", "frictionloss", "equality", "clampctrl", "actuation", "refsafe")
        }
    )
    integrator = draw.one(["Euler", "implicit", "implicitfast"])
    return (
        f'<compiler angle="radian" autolimits="true"/><option gravity="{draw.vector(scale=5.0)}" timestep=".002"'
        f' integrator="{integrator}" tolerance="1e-12" iterations="200" {options}><flag {flags}/></option>'
    )


def _defaults(draw: Draw) -> str:
    if not draw.may(0.4, "default"):
        return ""
    joint = draw.some({"damping": (0.5, lambda: draw.number(0, 1)), "armature": (0.5, lambda: draw.number(0, 0.1))})
    kinds = {
        "motor": f'gear="{draw.number(0.5, 3)}"',
        "position": f'kp="{draw.number(1, 20)}"',
        "velocity": f'kv="{draw.number(0.1, 2)}"',
        "general": f'gainprm="{draw.number(0.5, 3)}"',
    }
    elements = "".join(f"<{kind} {text}/>" for kind, text in kinds.items() if draw.may(0.3))
    geom = draw.some(
        {"friction": (0.5, lambda: draw.number(0.1, 1.5)), "density": (0.5, lambda: draw.number(300, 2e3))}
    )
    return f"<default><joint {joint}/><geom {geom}/>{elements}</default>"


def _ground(draw: Draw) -> str:
    return '<geom name="ground" type="plane" size="5 5 .1" pos="0 0 -.4"/>' if draw.may(0.3, "contact") else ""


def _body(draw: Draw, depth: int) -> str:
    name = f"b{len(draw.bodies)}"
    draw.bodies.append(name)
    place = f'pos="{draw.vector(scale=0.2)}" {draw.some({"quat": (0.6, lambda: draw.vector(4))})}'
    about = draw.some({"gravcomp": (0.1, lambda: draw.number(0.1, 1.0))})
    text = f'<body name="{name}" {place} {about}>{_joints(draw, depth)}{_geoms(draw)}'
    if draw.may(0.3, "inertial"):
        moments = np.sort(draw.rng.uniform(0.005, 0.02, 3)) + 0.005
        text += (
            f'<inertial pos="{draw.vector(scale=0.05)}" quat="{draw.vector(4)}" mass="{draw.number(0.3, 2)}"'
            f' diaginertia="{" ".join(f"{each:.4g}" for each in moments)}"/>'
        )
    if draw.may(0.5):
        draw.sites.append(f"s{len(draw.sites)}")
        text += f'<site name="{draw.sites[-1]}" pos="{draw.vector(scale=0.1)}" quat="{draw.vector(4)}"/>'
    while depth < 3 and len(draw.bodies) < 5 and draw.may(0.6):
        text += _body(draw, depth + 1)
    return text + "</body>"


def _joints(draw: Draw, depth: int) -> str:
    if depth == 0 and draw.may(0.2, "free"):
        return f"<freejoint name='{_joint(draw, 'free')}'/>"
    kinds = [["hinge"], ["slide"], ["ball"], ["hinge", "hinge"], ["slide", "hinge"], ["slide", "slide", "hinge"], []]
    chosen = kinds[draw.rng.choice(len(kinds), p=[0.4, 0.15, 0.1, 0.1, 0.1, 0.05, 0.1])]
    return "".join(_axis(draw, kind) for kind in chosen if kind not in draw.without)


def _joint(draw: Draw, kind: str) -> str:
    draw.joints.append((f"j{len(draw.joints)}", kind))
    return draw.joints[-1][0]


def _axis(draw: Draw, kind: str) -> str:
    name, has_range = _joint(draw, kind), draw.may(0.3, "range")
    attributes = draw.some(
        {
            "pos": (0.5, lambda: draw.vector(scale=0.1)),
            "damping": (0.4, lambda: draw.number(0.0, 1.0)),
            "stiffness": (0.3, lambda: draw.number(0.0, 20.0)),
            "armature": (0.3, lambda: draw.number(0.0, 0.1)),
            "frictionloss": (0.2, lambda: draw.number(0.0, 0.5)),
            **({} if kind == "ball" else {"springref": (0.2, lambda: draw.number(-0.5, 0.5))}),
            **({} if kind == "ball" else {"ref": (0.15, lambda: draw.number(-0.2, 0.2))}),
            "margin": (0.1, lambda: draw.number(0.0, 0.1)),
            "solreflimit": (0.1, lambda: f"{draw.number(0.01, 0.05)} {draw.number(0.5, 1.5)}"),
            "actuatorgravcomp": (0.05, lambda: "true"),
        }
    )
    if has_range:
        attributes += f' range="0 {draw.number(0.1, 0.6)}"' if kind == "ball" else f' range="{draw.range(0.4)}"'
    axis = "" if kind == "ball" else f'axis="{draw.vector()}"'
    return f'<joint name="{name}" type="{kind}" {axis} {attributes}/>'


_SIZES = {"sphere": 1, "capsule": 2, "box": 3, "ellipsoid": 3, "cylinder": 2}


def _geoms(draw: Draw) -> str:
    text = ""
    for _ in range(draw.rng.integers(1, 3)):
        kind = draw.one(list(_SIZES))
        size = " ".join(draw.number(0.03, 0.12) for _ in range(_SIZES[kind]))
        draw.geoms.append(f"g{len(draw.geoms)}")
        collides = draw.may(0.3, "contact")
        attributes = draw.some(
            {
                "pos": (0.6, lambda: draw.vector(scale=0.1)),
                "quat": (0.6, lambda: draw.vector(4)),
                "mass": (0.4, lambda: draw.number(0.3, 2.0)),
                "fluidshape": (0.05, lambda: "ellipsoid"),
                **(
                    {
                        "friction": (0.3, lambda: f"{draw.number(0.1, 1.5)} .01 .001"),
                        "condim": (0.3, lambda: draw.one(["1", "3", "4", "6"])),
                        "priority": (0.1, lambda: "1"),
                        "solref": (0.1, lambda: f"{draw.number(0.01, 0.05)} 1"),
                        "margin": (0.1, lambda: draw.number(0.0, 0.02)),
                        "solmix": (0.1, lambda: draw.number(0.5, 2.0)),
                    }
                    if collides
                    else {"contype": (1.0, lambda: "0"), "conaffinity": (1.0, lambda: "0")}
                ),
            }
        )
        text += f'<geom name="{draw.geoms[-1]}" type="{kind}" size="{size}" {attributes}/>'
    return text


def _axes(draw: Draw) -> list[str]:
    return [name for name, kind in draw.joints if kind in ("hinge", "slide")]


def _tendons(draw: Draw) -> Iterator[str]:
    laws: dict[str, tuple[float, Callable[[], str]]] = {
        "stiffness": (0.5, lambda: draw.number(0.0, 20.0)),
        "damping": (0.5, lambda: draw.number(0.0, 1.0)),
        "frictionloss": (0.2, lambda: draw.number(0.0, 0.3)),
        "range": (0.3, lambda: draw.range(0.3)),
        "armature": (0.1, lambda: draw.number(0.0, 0.05)),
    }
    text, axes = "", _axes(draw)
    if axes and draw.may(0.25, "tendon"):
        chosen = draw.rng.choice(axes, size=min(2, len(axes)), replace=False)
        parts = "".join(f'<joint joint="{each}" coef="{draw.number(-2, 2)}"/>' for each in chosen)
        text += f'<fixed name="t0" {draw.some(laws)}>{parts}</fixed>'
    if len(draw.sites) > 1 and draw.may(0.25, "tendon"):
        laws = {**laws, "range": (0.3, lambda: f"0 {draw.number(0.2, 0.6)}")}
        ends = "".join(f'<site site="{each}"/>' for each in draw.rng.choice(draw.sites, size=2, replace=False))
        text += f'<spatial name="t1" {draw.some(laws)}>{ends}</spatial>'
    if text:
        yield f"<tendon>{text}</tendon>"


def _equalities(draw: Draw) -> Iterator[str]:
    text, axes = "", _axes(draw)
    how = {"solref": (0.2, lambda: f"{draw.number(0.01, 0.05)} 1"), "active": (0.1, lambda: "false")}
    if len(axes) > 1 and draw.may(0.2, "equality"):
        first, second = draw.rng.choice(axes, size=2, replace=False)
        curve = f"{draw.number(-0.1, 0.1)} {draw.number(-2, 2)} {draw.number(-0.5, 0.5)} 0 0"
        text += f'<joint joint1="{first}" joint2="{second}" polycoef="{curve}" {draw.some(how)}/>'
    if len(draw.bodies) > 1 and draw.may(0.15, "equality"):
        first, second = draw.rng.choice(draw.bodies, size=2, replace=False)
        kind = draw.one(["connect", "weld"])
        anchor = f'anchor="{draw.vector(scale=0.1)}"' if kind == "connect" else ""
        text += f'<{kind} body1="{first}" body2="{second}" {anchor} {draw.some(how)}/>'
    if text:
        yield f"<equality>{text}</equality>"


_ACTUATORS: dict[str, dict[str, tuple[float, float]]] = {
    "motor": {},
    "position": {"kp": (1, 20), "kv": (0, 2), "timeconst": (0.01, 0.1)},
    "velocity": {"kv": (0.1, 2)},
    "intvelocity": {"kp": (1, 20)},
    "damper": {"kv": (0.1, 1)},
    "general": {"gainprm": (0.5, 2), "biasprm": (-1, 1)},
    "cylinder": {"timeconst": (0.05, 0.5), "area": (0.5, 2)},
    "dcmotor": {"motorconst": (0.05, 0.3), "resistance": (1, 5)},
}
"""Attributes of the kinds of actuators, and the ranges of their values."""

_NEEDED = {"motorconst", "resistance", "kp", "kv"}


def _actuators(draw: Draw) -> Iterator[str]:
    axes = _axes(draw)
    if not axes:
        return
    text = ""
    for index in range(draw.rng.integers(0, 4)):
        kind = draw.one(list(_ACTUATORS))
        own = " ".join(
            f'{name}="{draw.number(*bounds)}"'
            for name, bounds in _ACTUATORS[kind].items()
            if (name in _NEEDED and not (name == "kv" and kind == "position")) or draw.may(0.4, name)
        )
        more = draw.some(
            {
                "gear": (0.3, lambda: draw.number(-3, 3)),
                "forcerange": (0.3, lambda: draw.range(2.0)),
                "group": (0.1, lambda: "1"),
            }
        )
        if kind == "damper":
            more += f' ctrlrange="0 {draw.number(0.5, 1)}"'
        elif kind == "intvelocity":
            more += f' actrange="{draw.range(0.5)}"'
        elif draw.may(0.4, "ctrlrange"):
            more += f' ctrlrange="{draw.range(1.0)}"'
        text += f'<{kind} name="a{index}" joint="{draw.rng.choice(axes)}" {own} {more}/>'
    if text:
        yield f"<actuator>{text}</actuator>"


def _contacts(draw: Draw) -> Iterator[str]:
    if len(draw.geoms) > 1 and draw.may(0.1, "pair"):
        first, second = draw.rng.choice(draw.geoms, size=2, replace=False)
        yield f'<contact><pair geom1="{first}" geom2="{second}" condim="3" friction="{draw.number(0.1, 1)}"/></contact>'


@attrs.frozen(kw_only=True)
class Found:
    """What a solver makes of a file."""

    word: str
    """`equal`, `told`, `refused`, `burst`, or `SILENT`."""

    error: float = 0.0
    """Largest distance to plain MuJoCo [m, rad]."""

    allowed: float = 0.0
    words: Sequence[str] = ()
    """Notes or faults."""


def start_of(seed: int, text: str) -> tuple[mujoco.MjModel, str] | None:
    """Return MuJoCo's model of a file and the file with a keyframe, moving and with controls; None if it has no DOF."""
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return None
    if not model.nv:
        return None
    rng = np.random.default_rng([seed, 1])
    qvel = " ".join(f"{each:.4g}" for each in rng.normal(size=model.nv))
    ctrl = " ".join(f"{each:.4g}" for each in rng.uniform(-1, 1, model.nu))
    key = f'<keyframe><key name="k" qvel="{qvel}" {f"ctrl={chr(34)}{ctrl}{chr(34)}" if model.nu else ""}/></keyframe>'
    whole = text.replace("</mujoco>", f"{key}</mujoco>")
    return mujoco.MjModel.from_xml_string(whole), whole


def places(model: Any, data: Any) -> dict[str, np.ndarray]:
    """Return the place [m] and the rotation matrix of each body, shape [12]."""
    return {model.body(i).name: np.r_[data.xpos[i], data.xmat[i]] for i in range(1, model.nbody)}


_ROUNDED = ("body_pos", "body_quat", "body_ipos", "body_iquat", "jnt_pos", "jnt_axis", "site_pos", "geom_pos")


def reference(model: mujoco.MjModel, *, is_rounded: bool = False) -> dict[str, np.ndarray] | None:
    """Return where plain MuJoCo moves the bodies, also from numbers in single precision; None if it diverges."""
    model = copy.copy(model)
    for name in _ROUNDED if is_rounded else ():
        values = getattr(model, name)
        values[:] = values.astype(np.float32)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qvel[:] *= 1.0 + 2.0**-22 * is_rounded
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
    if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number or np.abs(data.qvel).max() > 100.0:
        return None
    mujoco.mj_kinematics(model, data)
    return places(model, data)


def judge(seed: int, solver: str, folder: Path, without: frozenset[str] = frozenset()) -> Found | None:
    """Return what a solver makes of the file of a seed; None if MuJoCo refuses it, it has no DOF, or it diverges."""
    if (started := start_of(seed, text_of(seed, without))) is None:
        return None
    model, text = started
    true, near = reference(model), reference(model, is_rounded=True)
    if true is None or near is None:
        return None
    path = folder / f"r{seed}.xml"
    path.write_text(text, encoding="utf-8")
    config = {
        "simulation": {"device": "cpu", "dt": 0.002, "max_speed": 1e6},
        "scene": {"assets": [{"path": str(path), "keyframe": "k"}], "ground": False},
        "solver": {"type": solver, **({"threads": 1} if solver == "mujoco-native" else {})},
    }
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with pippin.Simulation(pippin.structure(config)) as simulation:
                words = [note for notes in simulation.notes.values() for note in notes]
                simulation.step(STEPS)
                simulation.raise_errors()
                poses, labels = simulation.state.body_q.numpy(), simulation.model.body_label
        except ConfigError as error:
            return Found(word="refused", words=tuple(map(str, error.faults)))
        except SimulationError as error:
            return Found(word="burst", words=(str(error),))
    words += [str(each.message) for each in warned]
    error = 0.0
    for label, pose in zip(labels, poses, strict=True):
        if (name := label.rpartition("/")[2]) in true:
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, np.roll(pose[3:], 1).astype(float))
            error = max(error, float(np.abs(np.r_[pose[:3], turn] - true[name]).max()))
    rounding = max(float(np.abs(near[name] - true[name]).max()) for name in true)
    allowed = max(FLOOR, ROUNDING * rounding)
    word = "equal" if error <= allowed else "told" if words else "SILENT"
    return Found(word=word, error=error, allowed=allowed, words=tuple(words))


def main() -> None:
    """Print the files that part, and how many there are of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solver", default="mujoco-native")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--without", nargs="*", default=[], help="statements that are left out")
    arguments = parser.parse_args()
    mujoco.set_mju_user_warning(lambda _: None)
    counts = collections.Counter[str]()
    with TemporaryDirectory() as folder:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            found = judge(seed, arguments.solver, Path(folder), frozenset(arguments.without))
            counts["none" if found is None else found.word] += 1
            if found is not None and found.word not in ("equal",):
                print(
                    f"{seed} {found.word}: {found.error:.2g}, allowed {found.allowed:.2g}; {found.words[:3]}",
                    flush=True,
                )
    print(dict(counts))


if __name__ == "__main__":
    main()
