"""Release of all distributions of the workspace: `uv run --group dev python .ci/release.py 0.2.0`.

Everything happens in a copy of the last commit: versions, bounds, changelog, wheels, and a run from the wheels alone in
an empty environment. If all of it works, the changed files come back into the tree, and the wheels into `dist/`.
Nothing is committed and nothing is uploaded; the last lines say how.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).parents[1]
UV = os.environ.get("UV") or "uv"
_RELEASES = "<!-- releases -->\n"
"""What stands above the newest version in a changelog."""

STEPS = 20
"""Control steps of the run from the wheels."""


def main() -> None:
    """Read the arguments, and prepare a release or rehearse it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("version", type=_version, help="version of all distributions, above the last one")
    parser.add_argument("--rehearse", action="store_true", help="leave the tree as it is; the wheels go to --out alone")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "dist", help="folder for wheels and sdists, by default dist/"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pippin-release-") as folder:
        try:
            release(given.version, given.out.resolve(), Path(folder), is_rehearsal=given.rehearse)
        except subprocess.CalledProcessError as error:
            sys.exit(f"release: {' '.join(map(str, error.cmd))} failed; the tree is as it was\n{error.stderr or ''}")
        except ReleaseError as error:
            sys.exit(f"release: {error}")


class ReleaseError(Exception):
    """The release cannot be made; the text says why, and what to do."""


def release(version: Version, out: Path, folder: Path, *, is_rehearsal: bool) -> None:
    """Prepare a release in a folder, and bring the results back.

    Raises:
        ReleaseError: The tree is not clean, the version is not above the last one, or the wheels do not run.
    """
    if not is_rehearsal and (dirty := _output("git", "status", "--porcelain", cwd=ROOT)):
        raise ReleaseError(f"the tree is not clean; commit these files, or put them away:\n{dirty}")
    if out.exists() and any(out.iterdir()):
        raise ReleaseError(f"{out} is not empty; remove it, or choose another --out")
    source, dist = folder / "source", folder / "dist"
    _run("git", "clone", "--quiet", ROOT, source, cwd=folder)
    prepare(source, version)
    build(source, dist)
    check(source, dist, version)
    ran = run_from(dist, source, folder / "environment")
    print(f"the README's file ran from the wheels: {ran['worlds']} worlds, {ran['steps']} steps")
    shutil.copytree(dist, out, dirs_exist_ok=True)
    if not is_rehearsal:
        _run("git", "add", "--all", cwd=source)
        changes = subprocess.run(["git", "diff", "--cached", "--binary"], cwd=source, check=True, capture_output=True)
        subprocess.run(["git", "apply", "--index"], cwd=ROOT, input=changes.stdout, check=True)
    _tell(version, out, is_rehearsal=is_rehearsal)


def members(source: Path) -> dict[str, Path]:
    """Return the folder of each distribution of the workspace by its name."""
    patterns = tomllib.loads((source / "pyproject.toml").read_text())["tool"]["uv"]["workspace"]["members"]
    folders = sorted(path.parent for pattern in patterns for path in source.glob(f"{pattern}/pyproject.toml"))
    return {_project(folder)["name"]: folder for folder in folders}


def prepare(source: Path, version: Version) -> None:
    """Set the versions of all distributions and their bounds on each other, and write the changelog.

    Raises:
        ReleaseError: The version is not above that of a distribution.
    """
    found = members(source)
    for name, folder in found.items():
        if version <= (last := Version(_project(folder)["version"])):
            raise ReleaseError(f"{name} has version {last} already; choose one above it")
    bounds = bounds_of(version)
    for name, folder in found.items():
        _run(UV, "version", "--quiet", "--frozen", "--package", name, str(version), cwd=source)
        for options, requirement in _requirements(_project(folder)):
            if requirement.name in found:
                extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
                needed = f"{requirement.name}{extras}{bounds}"
                _run(UV, "add", "--quiet", "--frozen", "--package", name, *options, needed, cwd=source)
    for page in source.glob("docs/**/*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r'"pippin>=[\d.]+,<[\d.]+"', f'"pippin{bounds}"', text), encoding="utf-8")
    _run(sys.executable, "-m", "towncrier", "build", "--yes", "--version", str(version), cwd=source)
    for folder in found.values():
        if folder.parent.name == "core":
            add_own_changes(source / "CHANGELOG.md", folder / "CHANGELOG.md", folder.name)


def add_own_changes(every: Path, own: Path, package: str) -> None:
    """Add the newest version of the changelog of all packages to that of one, with the messages about it alone."""
    newest = every.read_text(encoding="utf-8").partition(_RELEASES)[2].strip().split("\n## ")[0]
    title, *kinds = newest.split("\n### ")
    blocks = [title.strip()]
    for kind in kinds:
        name, *messages = [line for line in kind.splitlines() if line.strip()]
        told = [f"- {text}" for line in messages if (text := _message_to(line.removeprefix("- "), package))]
        blocks += ["\n".join([f"### {name}", "", *told])] if told else []
    if len(blocks) == 1:
        blocks.append("No changes of its own.")
    head, mark, older = own.read_text(encoding="utf-8").partition(_RELEASES)
    own.write_text("\n".join([head + mark, "\n\n".join(blocks), older]).rstrip() + "\n", encoding="utf-8")


def _message_to(line: str, package: str) -> str | None:
    """Return a message if it is about a package, without the names before it; None if it is about others."""
    names, _, message = line.partition(": ")
    return message if package in names.split(", ") else None


def _requirements(project: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Requirement]]:
    """Yield what a distribution and each of its extras need, with the options of `uv add` for it."""
    yield from (((), Requirement(text)) for text in project.get("dependencies", ()))
    for extra, texts in project.get("optional-dependencies", {}).items():
        yield from ((("--optional", extra), Requirement(text)) for text in texts)


