"""Verdicts on the motion of a file: as in MuJoCo, told, refused, or wrong without a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import mujoco
import numpy as np
from pippin.components import Declaration, make_component
from pippin.config import overridden, structure_choice

from .files import RandomFile
from .motions import Places, motion, plain_motion

FLOOR = 3e-5
"""Distance [m] or angle [rad] that single precision may make after the steps of a file."""

ROUNDING = 100.0
"""Largest error, as a multiple of what a rounding to single precision changes in MuJoCo itself."""

REFINEMENT = 3.0
"""Largest error of the shortest step, as a multiple of what twice this step changes.

A method of the first order has 1. One that converges to another motion changes by less and less, and is found.
"""

FALL = 0.8
"""Largest error of the shortest step, as a multiple of that of twice this step: an error has to fall."""

COARSE = 0.2
"""Largest error, as a part of the way that the bodies move."""

SHARES = (0.5, 0.1)
"""Largest error, as a part of what limits, contacts and equalities do to a file of another format than MJCF.

They are springs there: those of a solver with laws of its own, and of one with MuJoCo's.
"""

DEPTH = 0.01
"""Largest overlap of shapes at the start [m], for solvers with other laws than MuJoCo's."""

DIVISIONS = (1, 2, 4)

_FINE = 16
"""Steps of the reference for each step of the file, if a solver has other laws than MuJoCo."""


@attrs.frozen(kw_only=True)
class Subject:
    """A solver, and how its motions are judged."""

    solver: str
    overrides: tuple[str, ...] = ()
    """Keys of the configuration, each `KEY=VALUE`."""

    features: frozenset[str]
    """What the solver claims."""

    seconds: float = 0.1
    """Length of the motions [s]."""

    tolerance: float = 1e-3
    """Error below which the motion of a solver with other laws than MuJoCo is right [m, rad]."""

    @classmethod
    def of(cls, solver: str, overrides: Sequence[str] = (), **how: float) -> Subject:
        """Return a solver with what it claims.

        Raises:
            ConfigError: The solver refuses its settings.
            PluginError: It is not installed, broken, or claims no features.
        """
        tree = overridden({"solver": {"type": solver}}, overrides)
        component = make_component("solver", structure_choice("solver", tree["solver"]))
        features = Declaration.of(component, solver).supported_features or {}
        return cls(solver=solver, overrides=tuple(overrides), features=frozenset(features), **how)

    @property
    def is_mujoco(self) -> bool:
        """Whether it has MuJoCo's laws, and is compared step by step; the sign is that it claims MuJoCo's tendons."""
        return "mujoco_tendons" in self.features


@attrs.frozen(kw_only=True)
class FuzzVerdict:
    """Verdict on a solver and a file."""

    word: str
    """`equal`, `told`, `refused`, `burst` if the run ends with an error, or `SILENT`."""

    error: float = 0.0
    """Largest distance to plain MuJoCo [m, rad], with the shortest step."""

    allowed: float = 0.0
    words: tuple[str, ...] = ()
    """Notes or faults."""

    errors: Mapping[float, float] = attrs.field(factory=dict)
    """Error by the length of the step [s]."""

    body: str = ""
    """Name of the body with the largest distance."""


def judge(file: RandomFile, subject: Subject, folder: Path) -> FuzzVerdict | None:
    """Return what a solver makes of a file; None if MuJoCo refuses it, nothing in it moves, or it diverges.

    Args:
        file: The file.
        subject: The solver.
        folder: Where the file is written.
    """
    try:
        model = mujoco.MjModel.from_xml_string(file.reference)
    except ValueError:
        return None
    if not model.nkey or (springs := _springs(file, model, subject)) is None:
        return None
    subject = attrs.evolve(subject, tolerance=max(subject.tolerance, SHARES[subject.is_mujoco] * springs))
    is_exact = subject.is_mujoco and springs <= FLOOR
    return (_same_steps if is_exact else _finer_steps)(file, model, subject, folder)


def _same_steps(file: RandomFile, model: mujoco.MjModel, subject: Subject, folder: Path) -> FuzzVerdict | None:
    true = plain_motion(model, subject.seconds)
    near = plain_motion(model, subject.seconds, is_rounded=True)
    if true is None or near is None:
        return None
    found = motion(file, model, subject.seconds, subject.solver, folder, overrides=subject.overrides)
    if found.places is None:
        return FuzzVerdict(word="burst" if found.has_burst else "refused", words=found.words)
    error, body = apart(found.places, true)
    allowed = max(FLOOR, ROUNDING * apart(near, true)[0])
    errors = {model.opt.timestep: error}
    return _verdict(error, allowed, words=found.words, errors=errors, body=body)


def _springs(file: RandomFile, model: mujoco.MjModel, subject: Subject) -> float | None:
    """Return how far springs of limits, contacts and equalities move the bodies of a file that is not MJCF [m, rad].

    None for one that diverges, or starts with shapes so deep in each other that another engine parts them its own way.
    """
    if file.suffix == ".xml":
        return 0.0
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    if not subject.is_mujoco and min(data.contact.dist, default=0.0) < -DEPTH:
        return None
    true, loose = (plain_motion(model, subject.seconds, has_springs=each) for each in (True, False))
    return None if true is None or loose is None else apart(loose, true)[0]


def _finer_steps(file: RandomFile, model: mujoco.MjModel, subject: Subject, folder: Path) -> FuzzVerdict | None:
    true = plain_motion(model, subject.seconds, division=_FINE)
    near = plain_motion(model, subject.seconds, division=_FINE // 2, is_rounded=True)
    start = plain_motion(model, 0.0)
    if true is None or near is None or start is None:
        return None
    largest = max(subject.tolerance, COARSE * apart(start, true)[0])
    tolerance = max(subject.tolerance, ROUNDING * apart(near, true)[0])
    places: dict[int, Places] = {}
    errors: dict[float, float] = {}
    allowed, finest = tolerance, FuzzVerdict(word="equal")
    for division in reversed(DIVISIONS):  # the shortest step first: most files need no other
        found = motion(
            file, model, subject.seconds, subject.solver, folder, division=division, overrides=subject.overrides
        )
        if found.places is None and not places:
            return FuzzVerdict(word="burst" if found.has_burst else "refused", words=found.words)
        if found.places is None:
            break
        places[division] = found.places
        error, body = apart(found.places, true)
        errors[model.opt.timestep / division] = error
        if len(places) == 1:
            finest = FuzzVerdict(word="", error=error, words=found.words, body=body)
        elif len(places) == 2:
            change = apart(found.places, places[DIVISIONS[-1]])[0]
            allowed = max(tolerance, min(REFINEMENT * change, FALL * error, largest))
        if finest.error <= allowed:
            break
    return _verdict(finest.error, allowed, words=finest.words, errors=errors, body=finest.body)


def _verdict(
    error: float, allowed: float, *, words: tuple[str, ...], errors: Mapping[float, float], body: str
) -> FuzzVerdict:
    word = "equal" if error <= allowed else "told" if words else "SILENT"
    return FuzzVerdict(word=word, error=error, allowed=allowed, words=words, errors=errors, body=body)


def apart(places: Places, true: Places) -> tuple[float, str]:
    """Return the largest distance between bodies of one name [m, rad], and the name; infinite if they share none."""
    shared = {name: each for name, each in true.items() if name in places}  # a body that is welded may be merged
    gaps = {name: np.abs(np.nan_to_num(places[name] - each, nan=np.inf)).max() for name, each in shared.items()}
    body = max(gaps, key=lambda name: gaps[name], default="")
    return float(gaps.get(body, np.inf)), body
