"""Page *Public names*: every public name in one line."""

from __future__ import annotations

import runpy
from pathlib import Path

from .rows import named_row

PUBLIC_NAMES = """\
# Public names

<!-- Written by docs/write_reference.py from the docstrings of public modules. Change those, then run it. -->

These names keep their meaning within a [contract version](contract-version.md). Every name has one path, and a plugin
imports nothing else of Pippin; `pippin.views`, `pippin_task.gym` and `pippin_view` are for users, not for plugins. The
[documentation site](../how-to/build-the-site.md) has an entry for each, with arguments, members and errors.
"""


def page() -> str:
    """Return the table of public names, module by module."""
    public = runpy.run_path(str(Path(__file__).parents[1] / "public_names.py"))
    parts = [PUBLIC_NAMES]
    for module in (*public["FOR_PLUGINS"], *public["FOR_USERS"]):
        parts.append(f"\n## `{module}`\n\n| name | meaning |\n|---|---|\n")
        for name in public["names_of"](module):
            first = " ".join((public["text_of"](module, name) or "").partition("\n\n")[0].split())
            parts.append(named_row(name, first))
    return "".join(parts)
