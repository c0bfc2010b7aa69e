"""Regular expressions of configurations, which somebody else may have written: those that may never end are refused."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from re import _parser  # pyrefly: ignore[missing-module-attribute]
from typing import Any

_TRIES = 1e9
"""Largest number of tries of a match; a processor makes some ten million in a second."""

_FEW = 9
"""Largest number of repetitions of a part in which there are choices."""

_LABEL_SIZE = 64
"""Length of a label that is assumed where the labels are not known."""


@functools.lru_cache(1000)
def compiled(pattern: str, longest: int = _LABEL_SIZE) -> re.Pattern[str]:
    """Return a regular expression that ends on each label.

    Args:
        pattern: The expression.
        longest: Length of the longest label that it will be compared with.

    Raises:
        re.error: It is none, or its repetitions could share the letters of a label in too many ways, as in `(a+)+`.
    """
    expression = re.compile(pattern)
    factors = list(_ways(_parser.parse(pattern), max(longest, 1)))
    many = sum(factor > math.log(max(longest, 1)) for factor in factors)
    if sum(factors) - math.lgamma(many + 1.0) > math.log(_TRIES):
        raise re.error("its repetitions could take for ever: repeat nothing that repeats, and use fewer of .*")
    return expression


def _ways(items: Any, longest: int, times: float = 1.0) -> Iterator[float]:
    """Yield the logarithm of the number of ways of each repetition and choice of a part that occurs some times."""
    for kind, argument in items:
        name, within = str(kind), times
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high = int(argument[0]), int(argument[1])
            if low != high:
                yield times * math.log(min(high - low, longest) + 1.0)
            within = math.inf if high > _FEW else times * max(high, 1)
        elif name == "BRANCH" and times > 1.0:
            yield times * math.log(len(argument[1]))
        for part in _parts(argument):
            yield from _ways(part, longest, within)


def _parts(argument: Any) -> Iterator[Any]:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, (list, tuple)):
        for each in argument:
            yield from _parts(each)
