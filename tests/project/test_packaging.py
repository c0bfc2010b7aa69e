"""The distributions as a stranger gets them: wheels, installed where nothing else is."""

import ast
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pippin.catalog import Catalog
from pippin.catalog.source import CONTRACT_VERSIONS
from pippin.extras import missing_libraries

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HOST = ROOT / "core" / "host"
FOLDERS = ("core", "solvers", "actuators", "sensors")
MEMBERS = sorted({path.parent for folder in FOLDERS for path in ROOT.glob(f"{folder}/*/src")} - {HOST})
"""Every package but the host."""

KIT = {"pytest", "pippin-conformance"}
"""What the tests of a plugin need besides what it depends on."""

each_member = pytest.mark.parametrize("member", MEMBERS, ids=lambda path: str(path.relative_to(ROOT)))


def project(member: Path) -> dict:
    return tomllib.loads((member / "pyproject.toml").read_text())["project"]


def imports(folder: Path, files: str = "*.py") -> Iterator[str]:
    """Yield the top-level packages that the files of a folder import, wherever in the file they do.

    Templates are files of other packages.
    """
    for path in (path for path in folder.rglob(files) if "templates" not in path.parts):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                yield node.module.split(".")[0]


@pytest.fixture(scope="module")
def wheels(uv, tmp_path_factory) -> Path:
    """A folder with the wheel of every member, and no other."""
    folder = tmp_path_factory.mktemp("wheels")
    subprocess.run([uv, "build", "-q", "--all-packages", "--wheel", "-o", folder], cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="module")
def environment(uv, wheels, share_bytecode, tmp_path_factory) -> Callable[..., Path]:
    """`environment("pippin", ...)` leaves these distributions and what they depend on in it, and returns its `bin`.

    The same folder serves every test: what stays installed keeps its bytecode.
    """
    # The versions that this run tests: what uv has in its cache, and no newer one by chance.
    tested = tmp_path_factory.mktemp("versions") / "constraints.txt"
    freeze = [uv, "pip", "freeze", "-q", "--exclude-editable", "--python", sys.executable]
    tested.write_bytes(subprocess.run(freeze, check=True, capture_output=True).stdout)

    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, folder], check=True)
    command = [uv, "pip", "install", "-q", "--exact", "--python", folder, "--find-links", wheels]

    def environment(*requirements: str | Path) -> Path:
        subprocess.run([*command, "--constraints", tested, *requirements], cwd=folder, check=True)
        share_bytecode(folder)
        return folder / "bin"

    return environment


def test_the_wheels_in_an_empty_environment_list_every_plugin(environment, wheels):
    scripts = environment(*wheels.glob("*.whl"))

    done = subprocess.run([scripts / "pippin", "plugins", "--json"], capture_output=True, text=True, check=True)

    listed = {
        (row["distribution"], Catalog.installed().kind(row["kind"]).group, row["name"], row["state"])
        for row in json.loads(done.stdout)
    }
    assert listed == {
        (project(member)["name"], group, name, "ok")
        for member in [HOST, *MEMBERS]
        for group, points in project(member).get("entry-points", {}).items()
        for name in points
        if group not in ("pippin.contract", "pippin.kinds")
    }