def bounds_of(version: Version) -> str:
    """Return the versions that work together: before 1.0, those of one minor version; then, of one major version."""
    above = f"0.{version.minor + 1}" if version.major == 0 else f"{version.major + 1}"
    return f">={version},<{above}"


def build(source: Path, dist: Path) -> None:
    """Build wheel and sdist of every distribution, each with the licence of the repository."""
    for folder in members(source).values():
        shutil.copy(source / "LICENSE", folder)
    _run(UV, "build", "--quiet", "--all-packages", "--out-dir", dist, cwd=source)
    for folder in members(source).values():
        (folder / "LICENSE").unlink()
    (dist / ".gitignore").unlink(missing_ok=True)


def check(source: Path, dist: Path, version: Version) -> None:
    """Check that there is a wheel and an sdist of each distribution, with the version and the licence.

    Raises:
        ReleaseError: Something is missing.
    """
    expected = {name.replace("-", "_") for name in members(source)}
    for suffix in (".whl", ".tar.gz"):
        built = {path.name.partition(f"-{version}")[0] for path in dist.glob(f"*-{version}*{suffix}")}
        if odd := built ^ expected:
            raise ReleaseError(f"the files {suffix} are not those of the workspace: {', '.join(sorted(odd))}")
    for wheel in dist.glob("*.whl"):
        if not any(name.endswith("/LICENSE") for name in zipfile.ZipFile(wheel).namelist()):
            raise ReleaseError(f"{wheel.name} has no licence; add LICENSE to its `license-files`")


def run_from(dist: Path, source: Path, environment: Path) -> dict[str, object]:
    """Install the wheels alone into a fresh environment, run the README's file there, and return the summary.

    Other packages have the versions of the environment of this script, which the tests ran with.

    Raises:
        ReleaseError: A plugin is not usable.
    """
    empty = environment.with_name("empty")
    empty.mkdir()
    (empty / "constraints.txt").write_text(
        _output(UV, "pip", "freeze", "-q", "--exclude-editable", "--python", sys.executable, cwd=empty)
    )
    _run(UV, "venv", "--quiet", "--python", sys.executable, environment, cwd=empty)
    install = [UV, "pip", "install", "--quiet", "--python", environment, "--constraints", "constraints.txt"]
    _run(*install, "--find-links", dist, *sorted(dist.glob("*.whl")), cwd=empty)
    pippin = environment / "bin" / "pippin"
    rows = json.loads(_output(pippin, "plugins", "--json", cwd=empty))
    if broken := [row["name"] for row in rows if row["state"] != "ok"]:
        raise ReleaseError(f"plugins of the wheels are not usable: {', '.join(broken)}; see `pippin plugins --doctor`")
    (empty / "scene.toml").write_text(example(source))
    return json.loads(_output(pippin, "run", "scene.toml", "--steps", str(STEPS), "--json", "--out", "run", cwd=empty))


def example(source: Path) -> str:
    """Return the configuration in the README; its robot is in the wheel of Newton."""
    blocks = re.findall(r"^```toml\n(.*?)^```$", (source / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if "[simulation]" in block)


def _tell(version: Version, out: Path, *, is_rehearsal: bool) -> None:
    names = sorted(path.name for path in out.iterdir())
    print(f"{out}: {len(names)} files")
    for line in names:
        print(f"  {line}")
    if is_rehearsal:
        print("a rehearsal: the tree is as it was")
        return
    print("next, after a look at `git diff --cached`:")
    for line in (f"git commit -m 'Release {version}'", f"git tag v{version}", "git push --follow-tags"):
        print(f"  {line}")
    print(f"  uv publish {out}/*")


def _project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a version, such as 0.2.0") from error


def _run(*words: object, cwd: Path) -> None:
    _output(*words, cwd=cwd)


def _output(*words: object, cwd: Path) -> str:
    return subprocess.run([*map(str, words)], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
