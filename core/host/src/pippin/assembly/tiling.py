"""Models of many equal worlds, made of models of two to five of them.

What a model holds of its worlds is a prefix, a block for each of N worlds, and a suffix. A whole number in the block of
world w is c + w·d + N·e; whatever else is there is the same in each block. Models of two and three worlds give the law,
those of four and five check it. Nothing here knows what a number means: if something has no law, Newton builds all.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from types import FunctionType
from typing import Any, TypeAlias

import attrs
import newton
import numpy as np
import warp as wp

SAMPLES = (2, 3, 4, 5)
"""Numbers of worlds of the models that tell the laws."""

_FEWEST = 256
"""Number of worlds from which four small models cost less than Newton's own."""

SAMPLES_OF_TURNS = (1, 2, 3)
"""The same of turns, if worlds differ in turn: one and two give the law, and three check it."""

_FEWEST_TURNS = 12
"""Number of turns from which these models cost less than Newton's own."""

_LONGEST_PREFIX = 16
"""Largest number of rows before the first world that is tried, beside none and all that are of no world."""

_ALIKE = (bool, float, str, bytes, type(None), enum.Enum, set, frozenset, np.floating, type)
"""Types of what is the same in each sample."""

_REBUILT = "bvh_"
"""Part of the names of what a call builds anew, with memory that Newton leaves unwritten."""

_Law: TypeAlias = Callable[[int], Any]
"""Returns a value of the model of some worlds."""

Finished: TypeAlias = tuple[newton.Model, newton.ModelBuilder]
"""A model, and the builder that made it."""

Build: TypeAlias = Callable[[Iterable[tuple[int, int]]], Finished]
"""Builds the model of runs of neighbouring worlds, each a prototype and a number of worlds."""


