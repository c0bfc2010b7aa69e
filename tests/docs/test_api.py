"""The API reference: every public function tells its parameters, and every public class its members."""

import ast
import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.required

SITE = Path(__file__).parents[2] / "docs" / "site"
FOLDERS = (
    "aliases",
    "api",
    "common",
    "files",
    "keys",
    "landing",
    "members",
    "navigation",
    "sections",
    "stage",
    "uses",
)


@pytest.fixture(scope="module")
def scripts():
    """The scripts of the site, which import each other by name."""
    sys.path.insert(0, str(SITE))
    try:
        import aliases
        import api
        import stage
        import uses

        yield {"aliases": aliases, "api": api, "stage": stage, "uses": uses}
    finally:
        sys.path.remove(str(SITE))
        for name in FOLDERS:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def definitions(scripts):
    """Every public class and function by its name, with the module of its source."""
    api = scripts["api"]
    names = [(module, name) for module in api.MODULES for name in api.PUBLIC["names_of"](module)]
    return {f"{module}.{name}": api.PUBLIC["home_of"](module, name)[:2] for module, name in names}


def untold(scripts, name, function, text):
    """Return the parameters that neither a docstring nor the table of common meanings explains."""
    parameters, common = scripts["api"].parameters_of(function), scripts["api"].COMMON
    return [f"{name}: {each}" for each in parameters if each not in common and not re.search(rf"\b{each}\b", text)]


@pytest.mark.slow
def test_every_parameter_of_a_public_function_or_method_is_told(scripts, definitions):
    missing = []
    for name, (module, found) in definitions.items():
        if isinstance(found, ast.FunctionDef):
            missing += untold(scripts, name, found, ast.get_docstring(found) or "")
        elif isinstance(found, ast.ClassDef):
            members, constructor, _ = scripts["api"].content_of(module, found)
            if constructor and not name.startswith("pippin.views."):  # a view is made by another view
                missing += untold(scripts, name, constructor, ast.get_docstring(found) or "")
            for each in members:
                if each.function and each.kind == "method":
                    missing += untold(scripts, f"{name}.{each.name}", each.function, each.text)

    assert missing == []


def test_every_member_of_a_public_class_has_a_text(scripts, definitions):
    missing = [
        f"{name}.{each.name}"
        for name, (module, found) in definitions.items()
        if isinstance(found, ast.ClassDef)
        for each in scripts["api"].content_of(module, found)[0]
        if not each.text
    ]

    assert missing == []


def test_every_public_name_has_an_entry(scripts, definitions):
    pages = scripts["api"].api_pages({})
    entries = {
        f"{place.removeprefix('api/').removesuffix('.md')}.{name}"
        for place, text in pages.items()
        for name in re.findall(r"^:{4,5}\{py:(?:class|exception|function|data)\} (\w+)", text, re.MULTILINE)
    }

    assert entries == set(definitions)


def test_every_page_of_the_documentation_has_a_place_in_the_site(scripts, tmp_path):
    """Pages outside of the navigation are files of the repository that a page links to."""
    scripts["stage"].stage(tmp_path)

    outside = [path for path in tmp_path.rglob("*.md") if path.read_text(encoding="utf-8").startswith("---\norphan")]
    assert {path.relative_to(tmp_path).parts[0] for path in outside} == {"files"}
    assert (tmp_path / "how-to" / "drive-joints.md").exists()


def annotations_of(function):
    given = [each.annotation for each in ast.walk(function.args) if isinstance(each, ast.arg)]
    return [each for each in (*given, function.returns) if each is not None]


def annotations_in(scripts, module, found):
    """Yield each annotation in the entry of a definition, with its place and the module of its source."""
    api, aliases = scripts["api"], scripts["aliases"]
    if isinstance(found, ast.FunctionDef):
        yield from (("", module, each) for each in annotations_of(aliases.with_public_types(module, found)))
    if not isinstance(found, ast.ClassDef):
        return
    _, constructor, _ = api.content_of(module, found)
    bases = [(home, base) for home, base in api.bases_of(module, found) if (home, base.name) not in api.PLACES]
    for home, owner in [(module, found), *bases]:
        for member in api.members_of(home, owner):
            found_here = annotations_of(member.function) if member.function else []
            if not member.function and member.type:
                found_here = [ast.parse(member.type, mode="eval").body]
            yield from ((f".{member.name}", home, each) for each in found_here)
    yield from (("()", module, each) for each in (annotations_of(constructor) if constructor else []))


