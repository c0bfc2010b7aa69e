"""Evidence of the kit: what the checks of a plugin gave, with the versions of all that they ran with."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any, Self

import attrs
from packaging.requirements import InvalidRequirement, Requirement

from .entry import Entry, spec_of

FOLDER_VARIABLE = "PIPPIN_EVIDENCE"
"""Environment variable: the folder of the records; by default that of Pippin among the caches of the user."""

FILES = "its files"
"""Key of the digest of a plugin's code, among the versions."""


@attrs.frozen(kw_only=True)
class Evidence:
    """A record of all checks of a plugin with some versions, which `pippin check-plugin` writes."""

    versions: Mapping[str, str]
    """Versions of the plugin's distribution, of what it requires, of Warp and of the contract; and a digest of its
    files."""

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
        """Return the record of outcomes with the versions that are installed."""
        today = date.today().isoformat()
        return cls(versions=_versions(entry), day=today, outcomes=outcomes, settings=settings)

    @staticmethod
    def told(entry: Entry) -> str:
        """Return the record of a plugin as text, or that it has none."""
        return str(Evidence.of(entry) or f"not checked with these versions; `pippin check-plugin {entry.name}` does it")

    @classmethod
    def of(cls, entry: Entry) -> Self | None:
        """Return the record of a plugin with the installed versions, or else the newest one, which is stale; None if
        the plugin was never checked.
        """
        records = sorted(_folder().glob(f"{_stem(entry)}-*.json"), key=lambda each: each.stat().st_mtime)
        if not records:
            return None
        now = _versions(entry)
        found = next((each for each in records if each.name == _file_name(entry, now)), records[-1])
        try:
            record = cls(**json.loads(found.read_text(encoding="utf-8")))
        except (OSError, TypeError, ValueError):  # of another Pippin, or cut off
            return None
        known = record.versions
        differing = {each: now.get(each, "none") for each in {**known, **now} if now.get(each) != known.get(each)}
        return attrs.evolve(record, stale=differing)

    def save(self, entry: Entry) -> Path:
        """Write the record, and return its file.

        Raises:
            OSError: The folder cannot be written.
        """
        file = _folder() / _file_name(entry, self.versions)
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
            now = [f"{each} {text}" for each, text in self.stale.items() if each != FILES]
            now += ["its files as they are"] * (FILES in self.stale)
            return f"not checked with {', '.join(now)}; last on {self.day}"
        count = sum(outcome == "expected failure" for outcome in self.outcomes.values())
        excepted = f", but for {count} checks that are expected to fail" * (count > 0)
        parts = [f"{name} {text}" for name, text in self.versions.items() if name != FILES]
        where = ", ".join([*parts, self.device, *(f"{key} = {value}" for key, value in self.settings.items())])
        verdict = f"broken ({', '.join(self.failed)})" if self.failed else "honoured"
        return f"{verdict} on {where}{excepted}"


def _versions(entry: Entry) -> dict[str, str]:
    found = {"contract": str(entry.contract)} | ({} if entry.is_outside else {entry.distribution: entry.version})
    for name in dict.fromkeys(["pippin", "newton", "warp-lang", *_required(entry)]):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {**found, FILES: _digest(entry)}


def _required(entry: Entry) -> Iterator[str]:
    """Yield what the distribution of a plugin requires, and what the extras that it names add."""
    try:
        lines = [Requirement(line) for line in metadata.requires(entry.distribution) or ()]
        for each in lines:
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                yield each.name
                for extra in each.extras:
                    own = (Requirement(line) for line in metadata.requires(each.name) or ())
                    yield from (it.name for it in own if it.marker and it.marker.evaluate({"extra": extra}))
    except (metadata.PackageNotFoundError, InvalidRequirement, ValueError):  # a class of a file or a module
        return


def _digest(entry: Entry) -> str:
    """Return a digest of the modules of the plugin's package: an installation for work on it keeps its version."""
    place = Path(entry.distribution)
    spec = None if place.is_file() else spec_of(re.split("[.:]", entry.value)[0].strip())
    folders = [] if spec is None else spec.submodule_search_locations or ()
    files = [place] if place.is_file() else [Path(spec.origin)] if spec and spec.origin else []
    files += [file for folder in folders for file in Path(folder).rglob("*.py")]
    found = hashlib.blake2b(digest_size=4)
    for file in sorted(set(files)):
        found.update(file.read_bytes())
    return found.hexdigest()


def _folder() -> Path:
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get(FOLDER_VARIABLE) or Path(caches, "pippin", "evidence"))


def _stem(entry: Entry) -> str:
    name = re.sub(r"\W", "_", entry.name)[-60:]
    return f"{entry.kind}-{name}-{hashlib.blake2b(entry.qualified_name.encode(), digest_size=3).hexdigest()}"


def _file_name(entry: Entry, versions: Mapping[str, str]) -> str:
    text = json.dumps(versions, sort_keys=True)
    return f"{_stem(entry)}-{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}.json"
