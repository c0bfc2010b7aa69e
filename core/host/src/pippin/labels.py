"""Label patterns: regular expressions that name bodies, joints and shapes, and errors about patterns of any kind.

Newton's labels are paths, such as `ant/worldbody/torso/front_left_leg/hip_1` or `/cartPole/railCartJoint`. The last
segment is the name. An expression matches a label if it covers the whole name: `torso`, `.*hip.*`. An expression that
contains a `/` may cover the whole path instead: `.*/front_left_leg/.*`. A configuration has such patterns as strings. A
view takes compiled expressions in addition to globs, and reports a pattern without a match in the same words.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from .errors import ConfigError
from .expressions import compiled
from .spelling import did_you_mean, listed, printable

__all__ = ["NoMatchError", "assign", "compiled", "covers", "lookup", "match", "name_of", "printable"]

V = TypeVar("V")

LISTED_NAME_COUNT = 12

SEARCHED_NAME_COUNT = 2000
"""Largest number of names searched for the nearest one; more would make the error slow."""


class NoMatchError(ConfigError):
    """No pattern matches anything. If worlds differ, other worlds may have matches."""


class AxisLabel(str):
    """Label of one of the unnamed axes of a joint, such as `arm/wrist:1`; what matches the joint matches it, too."""

    __slots__ = ()

    @property
    def joint(self) -> str:
        """Label of the joint."""
        return self.rpartition(":")[0]


def match(patterns: str | Iterable[str], labels: Sequence[str], what: str, where: str) -> list[int]:
    """Return the ascending indices of the labels that at least one pattern matches.

    Args:
        patterns: One pattern or several.
        labels: Labels of the model, such as `model.body_label`.
        what: Kind of labelled element, for the error: `body`, `joint`.
        where: Key path of the patterns in the configuration, for the error.

    Raises:
        NoMatchError: No pattern matches anything.
        ConfigError: A pattern is not a regular expression, or matches nothing. One fault per pattern.
    """
    return sorted(set().union(*match_each(patterns, labels, what, where).values()))


def label_fault(label: str) -> str | None:
    """Return what is wrong with the label of a component, which names files, groups and topics; None if nothing is."""
    if label and label not in (".", "..") and label.isprintable() and not {"/", "\\"} & set(label):
        return None
    return "a label names files: it cannot be empty, hold / or \\, or be ..; choose another one"


def covers(patterns: Iterable[str], label: str) -> bool:
    """Tell whether a pattern matches a label; a pattern that is not a regular expression matches nothing."""
    for pattern in patterns:
        with contextlib.suppress(re.error):
            if matches(compiled(pattern, len(label)), label):
                return True
    return False


def matches(expression: re.Pattern[str], label: str) -> bool:
    """Tell whether an expression covers the whole name of a label; or, if it contains a `/`, the whole label.

    This is the only definition of a match; configurations and views use it.
    """
    if isinstance(label, AxisLabel) and matches(expression, label.joint):
        return True
    return bool(expression.fullmatch(name_of(label)) or ("/" in expression.pattern and expression.fullmatch(label)))


def name_of(label: str) -> str:
    """Return the name of a labelled element, the last segment of its label."""
    return label.rpartition("/")[2]


def no_match(pattern: str, labels: Sequence[str], what: str, where: str, *, by_path: bool = False) -> str:
    """Return the fault of a pattern that matches nothing, with the nearest name and the first of all names.

    Args:
        pattern: A regular expression or a glob.
        labels: The labels that the pattern was compared with.
        what: Kind of labelled element: `body`, `joint`.
        where: Place of the pattern, at the beginning of the fault.
        by_path: Whether patterns of this kind must cover the whole label, so that the name does not match.
    """
    labels = list(dict.fromkeys(labels))
    names = labels if by_path else list(dict.fromkeys(map(name_of, labels)))
    if not names:
        return f"{where}: no {what} matches {pattern!r}; there are no {_plural(what)}"
    literal = re.sub(r"[^\w/ -]", "", pattern)
    known = [*names[:SEARCHED_NAME_COUNT], *labels[:SEARCHED_NAME_COUNT]]
    hint = did_you_mean(literal, known) or ";"
    return f"{where}: no {what} matches {pattern!r}{hint} {_plural(what)}: {listed(names, LISTED_NAME_COUNT)}"


def assign(patterns: Iterable[str], labels: Sequence[str], what: str, where: str) -> list[str | None]:
    """Return the one pattern that matches each label, None if none matches, shape [label_count].

    Args:
        patterns: The patterns.
        labels: Labels of the model.
        what: Kind of labelled element, for the error.
        where: Key path of the patterns in the configuration, for the error.

    Raises:
        ConfigError: Two patterns match a label; or as `match`.
    """
    owners: list[str | None] = [None] * len(labels)
    faults: dict[str, None] = {}  # ordered; the same label in several worlds gives one fault
    for pattern, indices in match_each(patterns, labels, what, where).items():
        for index in indices:
            if owners[index] is not None:
                faults[
                    f"{where}: {what} {labels[index]!r} matches both {owners[index]!r} and {pattern!r}; "
                    f"let one pattern match each {what}"
                ] = None
            owners[index] = pattern
    if faults:
        raise ConfigError(*faults)
    return owners


def lookup(table: V | Mapping[str, V], labels: Sequence[str], where: str, what: str = "joint") -> list[V]:
    """Return the value of each label: one value for all, or a table from pattern to value.

    Args:
        table: A value, or a table in which exactly one pattern matches each label.
        labels: Labels to find the value of.
        where: Key path of the table in the configuration, for the error.
        what: Kind of labelled element, for the error.

    Returns:
        Values in the unit of the table, shape [label_count].

    Raises:
        ConfigError: As `match`; or no pattern, or more than one, matches a label.
    """
    if not isinstance(table, Mapping):
        return [table] * len(labels)
    owners = assign(table, labels, what, where)
    orphans = dict.fromkeys(label for label, owner in zip(labels, owners, strict=True) if owner is None)
    if orphans:
        patterns = ", ".join(map(repr, table)) or "none"
        raise ConfigError(
            *(f"{where}: no pattern matches {what} {label!r}; add one to the patterns: {patterns}" for label in orphans)
        )
    return [table[owner] for owner in owners if owner is not None]


def match_each(patterns: str | Iterable[str], labels: Sequence[str], what: str, where: str) -> dict[str, list[int]]:
    """Return the ascending indices that each pattern matches, at least one.

    Raises:
        NoMatchError: No pattern matches anything.
        ConfigError: As `match`.
    """
    found: dict[str, list[int]] = {}
    faults, is_broken, longest = [], False, max(map(len, labels), default=1)
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        try:
            expression = compiled(pattern, longest)
        except re.error as error:
            faults.append(f"{where}: {pattern!r} is not a regular expression ({error}); escape what is meant literally")
            is_broken = True
            continue
        found[pattern] = [i for i, label in enumerate(labels) if matches(expression, label)]
        if not found[pattern]:
            faults.append(no_match(pattern, labels, what, where))
    if faults and (is_broken or any(found.values())):
        raise ConfigError(*faults)
    if faults:
        raise NoMatchError(*faults)
    return found


def _plural(what: str) -> str:
    return " or ".join(each if each.endswith("s") else _plural_of(each) for each in what.split(" or "))


def _plural_of(what: str) -> str:
    return what[:-1] + "ies" if what.endswith("y") else what + "s"
