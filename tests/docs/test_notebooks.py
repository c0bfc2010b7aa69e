"""The notebooks run from the first cell to the last one, show their pages, and grade an answer."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
ANSWER = "length, dt = 1.0, 0.02  # your answer"


def outputs_of(path, folder, **changes):
    """Run a copy of a notebook, and return all that it printed, and how many pages it shows."""
    text = path.read_text(encoding="utf-8")
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    copy = folder / path.name
    copy.write_text(text, encoding="utf-8")
    code = "from nbclient.cli import main; main()"
    command = [sys.executable, "-c", code, "--inplace", "--timeout=300", copy.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stderr[-3000:]
    cells = json.loads(copy.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    texts = ["".join(output["text"]) for output in outputs if output["output_type"] == "stream"]
    shown = ["".join(output["data"].get("text/html", "")) for output in outputs if "data" in output]
    assert all(each.startswith("<iframe srcdoc=") for each in shown)
    return "".join(texts), len(shown)


@EACH
def test_a_notebook_is_kept_without_its_outputs_and_installs_by_its_first_cell(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]

    assert len(NOTEBOOKS) == 3
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert "%pip install" in "".join(code[0]["source"])


@EACH
def test_the_links_of_a_notebook_lead_to_pages(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")

    for link in re.findall(r"\]\((.*?)\)", text):
        assert (path.parent / link).is_file(), link


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("pendulum", r"120°  simulated 2\.76\d\d s  formula 2\.76\d\d s"),
        ("contacts", r"mujoco-native   friction 0\.2:   75\d\.\d\d, by the formula   755\.77"),
        ("policy", r"told 1\.0 m/s: 1\.0\d ± 0\.\d\d m/s"),
    ],
)
def test_a_notebook_runs_and_shows_a_page(tmp_path, name, told):
    pytest.importorskip("nbclient")
    text, pages = outputs_of(ROOT / f"docs/notebooks/{name}.ipynb", tmp_path)

    assert re.search(told, text), text
    assert pages == 1
    if name == "pendulum":
        assert "failed the period is 2 s" in text
        assert text.endswith("2 of 3 points\n")


@pytest.mark.slow
def test_a_right_answer_gets_all_points(tmp_path):
    """L + 0.01 m² / L is 0.863 m: 1.01 m swing in 2.1636 s."""
    pytest.importorskip("nbclient")
    answer = {ANSWER: "length, dt = 0.8513, 0.005"}
    text, _ = outputs_of(ROOT / "docs/notebooks/pendulum.ipynb", tmp_path, **answer)

    assert text.endswith("3 of 3 points\n"), text
