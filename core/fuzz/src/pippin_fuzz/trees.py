"""Trees of bodies that a URDF or USD file and its reference in MJCF say alike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import attrs
import mujoco
import numpy as np

from .tapes import Tape

Pose = tuple[np.ndarray, np.ndarray]
"""Position [m], and unit quaternion (w, x, y, z)."""

HERE: Pose = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


def turned(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return a vector in the frame that a quaternion leads to."""
    result = np.zeros(3)
    mujoco.mju_rotVecQuat(result, vector, quaternion)
    return result


def times(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the product of two quaternions."""
    result = np.zeros(4)
    mujoco.mju_mulQuat(result, first, second)
    return result


def chain(first: Pose, second: Pose) -> Pose:
    """Return a pose that is given in another one."""
    return first[0] + turned(first[1], second[0]), times(first[1], second[1])


def inverse(pose: Pose) -> Pose:
    """Return the pose that undoes one."""
    back = pose[1] * [1, -1, -1, -1]
    return -turned(back, pose[0]), back


def about(axis: Sequence[float] | np.ndarray, angle: float) -> np.ndarray:
    """Return the quaternion of a rotation [rad]."""
    unit = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.r_[math.cos(angle / 2), math.sin(angle / 2) * unit]


def numbers(values: Any, between: str = " ") -> str:
    """Return numbers as text, with enough digits for double precision."""
    return between.join(f"{value:.12g}" for value in np.ravel(values))


@attrs.define
class TreeDraw:
    """Random numbers, and what may be stated."""

    rng: Tape
    without: frozenset[str] = frozenset()
    rare: frozenset[str] = frozenset()
    """The few rare statements that this file may make."""

    later: np.random.Generator = attrs.field(factory=lambda: np.random.default_rng(0))
    """For statements that came later, so that seeds keep the others."""

    @classmethod
    def start(
        cls,
        seed: int,
        without: frozenset[str],
        rare: Sequence[str],
        later: Sequence[str] = (),
        tape: Tape | None = None,
    ) -> TreeDraw:
        """Return the draw of a seed, with two of the rare statements, and perhaps one of those that came later."""
        tape, other = tape or Tape(np.random.default_rng(seed)), np.random.default_rng([seed, 2])
        last = str(other.choice([*later, *6 * [""]]))
        chosen = tape.take(
            "rare",
            lambda words: [[], *([each] for each in words or ())],
            lambda rng: [*map(str, rng.choice(rare, size=2, replace=False)), last],
        )
        return cls(tape, without, frozenset(chosen) - without, other)

    def may(self, share: float, word: str = "") -> bool:
        """Draw whether a statement is made."""
        return bool(self.rng.uniform() < share) and word not in self.without

    def now(self, word: str, share: float = 0.6) -> bool:
        """Draw whether a rare statement is made here."""
        return bool(self.rng.uniform() < share) and word in self.rare

    def number(self, low: float, high: float) -> float:
        """Return a number of four digits."""
        return float(f"{self.rng.uniform(low, high):.4g}")

    def vector(self, scale: float = 1.0) -> np.ndarray:
        """Return a vector around zero, of four digits."""
        return np.array([float(f"{each:.4g}") for each in self.rng.normal(size=3) * scale])

    def quaternion(self) -> np.ndarray:
        """Return a unit quaternion, whose digits single precision holds."""
        drawn = self.rng.normal(size=4)
        return (drawn / np.linalg.norm(drawn)).astype(np.float32).astype(float)

    def one(self, names: Sequence[str]) -> str:
        """Return one of some names that are not left out."""
        return str(self.rng.choice([name for name in names if name not in self.without]))

    def moments(self, mass: float) -> np.ndarray:
        """Return the principal moments [kg·m²] of a box of a mass [kg]."""
        squares = self.rng.uniform(0.03, 0.15, 3) ** 2
        return np.array([float(f"{mass / 3 * (squares.sum() - each):.4g}") for each in squares])


@attrs.define(kw_only=True)
class TreeAxis:
    """A joint of the reference, and where it starts."""

    name: str
    kind: str = "hinge"
    text: str = ""
    """Its attributes in MJCF."""

    vector: np.ndarray = attrs.field(factory=lambda: np.array([0.0, 0.0, 1.0]))
    """Its axis in the body, which it crosses at the origin."""

    range: Sequence[float] = ()
    """Limits of Newton's usual stiffness and damping [rad, m]."""

    qpos: float = 0.0
    qvel: Any = 0.0


@attrs.define(kw_only=True)
class TreeLink:
    """A body of the reference."""

    name: str
    parent: int = -1
    """Index of the body that carries it, or -1 for the world."""

    place: Pose = HERE
    """Its pose in the one that carries it, or in the world if it is free."""

    inertial: str = ""
    """The element in MJCF."""

    text: str = ""
    """Attributes in MJCF."""

    axes: Sequence[TreeAxis] = ()
    geoms: Sequence[str] = ()

    @property
    def is_free(self) -> bool:
        """Whether nothing carries it."""
        return any(axis.kind == "free" for axis in self.axes)


def world_pose(links: Sequence[TreeLink], index: int) -> Pose:
    """Return the pose in which a body starts."""
    if index < 0:
        return HERE
    link = links[index]
    pose = link.place if link.is_free else chain(world_pose(links, link.parent), link.place)
    for axis in link.axes:
        pose = chain(pose, _moved(axis))
    return pose


def _moved(axis: TreeAxis) -> Pose:
    if axis.kind == "hinge":
        return np.zeros(3), about(axis.vector, axis.qpos)
    return (axis.qpos * axis.vector / np.linalg.norm(axis.vector) if axis.kind == "slide" else np.zeros(3)), HERE[1]


def inertial(mass: float, com: np.ndarray, tensor: np.ndarray) -> str:
    """Return the element in MJCF of an inertia [kg·m²] about the centre of mass, in axes of the body."""
    full = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return f'<inertial pos="{numbers(com)}" mass="{mass:.12g}" fullinertia="{numbers(full)}"/>'


def tilted(tensor: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """Return an inertia that is given in a turned frame, shape [3, 3]."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3) @ tensor @ matrix.reshape(3, 3).T


def tensor(moments: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """Return an inertia in axes of the body from its principal moments [kg·m²] and their axes, shape [3, 3]."""
    return tilted(np.diag(moments), quaternion)


def mass_of(geoms: Sequence[str]) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mass [kg], the centre [m] and the inertia [kg·m²] of a body's geoms, as MuJoCo has them."""
    body = f"<mujoco><worldbody><body><freejoint/>{''.join(geoms)}</body></worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(body)
    return model.body_mass[1], model.body_ipos[1], tensor(model.body_inertia[1], model.body_iquat[1])


def reference(
    links: Sequence[TreeLink], gravity: Sequence[float], *, more: Sequence[str], world: str, has_contacts: bool
) -> str:
    """Return the MJCF of a tree with more equalities and actuators; at its keyframe, all controls are 1."""
    order = [*_order(links, -1)]
    axes = [axis for index in order for axis in links[index].axes]
    qpos = [_start(links, axis) for axis in axes]
    qvel = [np.ravel(axis.qvel) for axis in axes]
    flag = f'<flag {"multiccd" if has_contacts else "contact"}="disable"/>'  # only MJCF can ask for several contacts
    equalities, actuators = ([each for each in more if each.startswith("<joint") == kind] for kind in (True, False))
    ctrl = " ".join("1" for _ in actuators)
    key = f'<key name="start" qpos="{_joined(qpos)}" qvel="{_joined(qvel)}" ctrl="{ctrl}"/>' if axes else ""
    return _with_springs(
        '<mujoco><compiler angle="radian" autolimits="true" balanceinertia="false" boundmass="0"/>'
        f'<option gravity="{numbers(gravity)}" timestep=".002" integrator="implicitfast">{flag}</option>'
        f"<worldbody>{world}{_bodies(links, -1)}</worldbody><actuator>{''.join(actuators)}</actuator>"
        f"<equality>{''.join(equalities)}</equality><keyframe>{key}</keyframe></mujoco>"
    )


def _joined(values: Iterable[Any]) -> str:
    return " ".join(numbers(each) for each in values)


def _start(links: Sequence[TreeLink], axis: TreeAxis) -> Sequence[float]:
    if axis.kind == "free":
        return np.r_[next(link.place for link in links if any(each is axis for each in link.axes))].tolist()
    return [1.0, 0.0, 0.0, 0.0] if axis.kind == "ball" else [axis.qpos]


def _children(links: Sequence[TreeLink], parent: int) -> Iterator[int]:
    """Yield what a body carries; free bodies are at the top level, as MuJoCo demands."""
    for index, link in enumerate(links):
        if parent == (-1 if link.is_free else link.parent):
            yield index


def _order(links: Sequence[TreeLink], parent: int) -> Iterator[int]:
    for index in _children(links, parent):
        yield index
        yield from _order(links, index)


def _bodies(links: Sequence[TreeLink], parent: int) -> str:
    text = ""
    for index in _children(links, parent):
        link = links[index]
        joints = "".join(
            f"<joint name={quoteattr(axis.name)} type={quoteattr(axis.kind)} {_attributes(axis)}/>"
            for axis in link.axes
        )
        text += (
            f'<body name={quoteattr(link.name)} pos="{numbers(link.place[0])}" quat="{numbers(link.place[1])}"'
            f" {link.text}>{joints}{link.inertial}{''.join(link.geoms)}{_bodies(links, index)}</body>"
        )
    return text


def _attributes(axis: TreeAxis) -> str:
    text = f'axis="{numbers(axis.vector)}" {axis.text}' if axis.kind in ("hinge", "slide") else axis.text
    return f'{text} range="{numbers(axis.range)}" {_SPRING}' if axis.range else text


_SPRING = 'solreflimit="-10000 -10" solimplimit=".02 .02"'
"""Stiffness [N·m/rad, N/m] and damping of a limit, before they are divided by what the joint moves."""


def _with_springs(text: str) -> str:
    """Return a file whose limits have the stiffness and damping of Newton's, whatever their joints move."""
    model = mujoco.MjModel.from_xml_string(text)
    before, *rest = text.split(_SPRING)
    limited = [joint for joint in range(model.njnt) if model.jnt_limited[joint]]
    for joint, after in zip(limited, rest, strict=True):
        rate = model.dof_invweight0[model.jnt_dofadr[joint]]
        before += f'solreflimit="{-1e4 * rate:.12g} {-10 * rate:.12g}" solimplimit=".02 .02"{after}'
    return before
