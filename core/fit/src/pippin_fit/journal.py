"""The journal of a fit: a small file after each iteration, from which the same command continues."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np
from pippin import ConfigError, SimulationConfig
from pippin.array_files import read_arrays
from pippin.config import dump_toml

from .least_squares import ALL_TAKEN, DAMPING
from .verdicts import FitVerdict

_Made = TypeVar("_Made")

_EXPLORED, _STARTS = "explored.npz", "starts.npz"

_RESET = ("unknowns", "is_free", "numbers")
_ARRAYS = ("unknowns", "is_free", "starts", "damping", "costs", "ends", "least")
"""Attributes of a reset and of a state that are arrays of a file."""


@attrs.frozen(kw_only=True, eq=False)
class StartsState:
    """State of searches from several starts, from which they continue."""

    x: np.ndarray
    """The best point of each, shape [starts, unknowns]."""

    costs: np.ndarray
    """Its cost, shape [starts]; infinite if a search diverges at its start."""

    dampings: np.ndarray
    """The damping of its next step, shape [starts]."""

    taken: np.ndarray
    """Its iterations, shape [starts]."""

    is_over: np.ndarray
    """Whether it has ended, shape [starts]."""


@attrs.frozen(kw_only=True, eq=False)
class ValueReset:
    """A reset of unobservable values to the file, and the minimum before it."""

    unknowns: np.ndarray
    """The unknowns before, shape [values]."""

    is_free: np.ndarray
    """Whether each of them varied, shape [values]."""

    numbers: np.ndarray
    """Numbers of the values that were reset, shape [numbers]."""


@attrs.define(kw_only=True, eq=False)
class FitState:
    """State of a fit, from which it continues after a stop. Its arrays are replaced, not written into."""

    unknowns: np.ndarray
    """The unknowns, shape [values]."""

    is_free: np.ndarray
    """Whether each of them varies, shape [values]."""

    starts: np.ndarray = attrs.field(factory=lambda: np.zeros((0, 0)))
    """Shifts of the starts of the windows at this point, shape [windows, states]; empty if they are not estimated."""

    damping: float = DAMPING
    """The damping of the next step."""

    taken: int = 0
    """Iterations of the present search."""

    costs: list[float] = attrs.field(factory=list)
    """Root mean squares of the residuals so far."""

    ends: tuple[float, ...] = ()
    """Root mean squares of the residuals at the ends of several starts."""

    ended: str = ""
    """Reason for the end of the present search; empty before it."""

    verdicts: dict[int, FitVerdict] = attrs.field(factory=dict)
    """Verdicts on the held values, and on values that depend on them, by their number."""

    least: float = np.inf
    """The lowest cost at the end of a search; infinite before the first end."""

    reset: ValueReset | None = None
    """The last reset of values, until the others have been fitted anew."""

    def is_over(self, iterations: int) -> bool:
        """Return whether the present search has ended, and more iterations would not continue it."""
        return bool(self.ended) and (self.ended != ALL_TAKEN or self.taken >= iterations)


def key_of(config: SimulationConfig, logs: Iterable[Path]) -> str:
    """Return the digest of all that a fit depends on: the file, the logs, and the version. More iterations leave
    the earlier ones as they were.
    """
    assert config.fit is not None, "the file has been checked"
    same = config.with_tables(fit=attrs.evolve(config.fit, iterations=1))
    digest = hashlib.blake2b(f"{version('pippin')}\n{dump_toml(same)}".encode(), digest_size=16)
    for log in logs:
        for part in sorted(log.rglob("*")) if log.is_dir() else [log]:
            digest.update(part.read_bytes() if part.is_file() else b"")
    return digest.hexdigest()


class Journal:
    """The files of the iterations of a fit. Each is written under another name first, so that none is half a file."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder, self._key = folder, key

    def last(self) -> FitState | None:
        """Return the state after the last iteration; None if there is none. That of another fit is refused."""
        files = sorted(self._folder.glob("[0-9]*.npz"))
        return self._read(files[-1], _state) if files else None

    def _read(self, file: Path, make: Callable[[Mapping[str, np.ndarray], Any], _Made]) -> _Made:
        try:
            arrays = read_arrays(file)
            notes = json.loads(str(arrays["notes"]))
            is_own = notes["key"] == self._key
            made = make(arrays, notes) if is_own else None
        except (ValueError, LookupError, TypeError) as error:
            raise ConfigError(
                f"out: '{file}' is broken, or of another version ({type(error).__name__}: {error}); remove it, or"
                " choose another folder"
            ) from error
        if made is None:
            raise ConfigError(
                f"out: '{self._folder.parent}' has a fit of another file, log or version; choose another folder, or"
                " give the same ones"
            )
        return made

    def explored(self) -> Sequence[np.ndarray]:
        """Return the costs of the generations of an evolution so far, shape [population] each."""
        file = self._folder / _EXPLORED
        return self._read(file, lambda arrays, _: list(arrays["costs"])) if file.is_file() else []

    def save_explored(self, costs: Sequence[np.ndarray]) -> None:
        """Write the costs of the generations of an evolution."""
        self._write(_EXPLORED, {}, costs=np.stack(costs))

    def starts(self) -> StartsState | None:
        """Return how far the searches from several starts are; None if there are none."""
        file = self._folder / _STARTS
        if not file.is_file():
            return None
        names = attrs.fields_dict(StartsState)
        return self._read(file, lambda arrays, _: StartsState(**{name: arrays[name] for name in names}))

    def save_starts(self, state: StartsState) -> None:
        """Write how far the searches from several starts are."""
        self._write(_STARTS, {}, **attrs.asdict(state))

    def save(self, state: FitState) -> None:
        """Write the state after an iteration."""
        verdicts = {number: attrs.asdict(each) for number, each in state.verdicts.items()}
        notes = {"taken": state.taken, "ended": state.ended, "verdicts": verdicts, "has_reset": state.reset is not None}
        arrays = {name: np.array(getattr(state, name)) for name in _ARRAYS}
        if state.reset is not None:
            arrays |= {f"reset_{name}": getattr(state.reset, name) for name in _RESET}
        self._write(f"{len(list(self._folder.glob('[0-9]*.npz'))):04d}.npz", notes, **arrays)

    def _write(self, name: str, notes: Mapping[str, Any], **arrays: Any) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        hidden = self._folder / ".next.npz"
        np.savez(hidden, notes=np.array(json.dumps({"key": self._key, **notes})), **arrays)
        os.replace(hidden, self._folder / name)


def _state(arrays: Mapping[str, np.ndarray], notes: Any) -> FitState:
    return FitState(
        unknowns=arrays["unknowns"],
        is_free=arrays["is_free"],
        starts=arrays["starts"],
        damping=float(arrays["damping"]),
        taken=notes["taken"],
        costs=arrays["costs"].tolist(),
        ends=tuple(arrays["ends"].tolist()),
        ended=notes["ended"],
        verdicts={int(number): _verdict(each) for number, each in notes["verdicts"].items()},
        least=float(arrays["least"]),
        reset=ValueReset(**{name: arrays[f"reset_{name}"] for name in _RESET}) if notes["has_reset"] else None,
    )


def _verdict(notes: dict[str, Any]) -> FitVerdict:
    return FitVerdict(**notes | {"coupled": tuple(notes["coupled"])})
