"""Write what is generated from the code: `python docs/write_reference.py`.

These are the reference pages, of which `reference_pages` has a module for each, what other pages say of robot files,
and the names of our own plugins in the host. `tests/docs/test_docs.py` and `tests/project/test_requirements.py` fail if
a file differs from the output.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the tests run this file from elsewhere

import first_party
from reference_pages import (
    cli,
    configuration,
    conformance,
    honoured,
    hooks,
    kinds,
    meanings,
    members,
    names,
    newton_examples,
    physics,
    plugins,
    policies,
    sensors,
    solvers,
    tasks,
    views,
)

DOCS = Path(__file__).parent

PAGES = {
    "configuration": configuration.page,
    "cli": cli.page,
    "solvers": solvers.page,
    "honoured": honoured.page,
    "plugins": plugins.page,
    "sensors": sensors.page,
    "physics-checks": physics.page,
    "views": views.page,
    "hooks": hooks.page,
    "public-names": names.page,
    "members": members.page,
    "conformance": conformance.page,
    "tasks": tasks.page,
    "newton-examples": newton_examples.page,
    "trained-policies": policies.page,
}
"""Function that returns each page, by the name of its file."""


def sections() -> dict[Path, str]:
    """Return each page of which a section is generated, as it has to be."""
    return meanings.sections() | {kinds.NAMING: kinds.naming()}


def main() -> None:
    """Write the pages, sections of pages, and the names of our own plugins."""
    first_party.PATH.write_text(first_party.text(), encoding="utf-8")
    for name, page in PAGES.items():
        (DOCS / "reference" / f"{name}.md").write_text(page(), encoding="utf-8")
    for path, text in sections().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
