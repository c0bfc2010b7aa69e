"""Bare URDF files run for a second at the first try; `python -m tests.fidelity.first_tries` runs more of them."""

import pytest

from . import first_tries
from .first_tries import FILES, PAGE, SOLVERS, first_try, paths, stored, table, write
from .sections import section

NAMES = ("newton/examples/assets/cartpole.urdf", "newton/examples/assets/quadruped.urdf")


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("solver", [solver for solver in SOLVERS if solver != "kamino"])  # 0.2 s for each step
def test_a_bare_urdf_runs_for_a_second(name, solver):
    found = first_try(str(paths()[name]), FILES[name], solver)

    assert found["said"] == "runs"
    assert found["time"] == pytest.approx(1.0)


def test_the_page_shows_the_stored_tries():
    assert table(stored().values()) in section(PAGE, "tries")


def test_a_try_that_is_stored_replaces_the_last_one_and_its_cell(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(f"before {section(page, 'tries')} after")
    monkeypatch.setattr(first_tries, "STORE", tmp_path / "tries.jsonl")
    monkeypatch.setattr(first_tries, "PAGE", page)
    name = NAMES[0]

    for said in ("diverges", "refused: step 3: too fast; use a smaller step"):
        write([{"file": name, "solver": "kamino", "said": said, "surplus": 9.0}])

    assert "| `assets/cartpole.urdf` | fixed |  |  |  |  | refused |" in page.read_text()
    assert "- `assets/cartpole.urdf` on `kamino`: step 3: too fast; use a smaller step" in page.read_text()
    assert page.read_text().endswith(" after")
