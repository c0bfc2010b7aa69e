"""Prose of docstrings and pages: first words that are nouns or verbs, and the words of the glossary."""

import ast
import functools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [*ROOT.glob("*/*/src/**/*.py")]
CLAUSES = {"What", "Who", "Where", "Whether", "How", "Which", "When", "Why", "That"}
"""First words of a clause that takes the place of a noun."""

GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"


def avoided() -> re.Pattern[str]:
    """Return a pattern of all phrases in the column *not* of the glossary."""
    table = GLOSSARY.read_text(encoding="utf-8").partition("| not |\n")[2].splitlines()[1:]
    phrases = [phrase.strip() for row in table for phrase in row.strip("|").split("|")[2].split(",")]
    return re.compile(rf"\b({'|'.join(map(re.escape, phrases))})\b", re.IGNORECASE)


@functools.cache
def nodes() -> list[tuple[Path, ast.AST]]:
    """Return each statement with a docstring or of text, and its file."""
    kinds = ast.Module | ast.ClassDef | ast.Expr
    trees = [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCES]
    return [(path, node) for path, tree in trees for node in ast.walk(tree) if isinstance(node, kinds)]


def documented(kind: type[ast.Module] | type[ast.ClassDef]) -> Iterator[tuple[str, str]]:
    """Yield the place and the first word of each docstring of a module or a class."""
    for path, node in nodes():
        if isinstance(node, kind) and (text := ast.get_docstring(node)):
            yield f"{path.relative_to(ROOT)}: {text.splitlines()[0]}", re.findall(r"\w+", text)[0]


def texts() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each string that is a statement, and of each Markdown page, in one line."""
    for path, node in nodes():
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield f"{path.relative_to(ROOT)}:{node.lineno}", " ".join(node.value.value.split())
    pages = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for page in pages.splitlines():
        text = (ROOT / page).read_text(encoding="utf-8")
        yield page, " ".join(text.partition("| not |\n")[0].split())  # the table of these words ends the glossary


def test_a_module_docstring_begins_with_no_clause():
    assert not [place for place, word in documented(ast.Module) if word in CLAUSES]


def test_a_class_docstring_begins_with_no_clause():
    assert not [place for place, word in documented(ast.ClassDef) if word in CLAUSES]


def test_the_glossary_lists_words_to_avoid():
    assert avoided().search("The run goes on.")
    assert not avoided().search("The run continues.")


def test_prose_has_the_words_of_the_glossary():
    """Name the word of the glossary for each phrase that is found."""
    pattern = avoided()

    assert not [f"{place}: {found[0]}" for place, text in texts() for found in pattern.finditer(text)]
