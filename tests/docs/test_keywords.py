"""The words of docs/site/keywords.toml, and what users of other programs find by the search of the site itself.

The search is slow, and skipped without Sphinx or Node:
`uv run --group dev --group docs pytest -m "" tests/docs/test_keywords.py`.
"""

import importlib.util
import json
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
KEYWORDS = runpy.run_path(str(DOCS / "site" / "keywords.py"))
LLMS = runpy.run_path(str(DOCS / "site" / "llms.py"))
QUERIES = [
    (query, pages)
    for queries in tomllib.loads((Path(__file__).with_name("queries.toml")).read_text(encoding="utf-8")).values()
    for query, pages in queries.items()
]


def test_each_page_with_words_exists():
    assert [place for place in KEYWORDS["keywords"]() if not (DOCS / place).is_file()] == []


def test_each_query_has_pages_that_exist():
    assert len(QUERIES) == 60
    assert [page for _, pages in QUERIES for page in pages if not (DOCS / f"{page}.md").is_file()] == []


def test_words_are_found_in_american_spelling():
    assert sorted(KEYWORDS["american"]("Optimise the colours of neighbours; raise the centre by 3 millimetres.")) == [
        "center",
        "colors",
        "millimeter",
        "neighbors",
        "optimize",
    ]


def test_a_page_gets_its_words_below_its_title():
    page = KEYWORDS["with_keywords"]("# Randomise\n\nText.\n", ["domain randomization"])

    assert page.startswith(
        "# Randomise\n\n```{eval-rst}\n.. meta::\n   :keywords: domain, randomization, randomize\n```\n"
        "```{index} ! domain randomization\n```\n"
    )
    assert page.endswith("\n\nText.\n")


def test_the_list_for_programs_has_each_listed_page_once_with_its_text():
    index = (DOCS / "README.md").read_text(encoding="utf-8")

    text = LLMS["list_of_pages"](index, "One\nsentence.")

    assert text.startswith("# Pippin\n\n> One sentence.\n\n## Tutorials\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Tutorials", "How-to guides", "Reference", "Explanation"]
    links = re.findall(r"\]\((.*?)\.html\)", text)
    assert len(links) == len(set(links)) > 130
    assert [link for link in links if not (DOCS / f"{link}.md").is_file()] == []
    assert "- [Train a policy](how-to/train-a-policy.html): `pippin train` with rsl-rl-lib" in text


def test_the_full_text_for_programs_has_each_page_in_the_order_of_the_list():
    index = "- [Two](how-to/two.md): text\n- [One](reference/one.md)\n"

    text = LLMS["full_text"](index, {"reference/one.md": "# One\n", "how-to/two.md": "# Two\n\nText.\n", "x.md": "no"})

    assert text == "<!-- how-to/two.md -->\n\n# Two\n\nText.\n\n<!-- reference/one.md -->\n\n# One\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The folder of the site, built without a warning."""
    if importlib.util.find_spec("furo") is None:
        pytest.skip("the group `docs` is not installed: `uv run --group docs ...`")
    if shutil.which("node") is None:
        pytest.skip("Node runs the search of the site, and is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, DOCS / "site" / "build.py", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@pytest.mark.slow
def test_queries_of_other_programs_find_the_right_page_in_three_hits(site):
    command = ["node", DOCS / "site" / "search.js", site, *(query for query, _ in QUERIES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    hits = json.loads(done.stdout)

    missed = {query: hits[query][:3] for query, pages in QUERIES if not {*hits[query][:3]} & {*pages}}

    assert len(missed) <= 5, missed


@pytest.mark.slow
def test_the_build_writes_the_texts_for_programs(site):
    assert (site / "llms.txt").read_text(encoding="utf-8").startswith("# Pippin\n\n> Pippin is a plugin host")
    assert (site / "llms-full.txt").stat().st_size > 1_000_000
