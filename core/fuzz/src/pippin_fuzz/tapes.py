"""Smaller URDF and USD files with the same verdict: the numbers that a file was drawn with are played again, fewer of
them and simpler ones. File and reference come from the same numbers, and so they still say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from .files import RandomFile

_NEVER = 1.0
"""A share for which no statement is made."""


@attrs.frozen(eq=False)
class Drawn:
    """A number, a vector or a word that was drawn."""

    kind: str
    value: Any
    simple: Sequence[Any]
    """What may stand in its place, the simplest first."""


Parts = Mapping[int, Sequence[Drawn]]
"""What was drawn of each body, and of the whole file: -1."""


@attrs.define(eq=False)
class Tape:
    """Draws as of NumPy's generator, which are recorded; without a generator those that are played, and simple ones
    where none is left.
    """

    rng: np.random.Generator | None = None
    played: Parts = attrs.field(factory=dict)
    part: int = -1
    """Whose draws the next ones are."""

    drawn: dict[int, list[Drawn]] = attrs.field(factory=dict)

    def take(self, kind: str, simple: Callable[[Any], Sequence[Any]], draw: Callable[[Any], Any]) -> Any:
        """Return the next draw of a kind, given its simpler ones and how a generator draws it."""
        own, left = self.drawn.setdefault(self.part, []), self.played.get(self.part, ())
        same = [each.value for each in left if each.kind == kind][sum(each.kind == kind for each in own) :]
        value = draw(self.rng) if self.rng is not None else same[0] if same else simple(None)[-1]
        own.append(Drawn(kind, value, simple(value)))
        return value

    def uniform(self, low: float | None = None, high: float = 1.0, size: int | None = None) -> Any:
        """Return a share, or numbers of a range, of which the middle is the simplest."""
        if low is None:
            return self.take("share", lambda _: [_NEVER], lambda rng: rng.uniform())
        middle = np.full(size or (), 0.5 * (low + high))
        return self.take(f"uniform {size}", lambda value: [middle], lambda rng: rng.uniform(low, high, size))

    def normal(self, size: int) -> np.ndarray:
        """Return a vector, simplest if it is zero or along z; or a quaternion, simplest if it turns nothing."""
        simple = [np.eye(4)[0]] if size == 4 else [np.zeros(size), np.eye(size)[-1]]
        return self.take(f"normal {size}", lambda value: simple, lambda rng: rng.normal(size=size))

    def integers(self, low: int, high: int) -> int:
        """Return a number of a range, of which the lowest is the simplest."""
        found = self.take("integer", lambda value: [low], lambda rng: int(rng.integers(low, high)))
        return min(max(found, low), high - 1)

    def choice(self, names: Sequence[str]) -> str:
        """Return a name, of which the first is the simplest."""
        found = self.take(f"name {names[0]}", lambda value: [names[0]], lambda rng: str(rng.choice(names)))
        return found if found in names else names[0]

    def shuffle(self, elements: list[Any]) -> None:
        """Bring elements into another order; the one that they have is the simplest."""
        places = list(range(len(elements)))

        def shuffled(rng: np.random.Generator) -> list[int]:
            rng.shuffle(order := places.copy())
            return order

        order = self.take("order", lambda value: [places], shuffled)
        elements[:] = [elements[place] for place in (order if sorted(order) == places else places)]


def shrink_drawn(
    draw: Callable[[Tape], RandomFile], seed: int, is_same: Callable[[RandomFile], bool], *, tries: int = 250
) -> RandomFile:
    """Return a smaller file of the same verdict.

    Args:
        draw: Returns the file of a tape.
        seed: Seed of the file.
        is_same: Whether a file has the verdict.
        tries: Largest number of calls of `is_same`.
    """
    tape = Tape(np.random.default_rng(seed))
    state = _Playing(draw, is_same, tries, draw(tape), tape.drawn)
    size = 0
    while size != (size := len(state.best.text)) and state.tries > 0:
        for body in sorted(state.parts, reverse=True)[:-1]:
            state.accepts(_without_body(state.parts, body))
        for part in sorted(state.parts):
            state.simplify(part)
    return state.best


@attrs.define
class _Playing:
    """Draws on their way to simpler ones."""

    draw: Callable[[Tape], RandomFile]
    is_same: Callable[[RandomFile], bool]
    tries: int
    """Number of tries that are left."""

    best: RandomFile
    parts: Parts

    def accepts(self, parts: Parts) -> bool:
        """Take other draws if they make a smaller file of the same verdict; tell whether they do."""
        tape = Tape(played=parts)
        try:
            with np.errstate(all="raise"):
                file = self.draw(tape)
        except (ValueError, ArithmeticError):  # MuJoCo refuses it, or an axis has no length
            return False
        if self.tries <= 0 or len(file.text) >= len(self.best.text):
            return False
        self.tries -= 1
        if not self.is_same(file):
            return False
        self.best, self.parts = file, tape.drawn
        return True

    def simplify(self, part: int) -> None:
        """Let draws of a part be simple: first many together, then one by one, each as simple as it may be."""
        length = len(self.parts[part])
        while length:
            for first in range(0, len(self.parts.get(part, ())), length):
                row = list(self.parts.get(part, ()))
                chunk = list(map(_simpler, row[first : first + length]))
                for number in range(max(map(len, chunk), default=0) if length == 1 else 1):
                    row[first : first + length] = [each[min(number, len(each) - 1)] for each in chunk]
                    if self.accepts({**self.parts, part: row}):
                        break
            length //= 2


def _without_body(parts: Parts, body: int) -> Parts:
    """Return the draws without a body, with one less in the first number of the whole file."""
    kept = {part - (part > body): row for part, row in parts.items() if part != body}
    first = next((index for index, each in enumerate(kept[-1]) if each.kind == "integer"), None)
    if first is not None:
        fewer = attrs.evolve(kept[-1][first], value=kept[-1][first].value - 1)
        kept[-1] = [*kept[-1][:first], fewer, *kept[-1][first + 1 :]]
    return kept


def _simpler(each: Drawn) -> list[Drawn]:
    """Return the same draw with simpler values, at last with digits left out, and then as it is."""
    values = [value for value in each.simple if not np.array_equal(value, each.value)]
    if each.kind.startswith(("uniform", "normal")) and values:
        values.append(np.vectorize(lambda value: float(f"{value:.1g}"))(each.value))
    return [attrs.evolve(each, value=value) for value in values] or [each]
