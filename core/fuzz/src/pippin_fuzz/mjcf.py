"""Random MJCF files: trees of up to five bodies with what MJCF has.

That is joints, geoms, actuators, tendons, equalities, defaults and options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .files import Draw, RandomFile
from .keyframes import started


def draw(seed: int, without: frozenset[str] = frozenset()) -> RandomFile:
    """Return the file of a seed, with a keyframe in which it moves if MuJoCo reads it, as it does most.

    Args:
        seed: Number of the file.
        without: Words of statements that are left out, such as `tendon`.
    """
    text = started(_text(seed, without), seed)
    return RandomFile(suffix=".xml", text=text, reference=text)


def _text(seed: int, without: frozenset[str]) -> str:
    draw = Draw(np.random.default_rng(seed), without, np.random.default_rng([seed, 2]))
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
        },
        "flag",
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
    name = draw.body()
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
        return f'<freejoint name="{draw.joint("free")}"/>'
    kinds = [["hinge"], ["slide"], ["ball"], ["hinge", "hinge"], ["slide", "hinge"], ["slide", "slide", "hinge"], []]
    is_level = "carried" in draw.without  # no slider on a body that moves
    chosen = kinds[draw.rng.choice(len(kinds), p=[0.4, 0.15, 0.1, 0.1, 0.1, 0.05, 0.1])]
    chosen = [kind for kind in chosen if kind not in draw.without and not (kind == "slide" and depth and is_level)]
    return "".join(_axis(draw, kind) for kind in (chosen[-1:] if "several" in draw.without else chosen))


def _axis(draw: Draw, kind: str) -> str:
    name, has_range = draw.joint(kind), draw.may(0.3, "range", f"{kind}:range")
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
        },
        kind,
    )
    if has_range:
        attributes += f' range="0 {draw.number(0.1, 0.6)}"' if kind == "ball" else f' range="{draw.range(0.4)}"'
    axis = "" if kind == "ball" else f'axis="{draw.vector()}"'
    return f'<joint name="{name}" type="{kind}" {axis} {attributes}/>'


_SIZES = {"sphere": 1, "capsule": 2, "box": 3, "ellipsoid": 3, "cylinder": 2}


def _geoms(draw: Draw) -> str:
    text = ""
    for _ in range(draw.rng.integers(1, 3)):
        kind = draw.one(list(_SIZES)) or "sphere"
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
        share, *masks = draw.later.uniform(), *draw.later.integers(0, 4, 2)
        if collides and share < 0.4 and "contype" not in draw.without:
            attributes += ' contype="{}" conaffinity="{}"'.format(*masks)
        text += f'<geom name="{draw.geoms[-1]}" type="{kind}" size="{size}" {attributes}/>'
    return text


def _tendons(draw: Draw) -> Iterator[str]:
    laws: dict[str, tuple[float, Callable[[], str]]] = {
        "stiffness": (0.5, lambda: draw.number(0.0, 20.0)),
        "damping": (0.5, lambda: draw.number(0.0, 1.0)),
        "frictionloss": (0.2, lambda: draw.number(0.0, 0.3)),
        "range": (0.3, lambda: draw.range(0.3)),
        "armature": (0.1, lambda: draw.number(0.0, 0.05)),
    }
    text, axes = "", draw.axes
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
    text, axes = "", draw.axes
    how = {"solref": (0.2, lambda: f"{draw.number(0.01, 0.05)} 1"), "active": (0.1, lambda: "false")}
    if len(axes) > 1 and draw.may(0.2, "equality", "mimic"):
        first, second = draw.rng.choice(axes, size=2, replace=False)
        curve = f"{draw.number(-0.1, 0.1)} {draw.number(-2, 2)} {draw.number(-0.5, 0.5)} 0 0"
        text += f'<joint joint1="{first}" joint2="{second}" polycoef="{curve}" {draw.some(how)}/>'
    if len(draw.bodies) > 1 and draw.may(0.15, "equality"):
        first, second = draw.rng.choice(draw.bodies, size=2, replace=False)
        kind = draw.one(["connect", "weld"])
        anchor = f'anchor="{draw.vector(scale=0.1)}"' if kind == "connect" else ""
        text += "" if kind is None else f'<{kind} body1="{first}" body2="{second}" {anchor} {draw.some(how)}/>'
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
    axes = draw.axes
    if not axes:
        return
    text = ""
    for index in range(draw.rng.integers(0, 4)):
        if (kind := draw.one(list(_ACTUATORS))) is None:
            return
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
