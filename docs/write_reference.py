"""Write the reference pages that are generated from the code: `python docs/write_reference.py`.

`tests/docs/test_docs.py` fails if a page differs from the output of this script. `reference_pages` has a module for
each page.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the tests run this file from elsewhere

from reference_pages import (
    cli,
    configuration,
    conformance,
    honoured,
    hooks,
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


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (DOCS / "reference" / f"{name}.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
