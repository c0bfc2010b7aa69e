"""Run the conformance kit on solvers of this repository, and write what it gave with the versions that it ran with:
`python docs/check_solvers.py [NAME...]`. It takes about ten minutes for all.

The page *Solvers* is made of the file; `tests/docs/test_checked_solvers.py` fails if other versions are installed.
"""

from __future__ import annotations

import collections
import json
import re
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from pippin.catalog import CheckEvidence
from pippin_engines.environments import EngineEnvironment
from pippin_engines.source import place_of
from reference_pages.conformance import conformances

PATH = Path(__file__).parent / "reference_pages" / "checked_solvers.json"
"""What the kit gave, by the name of the solver."""

KEPT = ("contract", "newton", "warp-lang", "mujoco", "mujoco-warp")
"""The versions that the page tells; those of Pippin and of our files change with each commit."""


def engine_of(subject: Any) -> dict[str, str]:
    """Return the library of an engine of others with its version, here or in the environment of the checks."""
    try:
        file = place_of(subject.entry.load_config())[1]
    except TypeError:  # no engine of others
        return {}
    name = re.search('^DISTRIBUTION = "(.*)"$', file.read_text(encoding="utf-8"), re.MULTILINE)
    assert name is not None, file
    folder = subject.config.get("environment")
    found = metadata.version(name[1]) if folder is None else EngineEnvironment.read(Path(folder)).packages[name[1]][0]
    return {name[1]: found}


def main() -> None:
    """Check the named solvers, by default all, and replace their rows of the file."""
    rows: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    for conformance in (each for each in conformances() if each.subject.kind == "solver"):
        name = conformance.subject.name
        if name not in (sys.argv[1:] or [name]):
            continue
        start, used = time.perf_counter(), time.process_time()
        results = list(conformance.results())
        record = CheckEvidence.now(conformance.subject.entry, {each.check: each.outcome for each in results}, {})
        counts = dict(sorted(collections.Counter(record.outcomes.values()).items()))
        rows[name] = {"day": record.day, "device": record.device, "failed": record.failed, "outcomes": counts}
        rows[name]["versions"] = {key: text for key, text in record.versions.items() if key in KEPT}
        rows[name]["engine"] = engine_of(conformance.subject)
        print(f"{name}: {counts}, {time.perf_counter() - start:.1f} s, processor {time.process_time() - used:.1f} s")
        PATH.write_text(json.dumps(dict(sorted(rows.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
