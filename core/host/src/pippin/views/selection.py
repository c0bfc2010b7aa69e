"""Selection of a view's bodies, articulations or shapes by their labels.

Labels are paths, and they repeat: `/ant/torso` is the label of a body in every world. A selected object is therefore a
pair of label and world, and a pattern alone selects in all worlds.

A pattern is a glob, a compiled regular expression or an index. An expression has the same meaning as in a
configuration, see `pippin.labels`. A glob is a path whose segments are compared one by one, each as a whole:

- `*` stands for any characters within a segment, and so does `.*`; `**`, as a whole segment, stands for any number of
  segments
- `[a-c]` stands for one character of a class, `[!a-c]` for one character outside it
- every other character stands for itself; slashes at the ends and double slashes make no difference
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from pippin.errors import ConfigError
from pippin.indices import IndexRange
from pippin.labels import matches, no_match

Pattern = str | re.Pattern[str] | int
"""A glob, a compiled regular expression or an index."""

Patterns = Pattern | Sequence[Pattern] | np.ndarray


class SelectionError(ConfigError, LookupError):
    """A pattern is malformed or matches nothing, or an index is out of range."""


def select(
    patterns: Patterns,
    labels: Sequence[str],
    worlds: np.ndarray,
    *,
    what: str,
    chosen_worlds: Sequence[int] | None = None,
    path_glob: bool = True,
    allow_empty: bool = False,
) -> np.ndarray:
    """Return the selected indices, each once, in the order of the patterns, then by world and index.

    Args:
        patterns: One pattern or several; indices count `labels`.
        labels: Labels of the model, such as `model.body_label`; they may repeat.
        worlds: World of each label, shape [label_count]; -1 for objects of no world.
        what: Kind of the labelled objects, for errors: `body`, `articulation`.
        chosen_worlds: Worlds to select in; by default all, with the objects of no world.
        path_glob: Whether globs are compared segment by segment. Otherwise `*` crosses slashes, as in Newton.
        allow_empty: Whether a pattern may match nothing.

    Returns:
        Shape [selected], int32.

    Raises:
        SelectionError: A pattern is malformed, matches nothing or has a wrong type, or an index is out of range. There
            is one fault per pattern.
    """
    candidates = _Candidates(labels, np.asarray(worlds), what, chosen_worlds)
    found: dict[int, None] = {}
    faults: list[str] = []
    for pattern in [_checked(each) for each in listed(patterns)]:
        try:
            of_index, of_pattern = candidates.of_index, candidates.of_pattern
            indices = of_index(pattern) if isinstance(pattern, int) else of_pattern(pattern, path_glob)
        except SelectionError as error:
            faults.extend(error.faults)
            continue
        if not indices and not allow_empty:
            faults.append(candidates.nothing(pattern))
        found.update(dict.fromkeys(indices))
    if faults:
        raise SelectionError(*faults)
    if not found and not allow_empty:
        raise SelectionError(f"patterns: none, so no {what} is selected; pass a pattern, or allow_empty=True")
    return np.fromiter(found, dtype=np.int32, count=len(found))


def glob(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a path pattern, for labels whose segments each follow a slash.

    Raises:
        SelectionError: A bracket is not closed, its class is invalid, or `**` is not alone in its segment.
    """
    parts = _segments(pattern)
    try:
        # Each segment includes the slash before it, so that `**` can also match no segment.
        return re.compile("".join("(?:/[^/]+)*" if part == "**" else "/" + _segment(part, pattern) for part in parts))
    except re.error as error:
        raise _malformed(pattern, str(error), "put literal characters in brackets") from error


def chosen_worlds(choice: Any, world_count: int) -> list[int] | None:
    """Return the indices of worlds from indices or a mask, with -1 for objects of no world; None for None.

    Raises:
        SelectionError: An index is out of range, or a mask has another shape.
    """
    if choice is None:
        return None
    return IndexRange(world_count, error=SelectionError, lowest=-1).indices(choice, "worlds").tolist()


