"""The documentation, held to the code: every block runs, every link leads somewhere, every table is complete.

A page's blocks run from top to bottom, in one folder that holds `docs/examples` as the repository does:

- a block whose first line is a comment with a file name is written to that file
- `toml` blocks with a `[simulation]`, `[scene]` or `[solver]` table are loaded as configurations
- `python` blocks share one module
- `console` blocks run what follows `$ `, variables of the environment first; the lines below must be in the output, in
  this order, `...` standing for any
- anything else is text
"""

from __future__ import annotations

import inspect
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
import types
from collections.abc import Callable, Iterator
from itertools import product, takewhile
from pathlib import Path

import attrs
import newton  # noqa: F401  before any page runs, for the page on gradients
import pippin
import pytest
import warp
from click.testing import CliRunner
from pippin.catalog.entries import Catalog
from pippin.cli import main
from pippin.hookspecs import Hooks
from pippin_benchmark.benchmark import declared_variants

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("changelog.d/*.md"), *DOCS.rglob("*.md")])

TEST_COMMAND = "python3 -m pip install -q uv && uv run --group dev pytest"
WRITTEN = (
    "configuration",
    "cli",
    "solvers",
    "plugins",
    "sensors",
    "physics-checks",
    "views",
    "hooks",
    "public-names",
    "members",
    "conformance",
    "tasks",
    "newton-examples",
)
"""Pages that `docs/write_reference.py` writes."""

RUN_COMMAND = "python3 -m pip install -q uv && uv run pippin run docs/examples/ant.toml"

TOOLS = ("uv build ", "uv run pytest ")
"""Commands of pages that the tests run as programs of their own."""

SLOW = (
    "docs/explanation/stepping-and-graphs.md",
    "docs/explanation/ten-solvers.md",
    "docs/how-to/add-a-benchmark-problem.md",
    "docs/how-to/add-objects.md",
    "docs/how-to/bring-a-scene.md",
    "docs/how-to/checkpoint.md",
    "docs/how-to/choose-a-solver.md",
    "docs/how-to/debug-capture.md",
    "docs/how-to/demonstrations.md",
    "docs/how-to/excite-a-robot.md",
    "docs/how-to/fit-a-robot.md",
    "docs/how-to/gradients.md",
    "docs/how-to/inspect-a-robot.md",
    "docs/how-to/judge-a-log.md",
    "docs/how-to/move-tools.md",
    "docs/how-to/optimise.md",
    "docs/how-to/plugin-without-a-package.md",
    "docs/how-to/randomise.md",
    "docs/how-to/reproducible-runs.md",
    "docs/how-to/rough-ground.md",
    "docs/how-to/test-a-plugin.md",
    "docs/how-to/test-on-a-gpu.md",
    "docs/how-to/track-a-motion.md",
    "docs/how-to/train-a-policy.md",
    "docs/how-to/use-sensors.md",
    "docs/how-to/write-a-viewer.md",
    "docs/how-to/write-an-actuator.md",
    "docs/reference/actuators/surface-gripper.md",
    "docs/reference/examples/core.md",
    "docs/tutorials/arm-to-reaching.md",
    "docs/tutorials/first-fit.md",
    "docs/tutorials/first-simulation.md",
    "docs/tutorials/first-solver.md",
)
"""Pages whose blocks take about five seconds or more on two busy cores."""

FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"(#|//|<!--) (?P<path>[\w./-]+\.(toml|py|yaml|json|xml|urdf))( -->)?")
LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")


@attrs.frozen
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    """Line of the page that the text begins in, counted from 1."""

    @property
    def file(self) -> str | None:
        """The file the block is to be written to, if its first line names one."""
        found = FILE_NAME.fullmatch(self.text.partition("\n")[0])
        return found and found["path"]


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["language"], found["text"], text.count("\n", 0, found.start("text")) + 1)
        for found in FENCE.finditer(text)
    ]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@attrs.define
