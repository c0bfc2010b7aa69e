"""Random mechanisms: trees of bodies whose motion every solver should have that claims their joints.

Axes are skew, frames are turned, centres of mass are off the joints, and a body is as hard to turn as its distance from
the joint makes it. Nothing touches, and no force is stiff: what is left has one answer, to which each method converges.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .files import Draw, RandomFile
from .keyframes import started

_KINDS = (("hinge",), ("slide",), ("ball",), ("hinge", "hinge"), ("slide", "hinge"), ("slide", "slide"), ())
_SHARES = (0.38, 0.2, 0.15, 0.08, 0.08, 0.05, 0.06)

_WORDS: Mapping[tuple[str, ...], str] = {
    ("hinge", "hinge"): "several",
    ("slide", "slide"): "several",
    ("slide", "hinge"): "d6",
}
"""Words of several axes: two that are alike may need a link without mass between them."""

_STIFF = 'solref=".001 1" solimp=".9999 .9999 .001"'
"""Constraints of MuJoCo that give way as little as it can."""


def draw(seed: int, without: frozenset[str] = frozenset()) -> RandomFile:
    """Return the mechanism of a seed, in MJCF.

    Args:
        seed: Number of the mechanism.
        without: Words of statements that are left out, such as `ball`.
    """
    draw = Draw(np.random.default_rng([seed, 2]), without)
    world = _body(draw, 0)
    equalities, actuators = _equalities(draw), _servos(draw)
    text = (
        f'<mujoco model="m{seed}"><compiler angle="radian"/>'
        f'<option gravity="{draw.vector(scale=5.0)}" timestep=".002" integrator="implicitfast"/>'
        f"<worldbody>{world}</worldbody>{equalities}{actuators}</mujoco>"
    )
    text = started(text, seed, is_at_rest=bool(equalities))
    return RandomFile(suffix=".xml", text=text, reference=text)


def _body(draw: Draw, depth: int) -> str:
    place = f'pos="{draw.vector(scale=0.3)}" {draw.some({"quat": (0.7, lambda: draw.vector(4))})}'
    text = f'<body name="{draw.body()}" {place}>{_joints(draw, depth)}{_inertial(draw)}'
    while len(draw.bodies) < 4 and depth < 3 and draw.may(0.55):
        text += _body(draw, depth + 1)
    return text + "</body>"


def _inertial(draw: Draw) -> str:
    mass, radius = draw.rng.uniform(0.3, 2.0), draw.rng.uniform(0.06, 0.2)
    moments = mass * radius**2 * draw.rng.uniform(0.6, 1.0, 3)
    numbers = " ".join(f"{each:.4g}" for each in moments)
    turn = f'quat="{draw.vector(4)}"' if draw.may(0.6) else ""
    return f'<inertial pos="{draw.vector(scale=0.12)}" {turn} mass="{mass:.4g}" diaginertia="{numbers}"/>'


def _joints(draw: Draw, depth: int) -> str:
    if depth == 0 and draw.may(0.15, "free"):
        return f'<freejoint name="{draw.joint("free")}"/>'
    left_out = draw.without | ({"slide"} if depth and "carried" in draw.without else set())
    kinds = [chosen for chosen in _KINDS if left_out.isdisjoint((*chosen, _WORDS.get(chosen, "")))]
    shares = np.array([share for chosen, share in zip(_KINDS, _SHARES, strict=True) if chosen in kinds])
    chosen = kinds[draw.rng.choice(len(kinds), p=shares / shares.sum())]
    if not chosen and depth == 0:
        chosen = kinds[0]  # it would not move
    return "".join(_axis(draw, kind, is_alone=len(chosen) == 1) for kind in chosen)


def _axis(draw: Draw, kind: str, *, is_alone: bool) -> str:
    scale = 0.1 if kind == "slide" else 0.02
    attributes = draw.some(
        {
            **({"pos": (0.5, lambda: draw.vector(scale=0.15))} if is_alone or "several" not in draw.without else {}),
            "damping": (0.3, lambda: draw.number(0.0, 10 * scale)),
            "stiffness": (0.25, lambda: draw.number(0.0, 200 * scale)),
            "armature": (0.25, lambda: draw.number(0.0, scale)),
            **({} if kind == "ball" else {"springref": (0.2, lambda: draw.number(-0.5, 0.5))}),
        },
        kind,
    )
    if kind != "ball":
        is_skew = draw.may(0.8) or not is_alone  # two parallel axes have no mass matrix
        attributes += f' axis="{draw.vector() if is_skew else draw.one(["1 0 0", "0 1 0", "0 0 1"])}"'
        if draw.may(0.25, "range"):  # the joint does not reach it
            attributes += f' range="-{draw.number(3, 6)} {draw.number(3, 6)}"'
    return f'<joint name="{draw.joint(kind)}" type="{kind}" {attributes}/>'


def _equalities(draw: Draw) -> str:
    if len(draw.axes) > 1 and draw.may(0.2, "mimic"):
        first, second = draw.rng.choice(draw.axes, size=2, replace=False)
        curve = f'polycoef="0 {draw.number(-2, 2)} 0 0 0"'
        return f'<equality><joint joint1="{first}" joint2="{second}" {curve} {_STIFF}/></equality>'
    if len(draw.bodies) > 2 and draw.may(0.15, "connect"):
        first, second = draw.bodies[0], draw.bodies[-1]
        anchor = f'anchor="{draw.vector(scale=0.1)}"'
        return f'<equality><connect body1="{first}" body2="{second}" {anchor} {_STIFF}/></equality>'
    return ""


def _servos(draw: Draw) -> str:
    servos = [
        f'<position name="a{index}" joint="{axis}" kp="{draw.number(1, 10)}" kv="{draw.number(0, 0.5)}"/>'
        for index, axis in enumerate(draw.axes)
        if draw.may(0.15, "position")
    ]
    return f"<actuator>{''.join(servos)}</actuator>" if servos else ""
