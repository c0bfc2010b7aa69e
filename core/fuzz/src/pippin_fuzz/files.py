"""Files that are drawn: their form, and the draws that all formats share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np


@attrs.frozen(kw_only=True)
class RandomFile:
    """A robot file, and what it means."""

    suffix: str
    """That of the file: `.xml` for MJCF."""

    text: str

    reference: str
    """MJCF that means the same; an MJCF file itself."""

    unit: float = 1.0
    """Length of a unit of the reference [m]."""


@attrs.define
class Draw:
    """A file that is drawn, element by element."""

    rng: np.random.Generator
    without: frozenset[str] = frozenset()
    """Words of statements that are left out, such as `tendon` or `margin`; `ball:range` is a range of ball joints."""

    later: np.random.Generator = attrs.field(factory=lambda: np.random.default_rng(0))
    """For statements that came later, so that seeds keep the others."""

    joints: list[tuple[str, str]] = attrs.field(factory=list)
    """Names and types of the joints so far."""

    bodies: list[str] = attrs.field(factory=list)
    geoms: list[str] = attrs.field(factory=list)
    sites: list[str] = attrs.field(factory=list)

    @property
    def axes(self) -> list[str]:
        """Names of the hinges and sliders so far."""
        return [name for name, kind in self.joints if kind in ("hinge", "slide")]

    def may(self, share: float, *words: str) -> bool:
        """Draw whether a statement is made, if none of its words is left out."""
        return self.rng.uniform() < share and self.without.isdisjoint(words)

    def number(self, low: float, high: float) -> str:
        """Return a number, of four digits."""
        return f"{self.rng.uniform(low, high):.4g}"

    def vector(self, size: int = 3, scale: float = 1.0) -> str:
        """Return numbers around zero."""
        return " ".join(f"{each:.4g}" for each in self.rng.normal(size=size) * scale)

    def range(self, scale: float) -> str:
        """Return two numbers below and above zero."""
        return f"-{self.number(0.2 * scale, scale)} {self.number(0.2 * scale, scale)}"

    def some(self, attributes: dict[str, tuple[float, Callable[[], Any]]], of: str = "") -> str:
        """Return some attributes of a kind of element, each with its share and its values."""
        chosen = (name for name, (share, _) in attributes.items() if self.may(share, name, of, f"{of}:{name}"))
        return " ".join(f'{name}="{attributes[name][1]()}"' for name in chosen)

    def one(self, names: Sequence[str]) -> str | None:
        """Return one of some names that are not left out; None if all are."""
        left = [name for name in names if name not in self.without]
        return str(self.rng.choice(left)) if left else None

    def joint(self, kind: str) -> str:
        """Return the name of a new joint of a type."""
        self.joints.append((f"j{len(self.joints)}", kind))
        return self.joints[-1][0]

    def body(self) -> str:
        """Return the name of a new body."""
        self.bodies.append(f"b{len(self.bodies)}")
        return self.bodies[-1]