class Runner:
    """Runs the blocks of one page in a folder of its own."""

    page: Path
    folder: Path
    install: Callable[[Path], None]
    extend_path: Callable[[Path], None]
    """Lets Python import from a folder, as PYTHONPATH does when a process starts."""
    module: types.ModuleType
    uv: str

    def run(self, block: Block) -> None:
        if block.file is not None or block.language == "toml":
            self.write(block.file or "unnamed.toml", block.text)
        elif block.language == "python":
            self.run_python(block)
        elif block.language == "console":
            for command, expected in commands_of(block.text):
                run = self.run_tool if command.startswith(TOOLS) else self.run_command
                run(command, expected)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if path.suffix == ".toml" and re.search(r"^\[(simulation|scene|solver)\]", text, re.MULTILINE):
            pippin.load(path)

    def run_python(self, block: Block) -> None:
        # Warp reads the source of kernels, so the lines stand in a file where the page has them.
        source = Path(self.module.__file__ or "")
        before = source.read_text(encoding="utf-8") if source.exists() else ""
        text = before + "\n" * (block.line - 1 - before.count("\n")) + block.text
        source.write_text(text, encoding="utf-8")
        code = "\n" * (block.line - 1) + block.text
        exec(compile(code, str(source), "exec"), self.module.__dict__)

    def run_command(self, command: str, expected: list[str]) -> None:
        words = shlex.split(command)
        settings = list(takewhile(re.compile(r"[A-Z_]+=").match, words))
        words = words[len(settings) :]
        if words[:2] == ["uv", "run"]:
            words = words[4 if words[2] == "--group" else 2 :]
        if words[:3] == ["uv", "pip", "install"]:
            assert "/" in words[-1], f"{command}: uv takes a bare word as a name on the index, and not as a folder"
            self.install(self.folder / words[-1])
            return
        assert words[0] == "pippin", f"{command}: the tests run pippin and uv pip install"
        environment = dict(setting.split("=", 1) for setting in settings)
        if "PYTHONPATH" in environment:
            self.extend_path(self.folder / environment["PYTHONPATH"])
        result = CliRunner(env=environment).invoke(main, words[1:])
        assert bool(result.exit_code) == any(line.startswith("error:") for line in expected), result.output
        missing = first_missing(expected, result.output)
        assert missing is None, f"$ {command}\nprints no line {missing!r} there:\n{result.output}"

    def run_tool(self, command: str, expected: list[str]) -> None:
        words = shlex.split(command)
        # In this environment and without another worker for each core.
        program = [sys.executable, "-m", "pytest", *words[3:]] if words[1] == "run" else [self.uv, *words[1:]]
        done = subprocess.run(program, cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        missing = first_missing(expected, done.stdout + done.stderr)
        assert missing is None, f"$ {command}\nprints no line {missing!r} there:\n{done.stdout}{done.stderr}"


def commands_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a console block with the lines shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.replace("\\\n", " ").partition("\n")
        yield command, [line for line in map(str.strip, output.splitlines()) if line and line != "..."]


def first_missing(expected: list[str], output: str) -> str | None:
    """Return the first expected line that is not in the output, below those before it. Runs of spaces are equal."""
    lines = iter([" ".join(line.split()) for line in output.splitlines()])
    for line in expected:
        pattern = re.compile(".*".join(re.escape(part) for part in " ".join(line.split()).split("...")))
        if not any(pattern.fullmatch(found) for found in lines):
            return line
    return None


@pytest.fixture
def runner(request, tmp_path, monkeypatch, uv) -> Iterator[Runner]:
    """A runner in an empty folder with the examples, whose page the test sets."""
    shutil.copytree(DOCS / "examples", tmp_path / "docs" / "examples")
    monkeypatch.chdir(tmp_path)
    known = set(sys.modules)
    site = tmp_path / "site"

    def install(project: Path) -> None:
        command = [uv, "pip", "install", "-q", "--no-deps", "--python", sys.executable, "--target", site, project]
        subprocess.run(command, check=True)
        monkeypatch.syspath_prepend(site)

    module = types.ModuleType("page_" + re.sub(r"\W", "_", request.node.name))
    module.__file__ = str(tmp_path / "page.py")
    sys.modules[module.__name__] = module
    monkeypatch.setattr(warp.config, "enable_backward", warp.config.enable_backward)  # a page may set it
    yield Runner(Path(), tmp_path, install, monkeypatch.syspath_prepend, module, uv)
    for name in set(sys.modules) - known:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__).is_relative_to(tmp_path):
            del sys.modules[name]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name_of(page), marks=pytest.mark.slow if name_of(page) in SLOW else pytest.mark.required)
        for page in PAGES
        if blocks_of(page)
    ],
)
def test_every_block_runs(page, runner):
    runner.page = page
    for block in blocks_of(page):
        try:
            runner.run(block)
        except Exception as error:
            error.add_note(f"in {name_of(page)}, line {block.line}")
            raise


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_imports_pippin_before_it_uses_it(page):
    """Some pages run slowly, and others alone: one look finds an import that went with the name of a package."""
    code = "\n".join(block.text for block in blocks_of(page) if block.language == "python")
    used, imported = (
        re.search(pattern, code, re.MULTILINE) for pattern in (r"(?<![\w.])pippin\.\w+\(", r"^import pippin$")
    )

    assert not used or (imported and imported.start() < used.start())


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that a forge makes of a page's headings."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_to_a_file_and_a_heading(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in (found["target"] for found in LINK.finditer(text)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{name_of(page)} links to {target}"
        assert not anchor or anchor in anchors_of(linked), f"{name_of(page)} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_names_a_path_of_somebody_s_machine(page):
    assert not re.search(r"(?<![\w.])/(root|home|work|Users|tmp)/", page.read_text(encoding="utf-8"))