def test_the_doctor_finds_a_clean_installation_healthy_and_names_what_is_optional(environment):
    """The host, two plugins and the viewers alone: no viewer has the library of its extra."""
    scripts = environment("pippin-solver-xpbd", "pippin-actuator-pd", "pippin-view")

    done = subprocess.run([scripts / "pippin", "plugins", "--doctor", "--json"], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
    rows = {(row["kind"], row["name"]): row for row in json.loads(done.stdout)}
    assert {row["state"] for row in rows.values()} == {"ok", "needs-extra"}
    assert (
        rows["solver", "xpbd"]["state"] == rows["actuator", "pd"]["state"] == rows["recorder", "npz"]["state"] == "ok"
    )
    lack = "viewer 'viser' of pippin-view 0.1.0: needs viser; install it by `uv pip install 'pippin-view[viser]'`"
    assert rows["viewer", "viser"]["lack"] == lack


@pytest.mark.parametrize("member", [HOST, *MEMBERS], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_member_declares_the_version_of_the_contract_that_it_keeps(member):
    points = project(member).get("entry-points")  # one without plugins declares nothing

    assert points is None or points["pippin.contract"] == {
        str(CONTRACT_VERSIONS[-1]): next((member / "src").glob("*pippin*/")).name
    }


def alike() -> dict[str, list[Path]]:
    """Return the members of one kind that depend on the same, by a name for each such group; one by one in `core`."""
    groups: dict[str, list[Path]] = {}
    for member in MEMBERS:
        words = [member.name] if member.parent.name == "core" else project(member)["dependencies"]
        groups.setdefault(" ".join([member.parent.name, *words]), []).append(member)
    return groups


def alone(member: Path) -> list[Path]:
    """Return the files of a member with tests marked `alone`; others may import what is not there."""
    return [path for path in (member / "tests").rglob("test_*.py") if "pytest.mark.alone" in path.read_text()]


@each_member
def test_a_member_has_one_or_a_few_tests_for_its_wheel_alone(member):
    if member.name == "coupled":
        pytest.skip("a solver of solvers needs others")
    assert 1 <= sum(path.read_text().count("pytest.mark.alone") for path in alone(member)) <= 4


@pytest.mark.parametrize("members", alike().values(), ids=alike())
def test_members_work_with_only_the_core_and_what_they_depend_on_installed(environment, members, run_tests_elsewhere):
    """Their tests marked `alone` pass where nothing of another kind is; in the workspace all of them run."""
    needed = {"pytest"} if members[0].parent.name == "core" else KIT
    scripts = environment(*(project(member)["name"] for member in members), *needed)

    options = ("-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib", "-m", "alone")
    files = [path for member in members for path in alone(member)]
    run_tests_elsewhere(scripts / "python", *options, *files, cwd=ROOT)


def test_the_ant_runs_with_the_host_a_solver_and_an_actuator(environment, tmp_path):
    """Nothing else of Pippin is there; the example's sensors are refused with what to install, and left out."""
    scripts = environment("pippin", "pippin-solver-mujoco", "pippin-actuator-pd")
    ant = (ROOT / "docs" / "examples" / "ant.toml").read_text()
    (tmp_path / "ant.toml").write_text(ant)
    bare, first, rest = ant.partition("[sensors.")
    (tmp_path / "bare.toml").write_text(bare)

    def pippin(*words):
        return subprocess.run([scripts / "pippin", *words], cwd=tmp_path, capture_output=True, text=True)

    whole = pippin("check", "ant.toml")
    ran = pippin("run", "bare.toml", "--steps", "100", "--out", "run")

    assert set(re.findall(r"(?m)^\[+(\w+)", first + rest)) == {"sensors"}
    assert whole.returncode == 3
    for sensor in ("imu", "contact"):
        assert f"'{sensor}': not installed; install it by `uv pip install pippin-sensor-{sensor}`" in whole.stderr
    assert ran.returncode == 0, ran.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["worlds"], summary["steps"]) == (64, 100)
    assert {each["distribution"] for each in summary["plugins"].values()} == {
        "pippin-solver-mujoco",
        "pippin-actuator-pd",
    }
    (site,) = scripts.parent.glob("lib/*/site-packages")
    ours = {path.name.partition("-")[0] for path in site.glob("pippin*.dist-info")}
    assert ours == {"pippin", "pippin_solver_mujoco", "pippin_actuator_pd"}


def test_commands_and_tables_of_packages_that_are_missing_say_what_to_install(environment, tmp_path):
    scripts = environment("pippin")
    first_party = runpy.run_path(str(ROOT / "docs" / "first_party.py"))
    owned = [
        (plural, name, project["name"])
        for project in first_party["projects"]()
        for plural, names in first_party["groups"](project).items()
        for name in names
    ]

    def told(*words):
        done = subprocess.run([scripts / "pippin", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2
        return done.stderr

    commands = {name: owner for plural, name, owner in owned if plural == "subcommands"}
    assert commands["fit"] == "pippin-fit"
    for name, owner in commands.items():
        assert f"no command '{name}' without {owner}; install it by `uv pip install {owner}`" in told(name, "--help")
    tables = {name: owner for plural, name, owner in owned if plural == "tables"}
    assert tables["fit"] == "pippin-fit"
    (tmp_path / "tables.toml").write_text("".join(f"[{name}]\n" for name in tables))
    faults = told("show", "tables.toml").splitlines()
    for line, (name, owner) in enumerate(tables.items(), start=1):
        cure = f"no installed package has this table; install it by `uv pip install {owner}`"
        assert f"error: tables.toml:{line}: {name}: {cure}" in faults


AUTHORING = """
from pippin_isaac import PDControlConfig, add_actuator
add_actuator(None, "hip", "motor", PDControlConfig(kp=1.0, kd=0.1))
"""


def test_isaac_does_without_usd_until_a_stage_is_written(environment):
    scripts = environment("pippin-isaac")

    done = subprocess.run([scripts / "python", "-c", AUTHORING], capture_output=True, text=True)

    assert "install it by `uv pip install 'pippin-isaac[usd]'`" in done.stderr


def interpreter(uv: str, version: str) -> str:
    """Return an interpreter of a version, or skip the test."""
    found = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, timeout=60)
    if found.returncode:
        pytest.skip(f"no Python {version} on this machine")
    return found.stdout.strip()


def needs_index(done: subprocess.CompletedProcess[str]) -> None:
    """Skip the test if the index of packages cannot be reached, which is no fault of the wheels."""
    if re.search(
        r"(?i)failed to fetch|connection (error|refused)|network|could not fetch url|name resolution", done.stderr
    ):
        pytest.skip(f"the index of packages cannot be reached: {done.stderr.strip()[-300:]}")


@contextmanager
def shown_demo(command: list[str | Path], folder: Path) -> Iterator[str]:
    """Yield the address that `pippin demo` tells, in a folder that holds nothing; press Ctrl-C at the end."""
    with (folder / "told").open("w+") as told:
        process = subprocess.Popen(command, cwd=folder, stdout=told, stderr=told, text=True, start_new_session=True)
        try:
            end, found = time.monotonic() + 400.0, None
            while not found and process.poll() is None and time.monotonic() < end:
                time.sleep(0.2)
                found = re.search(r"page: (\S+) \(Ctrl-C ends\)", (folder / "told").read_text())
            assert found, (folder / "told").read_text()
            yield found[1]
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(60) in (0, 130), (folder / "told").read_text()  # uv may hand Ctrl-C on a second time
            assert (folder / "told").read_text().endswith("stopped\n")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_demo_runs_from_a_folder_of_wheels_by_one_command(uv, wheels, version, tmp_path):
    """A fresh environment of uv, and nothing of this one."""
    python = interpreter(uv, version)
    words = [uv, "tool", "run", "--isolated", "--python", python, "--find-links", wheels, "--from", "pippin[demo]"]
    tried = subprocess.run([*words, "pippin", "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=400)
    needs_index(tried)

    with shown_demo([*words, "pippin", "demo", "--no-browser", "--device", "cpu"], tmp_path) as url:
        page = urllib.request.urlopen(url, timeout=30.0).read().decode()

    assert "<title>" in page


WALK = """
import pippin
from pippin_demo.demo import FILE
with pippin.Simulation.from_file(FILE, {"simulation.device": "cpu", "task.autoreset": "disabled"}) as simulation:
    simulation.reset()
    simulation.step(250)
    print(*simulation.task.episodes.length.numpy())
"""


def test_the_demo_walks_after_a_plain_pip_install(wheels, tmp_path):
    """No uv; nine robots are on their feet after five seconds."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "plain"], check=True, timeout=120)
    python = tmp_path / "plain" / "bin" / "python"
    install = [
        python,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--find-links",
        wheels,
        "pippin[demo]",
    ]
    done = subprocess.run(install, cwd=tmp_path, capture_output=True, text=True, timeout=500)
    needs_index(done)
    assert done.returncode == 0, done.stderr

    walked = subprocess.run([python, "-c", WALK], cwd=tmp_path, capture_output=True, text=True, timeout=400)

    assert walked.returncode == 0, walked.stderr
    assert walked.stdout.split() == ["250"] * 9


@pytest.mark.parametrize("version", ["3.11", "3.14"])
@pytest.mark.parametrize("platform", ["windows", "aarch64-apple-darwin"])
def test_all_wheels_resolve_to_wheels_for_windows_and_macos(uv, wheels, platform, version, tmp_path):
    """Resolved, not run: nothing needs a compiler there."""
    names = sorted(path.name.partition("-")[0].replace("_", "-") for path in wheels.glob("*.whl"))
    (tmp_path / "all.in").write_text("\n".join([*names, "pippin[demo]"]))
    options = ["--python-platform", platform, "--python-version", version, "--only-binary", ":all:", "--no-header"]
    command = [uv, "pip", "compile", "-q", "--find-links", wheels, *options, "all.in"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)

    needs_index(done)
    assert done.returncode == 0, done.stderr
    assert {"newton", "mujoco", "warp-lang", "viser", *names} <= set(
        re.findall(r"^([\w-]+)==", done.stdout, re.MULTILINE)
    )


LARGEST = 740
"""What the README's first command may install [MiB]."""


def test_the_first_command_of_the_readme_installs_no_more_than_it_says(uv, tmp_path):
    """The environment of `uv run` in a clone, without groups; bytecode comes with the first run."""
    place = tmp_path / "environment"
    command = [uv, "sync", "-q", "--frozen", "--no-default-groups", "--python", sys.executable]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "UV_PROJECT_ENVIRONMENT": str(place)}, check=True)

    size = sum(path.lstat().st_blocks for path in place.rglob("*")) * 512 / 2**20

    [stated] = re.findall(r"installs what a run needs \((\d+) MB\)", (ROOT / "README.md").read_text())
    assert size <= LARGEST
    assert abs(size - int(stated)) < 10, "state the new size in the README and in docs/reference/performance.md"


@each_member
def test_a_member_imports_only_what_it_depends_on(member):
    """So do the tests of a plugin, with the kit. Packages in `core` import no other one of ours without asking for it;
    the kit imports their checks, and nothing else does.
    """
    own = next(path.parent for path in (member / "src").glob("*/__init__.py")).name
    extras = chain.from_iterable(project(member).get("optional-dependencies", {}).values())
    requirements = [*project(member)["dependencies"], *extras, *project(HOST)["dependencies"]]
    allowed = {canonicalize_name(Requirement(requirement).name) for requirement in requirements} | KIT
    # Editable installs do not say which packages they provide: there the package has the distribution's name.
    provided_by = metadata.packages_distributions()

    undeclared = {
        package
        for package in set(imports(member)) - sys.stdlib_module_names - {own}
        if allowed.isdisjoint(map(canonicalize_name, provided_by.get(package, [package])))
    }

    if missing_libraries("engine", project(member)["name"]):  # nobody knows what its packages are called
        undeclared -= {*imports(member, "engine.py")}
    if member.parent.name == "core":
        undeclared &= {package for package in imports(member / "src") if package.startswith("pippin_")}
    assert not undeclared


def test_a_package_from_outside_with_a_compiled_core_is_chosen_by_name_and_compared(environment, uv, tmp_path):
    """Built to a wheel and installed where nothing else is; its solver ends where MuJoCo does, to 0.1 mm in 0.4 s."""
    project = tmp_path / "lab"
    shutil.copytree(ROOT / "tests" / "outside" / "pippin-hinge-lab", project)
    subprocess.run([uv, "build", "-q", "--wheel", "-o", tmp_path / "dist", project], check=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    scripts = environment(wheel, "pippin-solver-mujoco", "pippin-benchmark")

    solvers = ("--solver", "hinges", "--solver", "mujoco")
    command = [scripts / "pippin", "compare", "scene.toml", *solvers, "--steps", "200", "--json"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)

    assert "none-any" not in wheel.name, "there is a compiled part in it"
    assert done.returncode == 0, done.stdout + done.stderr
    hinges, mujoco = json.loads(done.stdout)["solvers"]
    assert (hinges["outcome"], mujoco["outcome"]) == ("finished", "finished")
    assert max(hinges["energy_drift"], mujoco["energy_drift"]) < 5e-3, "the relay does about 0.1 J of work"
    assert mujoco["distance"] < 1e-4