def tiled(build: Build, prototype_of_world: np.ndarray) -> newton.Model | None:
    """Return the model of all worlds if prototypes come in turn and models of few turns follow a law; else None.

    Args:
        build: Builds the models of few worlds.
        prototype_of_world: The prototype of each world, shape [world_count].
    """
    worlds, length = len(prototype_of_world), int(prototype_of_world.max()) + 1
    turn = prototype_of_world[:length]
    if worlds < _FEWEST or worlds % length or (length > 1 and worlds < _FEWEST_TURNS * length):
        return None
    if (prototype_of_world.reshape(-1, length) != turn).any():
        return None
    runs = [(int(prototype), 1) for prototype in turn]
    samples, counts = [], SAMPLES if length == 1 else SAMPLES_OF_TURNS
    for count in counts:
        with warnings.catch_warnings():
            if samples:
                warnings.simplefilter("ignore")  # the first one has said it
            samples.append(build([(0, count)] if length == 1 else runs * count))
    models = {count: model for count, (model, _) in zip(counts, samples, strict=True)}
    return tile(models, worlds // length, samples[0][1].default_bvh_cfg)


def tile(samples: Mapping[int, newton.Model], count: int, bvh: newton.ModelBuilder.BvhConfig) -> newton.Model | None:
    """Return the model of many worlds, or of many turns of worlds; None if the samples follow no law.

    Args:
        samples: At least three models of the same prototypes, by their worlds or turns, each of one more. The last one
            is used up.
        count: The number of worlds or turns.
        bvh: How the trees of bounds are built.
    """
    try:
        law = _Laws(list(samples)).of_members([_members(each) for each in samples.values()])
    except _NoLawError:
        return None
    model: Any = list(samples.values())[-1]
    vars(model).update(law(count))
    model.bvh_build_shapes(model, bvh_constructor=bvh.shape_constructor, shape_flags=bvh.shape_flags)
    model.bvh_build_particles(model)
    return model


def _members(of: Any) -> dict[str, Any]:
    names = vars(of) if hasattr(of, "__dict__") else getattr(of, "__slots__", ())
    return {name: getattr(of, name) for name in names if _REBUILT not in name}


class _NoLawError(Exception):
    """Some values of the small models follow no law."""


@attrs.frozen(eq=False)
class _Rows:
    """The law of an array: its prefix, its block and its suffix of no worlds, and how their whole numbers grow."""

    parts: Sequence[np.ndarray]
    dtype: np.dtype
    by_count: Sequence[np.ndarray] = ()
    by_world: np.ndarray | None = None

    @classmethod
    def of(cls, worlds: Sequence[int], samples: Sequence[np.ndarray]) -> _Rows:
        """Return the law of the samples of an array with as many worlds.

        Raises:
            _NoLawError: There is none.
        """
        counts = [len(each) for each in samples]
        block = counts[1] - counts[0]
        fixed = counts[0] - worlds[0] * block
        if fixed < 0 or any(count != fixed + n * block for n, count in zip(worlds, counts, strict=True)):
            raise _NoLawError
        for prefix in dict.fromkeys((0, fixed, *range(min(fixed, _LONGEST_PREFIX)))) if block else (fixed,):
            law = cls._guessed(worlds[0], *(_split(samples[at], worlds[at], prefix, block) for at in (0, 1)))
            if all(_is_same(law(n), each) for n, each in zip(worlds, samples, strict=True)):
                return law
        raise _NoLawError

    @classmethod
    def _guessed(cls, worlds: int, one: Sequence[np.ndarray], more: Sequence[np.ndarray]) -> _Rows:
        """Return the law that the parts of the two smallest samples have, if they have one."""
        dtype = one[0].dtype
        if dtype.kind not in "iu":
            return cls([one[0], one[1][0], one[2]], dtype)
        first, second = ([np.array(part, dtype=np.int64) for part in each] for each in (one, more))
        by_world = second[1][1] - second[1][0]
        first[1], second[1] = first[1][0], second[1][0]
        slopes = [new - old for old, new in zip(first, second, strict=True)]
        starts = [part - worlds * slope for part, slope in zip(first, slopes, strict=True)]
        return cls(starts, dtype, slopes, by_world if by_world.any() else None)

    def __call__(self, count: int) -> np.ndarray:
        prefix, block, suffix = self.parts
        if self.by_count:
            prefix, block, suffix = (part + count * by for part, by in zip(self.parts, self.by_count, strict=True))
        blocks = np.broadcast_to(block, (count, *block.shape))
        if self.by_world is not None:
            blocks = blocks + np.arange(count).reshape(-1, *[1] * block.ndim) * self.by_world
        rows = blocks.reshape(-1, *block.shape[1:])
        return np.concatenate([prefix, rows, suffix], dtype=self.dtype, casting="unsafe")


def _split(rows: np.ndarray, count: int, prefix: int, block: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    end = prefix + count * block
    return rows[:prefix], rows[prefix:end].reshape(count, block, *rows.shape[1:]), rows[end:]


def _is_same(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes()


class _Laws:
    """The laws of the values of some samples, each found once."""

    def __init__(self, worlds: Sequence[int]) -> None:
        self._rows = partial(_Rows.of, worlds)
        self._known: dict[tuple[int, ...], tuple[Any, _Law]] = {}

    def of(self, samples: Sequence[Any]) -> _Law:
        """Return the law of the samples of a value.

        Raises:
            _NoLawError: There is none.
        """
        last = samples[-1]
        if all(each is last for each in samples):
            return lambda _: last
        key = tuple(map(id, samples))
        if key not in self._known:
            if any(type(each) is not type(last) for each in samples):
                raise _NoLawError
            self._known[key] = samples, lru_cache(1)(self._found(samples))  # what has two names is one thing
        return self._known[key][1]

    def _found(self, samples: Sequence[Any]) -> _Law:
        last: Any = samples[-1]
        if isinstance(last, _ALIKE) or dataclasses.is_dataclass(last):
            return _alike(samples)
        if isinstance(last, int | np.integer):
            row = self._rows([np.array([each], dtype=np.int64) for each in samples])
            return lambda n: type(last)(row(n)[0])
        if isinstance(last, np.ndarray):
            return self._rows(samples)
        if isinstance(last, wp.array):
            return self._of_array(samples)
        if isinstance(last, list | tuple):
            return self._of_sequence(samples)
        if isinstance(last, Mapping):
            return self._of_mapping(samples)
        if isinstance(last, wp.HashGrid):
            return lambda _: last  # it holds nothing before it is built
        if (callable(last) and not hasattr(last, "__dict__")) or isinstance(last, FunctionType | partial):
            answer = self.of([each() for each in samples])
            return lambda n: partial(_given, answer(n))
        if hasattr(last, "_cls"):  # an instance of a structure of Warp's
            members = self.of_members([{name: getattr(each, name) for name in each._cls.vars} for each in samples])
            return lambda n: _filled(last._cls(), members(n))
        if type(last).__module__.startswith("newton."):
            members = self.of_members([_members(each) for each in samples])
            return lambda n: _filled(copy.copy(last), members(n))
        raise _NoLawError

    def _of_array(self, samples: Sequence[wp.array]) -> _Law:
        last, rows = samples[-1], [each.numpy() for each in samples]
        if all(_is_same(each, rows[-1]) for each in rows):
            return lambda _: last
        law = self._rows(rows)
        options: Any = {"dtype": last.dtype, "device": last.device, "requires_grad": last.requires_grad}
        return lambda n: wp.array(law(n), **options)

    def of_members(self, samples: Sequence[Mapping[Any, Any]]) -> _Law:
        """Return the law of values by name.

        Raises:
            _NoLawError: One has none, or the samples have other names.
        """
        if any(list(each) != list(samples[0]) for each in samples):
            raise _NoLawError
        laws = {name: self.of([each[name] for each in samples]) for name in samples[0]}
        return lambda n: {name: law(n) for name, law in laws.items()}

    def _of_mapping(self, samples: Sequence[Mapping[Any, Any]]) -> _Law:
        if type(samples[-1]) is not dict:
            raise _NoLawError
        if all(list(each) == list(samples[0]) for each in samples):
            return self.of_members(samples)
        keys, values = self.of([[*each] for each in samples]), self.of([[*each.values()] for each in samples])
        return lambda n: dict(zip(keys(n), values(n), strict=True))

    def _of_sequence(self, samples: Sequence[Sequence[Any]]) -> _Law:
        every = list(chain.from_iterable(samples))
        kinds, sequence = {type(each) for each in every}, tuple if isinstance(samples[-1], tuple) else list
        if kinds == {int}:
            row = self._rows([np.array(each, dtype=np.int64) for each in samples])
            return lambda n: sequence(row(n).tolist())
        if len({len(each) for each in samples}) == 1:
            laws = [self.of(each) for each in zip(*samples, strict=True)]
            return lambda n: sequence([law(n) for law in laws])
        if kinds == {list}:
            return self._of_lists(samples)
        keys = [[each if isinstance(each, _ALIKE) else id(each) for each in sample] for sample in samples]
        values = dict(zip(chain.from_iterable(keys), every, strict=True))
        numbers = {key: float(number) for number, key in enumerate(values)}  # no whole ones, so that none may grow
        parts = self._rows([np.array([numbers[key] for key in each]) for each in keys]).parts
        distinct = [*values.values()]
        prefix, block, suffix = ([distinct[int(number)] for number in each] for each in parts)
        return lambda n: sequence([*prefix, *block * n, *suffix])

    def _of_lists(self, samples: Sequence[Sequence[list[int]]]) -> _Law:
        """Return the law of lists of whole numbers, of which the first ones may grow, too."""
        sizes = [list(map(len, each)) for each in samples]
        grown = [place for place, each in enumerate(zip(*sizes, strict=False)) if len(set(each)) > 1]
        alone = grown[-1] + 1 if grown else 0
        heads = [self.of([each[place] for each in samples]) for place in range(alone)]
        flat = self.of([[*chain.from_iterable(each[alone:])] for each in samples])
        ends = self.of([np.cumsum(each[alone:]) for each in sizes])
        return lambda n: [*(head(n) for head in heads), *_parted(flat(n), ends(n).tolist())]


def _alike(samples: Sequence[Any]) -> _Law:
    if any(each != samples[-1] for each in samples):
        raise _NoLawError
    return lambda _: samples[-1]


def _filled(of: Any, members: Mapping[str, Any]) -> Any:
    for name, value in members.items():
        object.__setattr__(of, name, value) if hasattr(of, "__dict__") else setattr(of, name, value)
    return of


def _given(value: Any) -> Any:
    return value


def _parted(values: Sequence[int], ends: Sequence[int]) -> list[Sequence[int]]:
    return [values[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