class _Candidates:
    def __init__(
        self, labels: Sequence[str], worlds: np.ndarray, what: str, chosen_worlds: Sequence[int] | None
    ) -> None:
        self._count, self._what = len(labels), what
        self._chosen = None if chosen_worlds is None else _known_worlds(chosen_worlds, worlds, what)
        self._worlds = worlds
        order = np.lexsort((np.arange(len(labels)), worlds))
        self._rank = np.argsort(order)
        self._indices: dict[str, list[int]] = {}  # the same label in thousands of worlds is matched once
        for index in order.tolist():
            if self._chosen is None or int(worlds[index]) in self._chosen:
                self._indices.setdefault(str(labels[index]), []).append(index)

    def of_index(self, index: int) -> list[int]:
        if not 0 <= index < self._count:
            raise SelectionError(f"index {index}: out of range; there are {self._count} labels, counted from 0")
        if self._chosen is not None and int(self._worlds[index]) not in self._chosen:
            world = int(self._worlds[index])
            raise SelectionError(f"index {index}: its {self._what} is in world {world}, which is not one of the chosen")
        return [index]

    def of_pattern(self, pattern: str | re.Pattern[str], path_glob: bool) -> list[int]:
        """Return the indices of the labels that a pattern matches, by world and index."""
        is_match = _matcher(pattern, path_glob)
        found = [index for label, indices in self._indices.items() if is_match(label) for index in indices]
        return sorted(found, key=self._rank.__getitem__)

    def nothing(self, pattern: Pattern) -> str:
        by_path = not isinstance(pattern, re.Pattern)
        return no_match(pattern_text(pattern), list(self._indices), self._what, "pattern", by_path=by_path)


def listed(patterns: Any) -> list[Any]:
    """Return one pattern or several as a list, whatever they are."""
    if isinstance(patterns, Iterable) and not isinstance(patterns, str | bytes):
        return list(patterns)
    return [patterns]


def pattern_text(pattern: Pattern) -> str:
    """Return a pattern as it is shown in errors."""
    return pattern.pattern if isinstance(pattern, re.Pattern) else str(pattern)


def _checked(pattern: Any) -> Pattern:
    if isinstance(pattern, str | re.Pattern):
        return pattern
    if isinstance(pattern, int | np.integer) and not isinstance(pattern, bool):
        return int(pattern)
    raise SelectionError(
        f"pattern: expected a glob, a compiled regular expression or an index, got {pattern!r} of type"
        f" {type(pattern).__name__}"
    )


def _matcher(pattern: str | re.Pattern[str], path_glob: bool) -> Callable[[str], object]:
    if isinstance(pattern, re.Pattern):
        return lambda label: matches(pattern, label)
    if not path_glob:
        return lambda label: fnmatch.fnmatchcase(label, pattern)
    expression = glob(pattern)
    return lambda label: expression.fullmatch("".join(f"/{segment}" for segment in _segments(label)))


def _malformed(pattern: str, fault: str, cure: str) -> SelectionError:
    return SelectionError(f"pattern: {pattern!r} is not a valid glob ({fault}); {cure}")


def _segments(path: str) -> list[str]:
    """Return the segments of a path; the double slash between a prefix and an absolute path has no meaning."""
    return [segment for segment in path.split("/") if segment]


def _segment(part: str, pattern: str) -> str:
    if "**" in part:
        raise _malformed(pattern, "'**' stands for whole segments", "put it between slashes, or use '*'")
    tokens = re.findall(r"\.?\*|\[[!^]?\]?[^\]]*\]|.", part)
    return "".join(_token(token, pattern) for token in tokens)


def _token(token: str, pattern: str) -> str:
    if token.endswith("*"):
        return "[^/]*"
    if token == "[":
        raise _malformed(pattern, "'[' is not closed", "close it, or write '[[]' for the character")
    if token.startswith("["):
        inner = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
        return "(?!/)[" + ("^" + inner[1:] if inner.startswith(("!", "^")) else inner) + "]"
    return re.escape(token)


def _known_worlds(chosen: Sequence[int], worlds: np.ndarray, what: str) -> set[int]:
    wanted = {int(world) for world in chosen}
    known = set(np.unique(worlds).tolist())
    empty = sorted(wanted - known)
    if empty and len(worlds):
        raise SelectionError(
            f"worlds: world {empty[0]} holds no {what}; those that do go from {min(known)} to {max(known)}"
        )
    return wanted
