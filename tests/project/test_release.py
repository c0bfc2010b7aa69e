"""The release in one command, in a clone: versions, bounds and changelog always, wheels and the run only if asked."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RELEASE = runpy.run_path(str(ROOT / ".ci" / "release.py"))
MESSAGE = re.compile(r"[a-z][a-z0-9, _-]*: \S.*")

OTHERS = {"all", "docs", "solvers", "actuators", "sensors"}
"""What a message may be about besides a package."""


@pytest.fixture
def clone(tmp_path) -> Path:
    """The last commit, in a folder that a release may change."""
    subprocess.run(["git", "clone", "-q", ROOT, tmp_path / "clone"], check=True)
    return tmp_path / "clone"


def messages(folder: Path) -> list[str]:
    """Return the lines of all fragments of the changelog."""
    return [line for path in sorted(folder.glob("changelog.d/*.*.md")) for line in path.read_text().splitlines()]


def release(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, clone / ".ci" / "release.py", *words]
    return subprocess.run(command, cwd=clone, capture_output=True, text=True)


def test_every_line_of_a_fragment_is_a_message_about_a_package_and_stands_once():
    told = messages(ROOT)

    packages = {path.parent.name for path in ROOT.glob("core/*/pyproject.toml")}
    packages |= {name.removeprefix("pippin-") for name in RELEASE["members"](ROOT)}
    assert not [line for line in told if not MESSAGE.fullmatch(line)]
    assert {name for line in told for name in line.partition(": ")[0].split(", ")} <= packages | OTHERS
    assert not {line for line in told if told.count(line) > 1}


@pytest.mark.slow
def test_a_release_sets_versions_and_bounds_and_writes_the_changelog(clone):
    told = messages(clone)

    RELEASE["prepare"](clone, Version("0.7.1"))

    folders = RELEASE["members"](clone)
    assert len(folders) == len(RELEASE["members"](ROOT)) > 20
    for name, folder in folders.items():
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        assert project["version"] == "0.7.1", name
        extras = project.get("optional-dependencies", {}).values()
        needed = [*map(Requirement, chain(project["dependencies"], *extras))]
        bounds = {str(each.specifier) for each in needed if each.name in folders}
        assert bounds == {"<0.8,>=0.7.1"}, name
        assert name == "pippin" or "pippin" in {each.name for each in needed}, name
    changelog = (clone / "CHANGELOG.md").read_text()
    assert "\n## 0.7.1 (" in changelog
    assert sorted(re.findall(r"^- (.*)$", changelog, re.MULTILINE)) == sorted(map(str.strip, told))
    for package in (folder.name for folder in folders.values() if folder.parent.name == "core"):
        own = [text for names, _, text in (line.partition(": ") for line in told) if package in names.split(", ")]
        written = (clone / "core" / package / "CHANGELOG.md").read_text()
        assert own, package
        assert re.search(r"<!-- releases -->\n\n## 0\.7\.1 \(.*\)\n\n### Added\n\n- ", written), package
        assert sorted(re.findall(r"^- (.*)$", written, re.MULTILINE)) == sorted(map(str.strip, own)), package
    assert [path.name for path in (clone / "changelog.d").iterdir()] == ["README.md"]
    assert '"pippin>=0.7.1,<0.8"' in (clone / "docs" / "how-to" / "publish-a-plugin.md").read_text()


def test_the_changelog_of_a_package_gets_its_own_messages_above_older_versions(tmp_path):
    every, own = tmp_path / "every.md", tmp_path / "own.md"
    start = "# Changelog\n\n<!-- releases -->\n"
    own.write_text(start)
    one = "\n## 0.1 (today)\n\n### Added\n\n- fit, host: Both.\n- task: Not this.\n\n### Fixed\n\n- all: Nor this.\n"
    every.write_text(start + one)
    RELEASE["add_own_changes"](every, own, "fit")
    every.write_text(f"{start}\n## 0.2 (tomorrow)\n\n### Fixed\n\n- task: Other.\n{one}")
    RELEASE["add_own_changes"](every, own, "fit")

    newest = "\n## 0.2 (tomorrow)\n\nNo changes of its own.\n"
    assert own.read_text() == f"{start}{newest}\n## 0.1 (today)\n\n### Added\n\n- Both.\n"


@pytest.mark.parametrize(
    ("version", "bounds"), [("0.2.0", ">=0.2.0,<0.3"), ("1.4.2", ">=1.4.2,<2"), ("0.3.0rc1", ">=0.3.0rc1,<0.4")]
)
def test_versions_of_one_minor_work_together_before_the_first_major(version, bounds):
    assert RELEASE["bounds_of"](Version(version)) == bounds


def test_a_release_is_refused_before_it_changes_anything(clone):
    (clone / "notes.txt").write_text("to do")
    dirty = release(clone, "0.7.1")
    (clone / "notes.txt").unlink()
    (clone / "dist").mkdir()
    (clone / "dist" / "old.whl").write_text("")
    full = release(clone, "0.7.1")
    (clone / "dist" / "old.whl").unlink()
    old, odd = release(clone, "0.1.0"), release(clone, "next")

    assert [done.returncode for done in (dirty, full, old, odd)] == [1, 1, 1, 2]
    assert "release: the tree is not clean; commit these files, or put them away:\n?? notes.txt" in dirty.stderr
    assert "dist is not empty; remove it, or choose another --out" in full.stderr
    assert "has version 0.1.0 already; choose one above it" in old.stderr
    assert "'next' is not a version, such as 0.2.0" in odd.stderr
    status = subprocess.run(["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True)
    assert not status.stdout


@pytest.mark.skipif("PIPPIN_RELEASE" not in os.environ, reason="PIPPIN_RELEASE=1 builds and tries all wheels")
def test_a_release_builds_what_runs_and_leaves_a_commit_to_make(clone):
    done = release(clone, "0.7.1")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "the README's file ran from the wheels: 64 worlds, 20 steps" in done.stdout
    assert len(list((clone / "dist").glob("*.whl"))) == len(list((clone / "dist").glob("*.tar.gz"))) > 20
    assert "  git commit -m 'Release 0.7.1'" in done.stdout.splitlines()
    status = subprocess.run(["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True)
    assert {line[:3] for line in status.stdout.splitlines()} == {"M  ", "D  "}
    assert "M  core/host/pyproject.toml" in status.stdout.splitlines()