def test_every_page_is_linked_from_another():
    texts = {page: FENCE.sub("", page.read_text(encoding="utf-8")) for page in PAGES}
    linked = {
        (page.parent / found["target"].partition("#")[0]).resolve()
        for page, text in texts.items()
        for found in LINK.finditer(text)
        if not found["target"].startswith(("http", "#"))
    }

    fragments = set(ROOT.glob("changelog.d/*.*.md"))  # gathered into the changelog by a release
    assert set(PAGES) - fragments - linked - {ROOT / "README.md"} == set()


def test_the_readme_gives_the_two_commands_and_ci_runs_the_second():
    texts = [block.text for block in blocks_of(ROOT / "README.md")]

    assert f"{RUN_COMMAND}\n" in texts
    assert f"{TEST_COMMAND}\n" in texts
    assert TEST_COMMAND in (ROOT / ".ci" / "run").read_text().splitlines()


def test_the_readme_is_short_and_counts_the_installed_plugins():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z, ]+) \| (\d+) \| (.*?) ?\|", text, re.MULTILINE)
    entries = [entry for entry in Catalog.installed().entries if entry.provides == "configuration"]
    *kinds, total = rows
    counted = [kind for cell, _, _ in kinds for kind in cell.split(", ")]

    assert text.count("\n") <= 160
    assert len(rows) <= 13
    assert total == ("all kinds", str(len(entries)), "")
    assert len(counted) == len(set(counted))
    for cell, number, some in kinds:
        names = [entry.name for entry in entries if entry.kind in cell.split(", ")]
        assert int(number) == len(names), cell
        assert len(set(re.findall(r"`([\w-]+)`", some)) & set(names)) == 3, cell


@pytest.mark.parametrize("name", ["plugins", "tasks"])
def test_a_page_lists_the_installed_plugins(name):
    """The pages are generated: here they are held to the catalog once more, because the README leads to them."""
    page = (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\w+)$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    reference = runpy.run_path(str(DOCS / "write_reference.py"))
    catalog, plurals = Catalog.installed(), reference["plugins"].kinds()
    kinds = reference["tasks"].TASK_KINDS if name == "tasks" else {entry.kind for entry in catalog.entries}
    for kind in kinds:
        rows = re.findall(r"^\| \[?`([\w-]+)`(?:\]\(.*?\))? \|", sections[plurals[kind].capitalize()], re.MULTILINE)
        names = list(catalog.names(kind))
        assert rows[: len(names)] == names


def test_the_hooks_page_has_every_hook_with_its_arguments_in_the_order_of_the_calls():
    text = (DOCS / "reference" / "hooks.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### `?(\w+\(.*?\))`?$", text, re.MULTILINE)
    hooks = {name: function for name, function in vars(Hooks).items() if not name.startswith("_")}

    assert headings == [f"{name}({', '.join(arguments_of(function))})" for name, function in hooks.items()]


def test_the_hooks_page_explains_every_argument_of_every_hook():
    text = (DOCS / "reference" / "hooks.md").read_text(encoding="utf-8")
    for name, function in vars(Hooks).items():
        if not name.startswith("_"):
            section = re.split(r"^##", text.partition(f"### `{name}(")[2], flags=re.MULTILINE)[0]
            listed = re.findall(r"^- `(\w+)`", section, re.MULTILINE)
            assert listed == arguments_of(function), name


