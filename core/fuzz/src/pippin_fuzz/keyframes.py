"""Starts of files: MJCF with a keyframe, in which its joints move and its actuators have controls."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import attrs
import mujoco
import numpy as np

_KEYFRAME = re.compile(r"<keyframe>.*?</keyframe>", re.DOTALL)


@attrs.frozen
class Start:
    """Velocities [m/s, rad/s] and controls by the names of joints and actuators."""

    velocities: Mapping[str, Sequence[float]]
    controls: Mapping[str, float]

    @classmethod
    def of(cls, text: str) -> Start:
        """Return the start of an MJCF file; empty if it has no keyframe.

        Raises:
            ValueError: MuJoCo does not read the file.
        """
        model = mujoco.MjModel.from_xml_string(text)
        if not model.nkey:
            return cls({}, {})
        velocities = {name: model.key_qvel[0][places].tolist() for name, places in _dofs(model).items()}
        return cls(velocities, {model.actuator(i).name: float(model.key_ctrl[0][i]) for i in range(model.nu)})

    def put_into(self, text: str) -> str:
        """Return an MJCF file with this start, as far as it has the joints and actuators.

        Raises:
            ValueError: MuJoCo does not read the file, or nothing in it can move.
        """
        model = mujoco.MjModel.from_xml_string(text := without_keyframe(text))
        if not model.nv:
            raise ValueError("the file has no degree of freedom")
        qvel = np.zeros(model.nv)
        for name, places in _dofs(model).items():
            if len(own := self.velocities.get(name, ())) == places.stop - places.start:
                qvel[places] = own
        ctrl = [self.controls.get(model.actuator(i).name, 0.0) for i in range(model.nu)]
        controls = f' ctrl="{_text(ctrl)}"' if ctrl else ""
        key = f'<keyframe><key name="k" qvel="{_text(qvel)}"{controls}/></keyframe>'
        return text.replace("</mujoco>", f"{key}</mujoco>")


def started(text: str, seed: int, *, is_at_rest: bool = False) -> str:
    """Return an MJCF file with random velocities and controls; as it is if MuJoCo refuses it, or nothing can move."""
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return text
    if not model.nv:
        return text
    rng = np.random.default_rng([seed, 1])
    qvel = rng.normal(size=model.nv) * (not is_at_rest)
    ctrl = rng.uniform(-1, 1, model.nu)
    velocities = {name: qvel[places].tolist() for name, places in _dofs(model).items()}
    return Start(velocities, {model.actuator(i).name: ctrl[i] for i in range(model.nu)}).put_into(text)


def without_keyframe(text: str) -> str:
    """Return an MJCF file without its keyframe."""
    return _KEYFRAME.sub("", text)


def _text(numbers: Sequence[float] | np.ndarray) -> str:
    return " ".join(f"{each:.4g}" for each in numbers)


def _dofs(model: mujoco.MjModel) -> dict[str, slice]:
    """Return the places of the velocities of each joint."""
    ends = [*model.jnt_dofadr[1:], model.nv]
    return {model.joint(i).name: slice(int(model.jnt_dofadr[i]), int(ends[i])) for i in range(model.njnt)}
