"""First page of the site and the overview, both made of parts of the README."""

from __future__ import annotations

import re

__all__ = ["landing", "overview"]

LANDING = """\
# Pippin

::::::{{container}} hero

{lead}

{picture}

::::::

## Run it

With git and Python 3.11 or newer, in a clone of the repository:

{run}

The robots in the browser:

```sh
{view}
```

## One file

:::::{{container}} one-file

{file}

:::::

## Read on

::::::{{container}} doors

:::{{container}} door
[**From a robot to walking**](docs/tutorials/robot-to-walking.md)

A robot file, a task, eight minutes of training, a policy that walks. Other tutorials: a first simulation, a solver, an
actuator, a sensor and a reward of your own.
:::

:::{{container}} door
[**How-to guides**](docs/how-to/first-robots.md)

One task per page: drive joints, randomise worlds, train a policy, record a run.
:::

:::{{container}} door
[**Reference**](docs/reference/configuration.md)

Every key, command, hook and quantity; figures, checks and fidelity.
:::

:::{{container}} door
[**Explanation**](docs/explanation/architecture.md)

How it works and why: graphs, plugins, decisions.
:::

::::::

```{{toctree}}
:hidden:
:caption: Start

overview
tutorials/index
how-to/index
```

```{{toctree}}
:hidden:
:caption: Look up

reference/index
api/index
explanation/index
contributing
```
"""


def landing(readme: str) -> str:
    """Return the first page: three lines, the moving picture, two commands, one file, and the ways on."""
    intro = readme.partition("\n## ")[0]
    picture = _first(r"^!\[.*?\]\(.*?\)$", intro)
    lead = intro.partition("\n\n")[2].partition("\n\n")[0]
    run = _first(r"^```sh\n.*?^```$", _section(readme, "Run it"))
    view = _first(r"uv run --group viser pippin view \S+(?<![`.])", _section(readme, "Look, train, fit, benchmark"))
    file = _first(r"^```toml\n.*?^```$", _section(readme, "One file"))
    return LANDING.format(lead=lead, picture=picture, run=run, view=view, file=file)


def overview(readme: str) -> str:
    """Return the sections of the README that the first page has not."""
    names = ("What is in the box", "Look, train, fit, benchmark", "Write a plugin", "Speed", "Status")
    sections = [f"## {name}\n{_section(readme, name)}" for name in names]
    return "# Overview\n\n" + "\n".join(sections)


def _section(readme: str, name: str) -> str:
    """Return the text below a heading; headings in fenced blocks have other signs before them."""
    found = re.search(rf"^## {re.escape(name)}$(.*?)(?=^## |\Z)", readme, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"README.md: no section {name!r}, of which the site is made")
    return found[1]


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"README.md: nothing like {pattern!r} there, of which the site is made")
    return found[0]
