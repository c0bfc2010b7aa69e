"""Evidence of the kit: what the checks of a plugin gave, with the versions of all that they ran with."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any, Self

import attrs
from pippin.extras import installed_version

from .entry import Entry, spec_of

_ENGINES = ("pippin", "newton", "warp-lang", "mujoco", "mujoco-warp")
"""Distributions that change the results of any plugin: an extra of Newton's brings MuJoCo."""


@attrs.frozen(kw_only=True)
class CheckEvidence:
    """A record of all checks of a plugin with some versions, which `pippin check-plugin` writes."""

    versions: Mapping[str, str]
    """Versions of the plugin's distribution, with a digest of its files, of what it and its extra `engine` require, of
    Newton, Warp, MuJoCo and the contract."""

    day: str
    """Day of the checks, as in `2026-02-01`."""

    outcomes: Mapping[str, str]
    """Outcome of each check."""

    settings: Mapping[str, Any] = attrs.field(factory=dict)
    """Keys of the plugin's table that were set."""

    device: str = "cpu"
    """Kind of device of the simulations."""

    stale: Mapping[str, str] = attrs.field(factory=dict)
    """Versions that are installed now and differ; if there are any, nothing is known of them."""

    @classmethod
    def now(cls, entry: Entry, outcomes: Mapping[str, str], settings: Mapping[str, Any]) -> Self:
        """Return the record of an `entry`: the `outcomes` by check, with its `settings` and the installed versions."""
        return cls(versions=_versions(entry), day=f"{date.today()}", outcomes=outcomes, settings=settings)

    @classmethod
    def told(cls, entry: Entry) -> str:
        """Return the record of an `entry` as text, or that it has none."""
        return str(cls.of(entry) or f"not checked with these versions; `pippin check-plugin {entry.name}` does it")

    @classmethod
    def of(cls, entry: Entry) -> Self | None:
        """Return the record of an `entry` with the installed versions, or else the newest one, which is stale; None if
        the plugin was never checked.
        """
        pattern = _place(entry)
        records = sorted(pattern.parent.glob(pattern.name), key=lambda each: each.stat().st_mtime)
        if not records:
            return None
        own = _place(entry, now := _versions(entry))
        try:
            record = cls(**json.loads((own if own in records else records[-1]).read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError):  # of another Pippin, or cut off
            return None
        known = record.versions
        differing = {each: now.get(each, "none") for each in {**known, **now} if now.get(each) != known.get(each)}
        return attrs.evolve(record, stale=differing)

    def save(self, entry: Entry) -> Path:
        """Write the record of an `entry`, and return its file.

        Raises:
            OSError: The folder cannot be written.
        """
        file = _place(entry, self.versions)
        file.parent.mkdir(parents=True, exist_ok=True)
        fields = attrs.asdict(self, filter=lambda field, _: field.name != "stale")
        file.write_text(json.dumps(fields, indent=1, default=str) + "\n", encoding="utf-8")
        return file

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the checks that failed, and were not expected to."""
        return tuple(name for name, outcome in self.outcomes.items() if outcome == "failed")

    @property
    def verdict(self) -> str:
        """For a table: `honoured`, `broken`, or `not checked` if the record is of other versions."""
        return "not checked" if self.stale else "broken" if self.failed else "honoured"

    def __str__(self) -> str:
        """Return the verdict with its versions; what is stale is never told as honoured."""
        if self.stale:
            now = ", ".join(f"{each} {text}" for each, text in self.stale.items())
            return f"not checked with {now}; last on {self.day}"
        count = list(self.outcomes.values()).count("expected failure")
        excepted = f", but for {count} checks that are expected to fail" * (count > 0)
        parts = [*map(" ".join, self.versions.items()), self.device]
        where = ", ".join([*parts, *(f"{key} = {value}" for key, value in self.settings.items())])
        verdict = f"broken ({', '.join(self.failed)})" if self.failed else "honoured"
        return f"{verdict} on {where}{excepted}"


def _versions(entry: Entry) -> dict[str, str]:
    lines = () if entry.is_outside else metadata.requires(entry.distribution) or ()
    needed = [line for line in lines if "extra ==" not in line or re.search("extra == .engine.", line)]
    required = [re.split(r"[^\w.-]", line)[0] for line in needed]
    names = dict.fromkeys([*_ENGINES, *required])
    found = {name: version for name in names if (version := installed_version(name)) is not None}
    own = f"{entry.version} (files {_digest(entry)})".lstrip()
    return {"contract": str(entry.contract), **found, entry.distribution: own}


def _digest(entry: Entry) -> str:
    """Return a digest of the modules of the plugin's package: an installation for work on it keeps its version."""
    place = Path(entry.distribution)
    if not place.is_file() and (spec := spec_of(re.split("[.:]", entry.value)[0].strip())) is not None:
        place = Path((spec.submodule_search_locations or [spec.origin or ""])[0])
    files = sorted(place.rglob("*.py")) or [place] * place.is_file()
    return _hash(b"".join(file.read_bytes() for file in files))


def _hash(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=4).hexdigest()


def _place(entry: Entry, versions: Mapping[str, str] | None = None) -> Path:
    """Return the file of a record; without versions, a pattern of all of a plugin. PIPPIN_EVIDENCE is their folder."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = os.environ.get("PIPPIN_EVIDENCE") or Path(caches, "pippin", "evidence")
    of_versions = "*" if versions is None else _hash(json.dumps(versions, sort_keys=True).encode())
    return Path(folder, f"{entry.kind}-{_hash(entry.qualified_name.encode())}-{of_versions}.json")