def test_signatures_and_members_name_public_types_alone(scripts, definitions):
    """A member that only Pippin's own parts use says so: its text begins with `For the core: `."""
    private = [
        f"{name}{place}: {each}"
        for name, (module, found) in definitions.items()
        for place, home, annotation in annotations_in(scripts, module, found)
        for each in scripts["aliases"].private_types(home, annotation)
    ]

    assert private == [], "make the type public; or let the text of the member begin with `For the core: `"


def test_every_attribute_of_a_public_class_has_a_type(scripts, definitions):
    missing = [
        f"{name}.{each.name}"
        for name, (module, found) in definitions.items()
        if isinstance(found, ast.ClassDef) and "Enum" not in ast.unparse(ast.List(elts=found.bases))
        for each in scripts["api"].content_of(module, found)[0]
        if each.kind != "method" and not each.type and each.default is None
    ]

    assert missing == [], "annotate it where it is assigned"


SHAPED = re.compile(r"\bshape\b|\bmask\b|\b(see|of) `|Isaac's name", re.IGNORECASE)


def test_every_array_of_a_public_class_or_function_has_a_shape(scripts, definitions):
    """A text gives the shape, or names the array or the method that has the same one."""
    api, missing = scripts["api"], []
    for name, (module, found) in definitions.items():
        texts = []
        if isinstance(found, ast.FunctionDef) and found.returns:
            texts = [("", ast.unparse(found.returns), ast.get_docstring(found))]
        elif isinstance(found, ast.ClassDef):
            members = api.content_of(module, found)[0]
            returns = [each.function and each.function.returns for each in members]
            texts = [
                (f".{each.name}", ast.unparse(returned) if returned else each.type, each.text)
                for each, returned in zip(members, returns, strict=True)
            ]
        missing += [
            f"{name}{place}: {kind}"
            for place, kind, text in texts
            if re.search(r"\b(wp\.array|ndarray)\b", kind) and not SHAPED.search(text)
        ]

    assert missing == []


def errors_raised_in(function):
    """Yield the names of the error classes that the body of a function raises itself."""
    for each in ast.walk(function):
        if isinstance(each, ast.Raise) and each.exc is not None:
            error = each.exc.func if isinstance(each.exc, ast.Call) else each.exc
            if re.search(r"\b[A-Z]\w*$", ast.unparse(error)):
                yield ast.unparse(error).rpartition(".")[2]


def test_a_public_function_or_method_tells_the_errors_that_it_raises(scripts, definitions):
    untold_errors = []
    for name, (module, found) in definitions.items():
        functions = [("", found, ast.get_docstring(found))] if isinstance(found, ast.FunctionDef) else []
        if isinstance(found, ast.ClassDef):
            members, constructor, _ = scripts["api"].content_of(module, found)
            functions = [("()", constructor, ast.get_docstring(found))] if constructor else []
            functions += [(f".{each.name}", each.function, each.text) for each in members if each.function]
        for place, function, text in functions:
            untold_errors += [f"{name}{place}: {error}" for error in errors_raised_in(function) if error not in text]

    assert untold_errors == []


def test_a_private_alias_is_shown_by_its_value(scripts):
    page = scripts["api"].api_pages({})["api/pippin_task.gym.md"]

    assert "autoreset: Literal['same-step', 'next-step', 'disabled'] | None=None" in page


def test_every_public_name_has_an_example(scripts):
    """The tests run the Python of every page and every script of the examples."""
    stage = scripts["stage"]

    uses = scripts["uses"].uses(stage.pages_with_code(stage.Stage()))

    unused = [name for name, places in uses.items() if not places]
    assert unused == [], "add a block that uses it to a page, see docs/reference/examples/README.md"


def test_a_use_is_found_under_every_way_to_import_it(scripts):
    code = "import pippin\nfrom pippin import labels\nfrom pippin.axes import axis_labels as named\n"
    code += "labels.match(named(robot))\npippin.structure({})"

    found = scripts["uses"].names_used_in(code)

    assert {"pippin.labels.match", "pippin.axes.axis_labels", "pippin.structure"} <= set(found)