def arguments_of(function: Callable[..., object]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_every_hook_has_a_list_of_the_plugins_that_use_it():
    text = (DOCS / "reference" / "hooks.md").read_text(encoding="utf-8")
    told = re.findall(r"^### `(\w+)\((?:(?!^### ).)*?^Used by: [^:]+\.$", text, re.MULTILINE | re.DOTALL)

    assert told == [name for name in vars(Hooks) if not name.startswith("_")]


@pytest.mark.parametrize("name", WRITTEN)
def test_the_page_is_what_the_script_writes(name):
    written = runpy.run_path(str(DOCS / "write_reference.py"))["PAGES"][name]()

    page = DOCS / "reference" / f"{name}.md"
    assert page.read_text(encoding="utf-8") == written, "run `uv run python docs/write_reference.py`"


def test_generated_sections_of_pages_are_as_written():
    sections = runpy.run_path(str(DOCS / "write_reference.py"))["sections"]()

    for page, text in sections.items():
        assert page.read_text(encoding="utf-8") == text, f"{page}: run `uv run python docs/write_reference.py`"
    robots = {"bring-a-scene", "robot-from-mjcf", "robot-from-urdf", "robot-from-usd"}
    assert {page.stem for page in sections} == robots | {"publish-a-plugin"}
    assert all("| `xpbd` " in text for page, text in sections.items() if page.stem in robots)


def test_ten_solvers_are_shown_by_the_results_that_are_kept():
    script = runpy.run_path(str(DOCS / "draw_benchmark.py"))
    found = script["measured"].kept()
    notes = tomllib.loads((DOCS / "reference_pages" / "physics.toml").read_text(encoding="utf-8"))
    catalog = Catalog.installed()

    for name, problems in script["DRAWN"].items():
        kept = (DOCS / "images" / name).read_text(encoding="utf-8")
        assert kept == script["drawing"](found, problems), f"{name}: run `uv run python docs/draw_benchmark.py`"
    solvers = catalog.names_without_settings("solver")
    measured = {(row.solver, row.problem) for row in found.rows}
    assert notes.keys() == {*solvers}
    assert measured == {*product(solvers, catalog.names("problem"))}, "measure them by `pippin benchmark`"
    for solver in solvers:
        declared = declared_variants(catalog.find("solver", solver).load_config())
        assert {row.variant for row in found.rows if row.solver == solver} == {"", *declared}


def test_every_actuator_has_a_page_with_a_file_a_run_and_a_plot():
    names = [entry.name for entry in Catalog.installed().entries if entry.kind == "actuator"]
    titles = {
        page: page.read_text("utf-8").partition("\n")[0].lower() for page in DOCS.glob("reference/actuators/*.md")
    }
    for name in [*names, "clampings"]:
        (page,) = (page for page, title in titles.items() if name in re.findall(r"[\w-]+", title))
        languages = [block.language for block in blocks_of(page)]
        assert {"toml", "python"} <= set(languages), name
        assert re.search(r"\]\(\.\./\.\./images/[\w/-]+\.(svg|png)\)", page.read_text(encoding="utf-8")), name


def test_every_sensor_is_in_the_table_and_has_a_page_with_a_file_and_a_run():
    table = (DOCS / "reference" / "sensors.md").read_text(encoding="utf-8")
    names = [entry.name for entry in Catalog.installed().entries if entry.kind == "sensor"]
    for name in names:
        page = DOCS / "reference" / "sensors" / f"{name}.md"
        assert f"](sensors/{name}.md)" in table, f"docs/examples/sensors.toml has no {name}"
        assert {"toml", "python"} <= {block.language for block in blocks_of(page)}, name


def test_the_pages_of_sensors_have_every_output_with_its_unit_and_frame():
    """A page's table may put outputs into one row; units that there are none of may be left out."""
    table = (DOCS / "reference" / "sensors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| `(\w+)` \| (.*?) \| `(\w+)` \|", table, re.MULTILINE)
    assert rows
    for sensor, output, unit, frame in rows:
        page = (DOCS / "reference" / "sensors" / f"{sensor}.md").read_text(encoding="utf-8")
        (row,) = (line for line in page.splitlines() if re.match(rf"\|[^|]*`{output}`[^|]*\|", line))
        units, frames = (re.findall(r"[^ ,]+", cell) for cell in row.split("|")[3:5])
        assert unit == "1" or set(unit.split(", ")) <= set(units), f"{sensor}: {output}"
        assert frame == "none" or frame in frames, f"{sensor}: {output}"


def test_every_image_of_a_sensor_is_drawn_by_a_script_and_shown_on_a_page():
    scripts = "".join(script.read_text(encoding="utf-8") for script in DOCS.glob("draw_*.py"))
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = {path.name for path in (DOCS / "images" / "sensors").iterdir()}

    assert pictures == {name for name in pictures if f'"{name}"' in scripts and f"images/sensors/{name})" in pages}


def test_the_clampings_page_has_every_clamping():
    text = (DOCS / "reference" / "actuators" / "clampings.md").read_text(encoding="utf-8")
    names = [entry.name for entry in Catalog.installed().entries if entry.kind == "clamping"]

    assert sorted(re.findall(r"^## `(.*)`$", text, re.MULTILINE)) == names


def test_every_plot_of_an_actuator_is_one_that_the_script_draws():
    drawn = runpy.run_path(str(DOCS / "draw_actuators.py"))["FIGURES"]

    assert {path.stem for path in (DOCS / "images" / "actuators").iterdir()} == set(drawn)


def test_public_names_keep_to_the_glossary():
    words = {word for name in pippin.__all__ for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    words |= {word for name in dir(pippin.Simulation) if name[0] != "_" for word in name.split("_")}

    assert words.isdisjoint({"Cfg", "cfg", "Env", "env", "envs", "num", "Manager", "Entity"})
