"""The loop that all studies of a file share: load, folder, phases, Ctrl-C, files."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import attrs
from pippin.config import SimulationConfig, dump_toml, load, toml_text
from pippin.config.layers import apply, parse
from pippin.config.tree import Node
from pippin.errors import SimulationError
from pippin.report import Markup, element, folded, page, section

from .folder import RunFolder
from .interrupt import stopped_between_steps
from .progress import RunProgress, current_progress
from .start import import_newton


class StudyResult(Protocol):
    """Result of a study; its numbers are in `summary.json`."""

    @property
    def folder(self) -> Path:
        """The folder of its files."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data, for JSON."""


R = TypeVar("R", bound=StudyResult)


@attrs.frozen(kw_only=True)
class Overlay:
    """A configuration file that extends the user's, and has what a study found."""

    name: str
    """Its name in the folder of the study."""

    tables: Mapping[str, Any]
    """The tables that it sets on top of the file and of the user's overrides."""

    comments: Mapping[tuple[Any, ...], str] = attrs.field(factory=dict)
    """Comments behind values, by the keys that lead to the value."""

    notes: Sequence[str] = ()
    """Comments above the first table."""


class Study(ABC, Generic[R]):
    """A study of a configuration file: what it takes from the file, what it does, and what it found.

    `run_study` calls the methods in the order in which they stand here, `close` at the end in any case.
    """

    kind: str = "study"
    """What it is, behind the name of the file in the title of the page."""

    files: ClassVar[tuple[str, str]] = "summary.json", "report.html"
    """Names of the summary and of the page."""

    needs_newton: ClassVar[bool] = True
    """Whether it simulates in this process; other processes import Newton themselves."""

    has_folder: ClassVar[bool] = True
    """Whether it gets a folder if the caller names none."""

    is_waiting: bool = False
    """Whether Ctrl-C need not wait for a call of `stop_if_asked`, as other processes do the work."""

    def base(self, folder: Path | None) -> Mapping[str, Any] | None:
        """Return tables that stand for a file that is not a configuration, such as a robot; None for a configuration.

        Args:
            folder: The folder of a file with these tables; None if they are in no file.
        """
        return None

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return the configuration that is studied; by default without viewers and recorders.

        Args:
            config: The configuration of the file.
            file: The file, for errors.
        """
        return config.unobserved()

    def build(self, config: SimulationConfig, folder: RunFolder) -> None:
        """Build what is studied, when Newton is imported.

        Args:
            config: What `prepare` returned.
            folder: The folder of the study.
        """

    @abstractmethod
    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Do the work.

        Args:
            progress: Shows phases and a live line.
            stop_if_asked: To be called where the work may end: it raises KeyboardInterrupt after Ctrl-C.
        """

    @abstractmethod
    def result(self, folder: Path) -> R | None:
        """Return what was found, also when it was stopped; None if that is nothing yet.

        Args:
            folder: The folder of the study.
        """

    def write(self, result: R, folder: RunFolder) -> None:
        """Write files beside configuration, summary, overlay and page.

        Args:
            result: What was found.
            folder: The folder of the study.
        """

    def overlay(self, result: R) -> Overlay | None:
        """Return a file that extends the user's; by default there is none.

        Args:
            result: What was found.
        """
        return None

    def page(self, result: R, file: Path) -> Iterable[Markup]:
        """Return the parts of the page, of `pippin.report`; without any, there is no page.

        Args:
            result: What was found.
            file: The user's file.
        """
        return ()

    def close(self) -> None:
        """Release what was built; also called if that failed."""


def run_study(
    study: Study[R],
    file: str | os.PathLike[str] | None,
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    out: str | os.PathLike[str] | RunFolder | None = None,
) -> R:
    """Study a file, and write what was found into a folder; also if Ctrl-C ends it, or the simulation fails.

    Args:
        study: The study.
        file: The configuration file; None for a study without one, which is not built and named after its kind.
        overrides: Values on top of the file, as for `pippin.load`.
        out: The folder, new or empty, or a `RunFolder` in which the study continues; by default `runs/NAME-DATE-TIME`,
            and nothing is written for a study without a folder.

    Raises:
        ConfigError: The file or an argument is wrong, or the folder is taken.
        PluginError: A plugin cannot be loaded, or breaks its contract.
        SimulationError: The simulation failed; what was found until then is in the folder.
        KeyboardInterrupt: Ctrl-C ended it; `args[0]` is the result so far, if there is one.
    """
    source, changes, progress = Path(file or study.kind), kept_overrides(overrides), current_progress()
    config = None if file is None else study.prepare(load(study.base(None) or source, changes), source)
    is_written = study.has_folder or out is not None
    if isinstance(out, RunFolder):
        folder = out
    else:
        folder = RunFolder.chosen(out, source) if is_written else RunFolder.named_after(source, is_written=False)
    if config is not None and study.needs_newton:
        import_newton(config, progress)
    with closing(study), stopped_between_steps(study) as stop_if_asked:
        if config is not None:
            with config.tree.placing(), progress.phase("build") if study.needs_newton else nullcontext():
                study.build(config, folder)
        stop_if_asked()
        try:
            study.run(progress, stop_if_asked)
            stop_if_asked()
        except (KeyboardInterrupt, SimulationError) as error:
            found = study.result(folder.path)
            if found is None:
                raise
            where = f"what was found until then is in {folder.path}"
            if is_written:
                _write(study, found, folder, source, changes, config)
            if isinstance(error, KeyboardInterrupt):
                if is_written:
                    progress.note(where)
                raise KeyboardInterrupt(found) from error
            raise SimulationError(*(f"{each}; {where}" if is_written else each for each in error.faults)) from error
        found = study.result(folder.path)
        assert found is not None, "it came to its end"
        if is_written:
            _write(study, found, folder, source, changes, config)
    return found


def kept_overrides(overrides: Mapping[str, Any] | Iterable[str] | None) -> Mapping[str, Any] | tuple[str, ...]:
    """Return overrides, as for `pippin.load`, that can be read several times.

    Args:
        overrides: A mapping, or texts `key=value`, which may come from a generator.
    """
    return overrides if isinstance(overrides, Mapping) else tuple(overrides or ())


def _write(
    study: Study[R], found: R, folder: RunFolder, file: Path, overrides: Any, config: SimulationConfig | None
) -> None:
    summary, report = study.files
    if config is not None:
        folder.write_config(config)
    study.write(found, folder)
    folder.write_json(summary, found.summary())
    if (overlay := study.overlay(found)) is not None:
        base = study.base(folder.path) or {"extends": [Path(os.path.relpath(file, folder.path)).as_posix()]}
        lower = apply(Node.build(base), parse(overrides)).plain()
        text = toml_text(_merged(lower, overlay.tables), lambda path: overlay.comments.get(path, ""))
        folder.write_text(overlay.name, "".join(f"# {note}\n" for note in overlay.notes) + text)
    if body := [part for part in study.page(found, file) if part]:
        if config is not None:
            body.append(
                section("Settings", folded("config.toml, with every default", element("pre", dump_toml(config))))
            )
        folder.write_text(report, page(study.kind if config is None else f"{file.stem}: {study.kind}", body))


def _merged(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain table merged over another one; `extends = false` stays, for the file below both."""
    found = dict(lower)
    for key, value in upper.items():
        below = found.get(key)
        deeper = isinstance(value, Mapping) and isinstance(below, Mapping) and "extends" not in value
        found[key] = _merged(below, value) if deeper else value
    return found
