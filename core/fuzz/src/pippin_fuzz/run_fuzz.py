"""Random files on a solver: drawn, judged, and each finding shrunk and written."""

from __future__ import annotations

import collections
import functools
import importlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import mujoco
from pippin import ConfigError, did_you_mean
from pippin.config import overridden, toml_text
from pippin.studies import RunProgress
from pippin.workers import WorkerPool, usable_cores

from .files import RandomFile
from .motions import tables
from .shrinking import shrink
from .statements import WORDS, unclaimed, words_in
from .tapes import Tape, shrink_drawn
from .verdicts import FuzzVerdict, Subject, judge

FORMS = ("mechanisms", "mjcf", "urdf", "usd")

FINDINGS = ("SILENT", "burst")
"""Verdicts that are findings."""

_STATE = "verdicts.jsonl"

_PEELS = 12
"""Largest number of draws of a seed, each without what the last one is told or refused for."""


@attrs.frozen(kw_only=True)
class Plan:
    """Draws for a solver."""

    solver: str
    overrides: tuple[str, ...] = ()
    form: str = "mechanisms"
    """What is drawn: one of `FORMS`."""

    without: tuple[str, ...] = ()
    """Words of statements that are left out."""

    is_peeled: bool = True
    """Whether a seed is drawn again without the statements that a note or a refusal names."""

    tolerance: float = 1e-3
    seconds: float = 0.1


@attrs.frozen(kw_only=True)
class Outcome:
    """Verdicts on the draws of a seed."""

    seed: int
    form: str
    words: tuple[str, ...]
    """The verdicts of its draws, the last one last; `none` if MuJoCo refuses the file, or nothing in it moves."""

    error: float = 0.0
    allowed: float = 0.0
    said: tuple[str, ...] = ()
    """Notes or faults of the last draw."""

    without: tuple[str, ...] = ()
    """Words that the last draw leaves out."""

    finding: str = ""
    """Name of the files of the finding; empty if it is none."""

    @property
    def word(self) -> str:
        """The first verdict; a finding if it hides behind it."""
        return self.words[-1] if self.words[-1] in FINDINGS else self.words[0]


@contextmanager
def quiet() -> Iterator[None]:
    """Let MuJoCo say nothing of divergences in the block; the process has one handler of its warnings."""
    theirs = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(theirs)


class Fuzzer:
    """Draws files of seeds, and judges them; it may be the object of a worker.

    Args:
        plan: What is drawn.
        out: Folder of the findings.
    """

    def __init__(self, plan: Plan, out: Path) -> None:
        self._plan, self._out = plan, out
        self._subject = Subject.of(plan.solver, plan.overrides, tolerance=plan.tolerance, seconds=plan.seconds)
        self._draw = importlib.import_module(f"pippin_fuzz.{plan.form}").draw
        claimed = unclaimed(self._subject.features) if plan.form == "mechanisms" else frozenset()
        self._without = claimed | set(plan.without)

    @quiet()
    def outcome(self, seed: int) -> Outcome:
        """Return what a seed shows; a finding is shrunk and written."""
        without, words, last = self._without, list[str](), None
        with TemporaryDirectory() as folder:
            for _ in range(_PEELS):
                file = self._draw(seed, without)
                found = judge(file, self._subject, Path(folder))
                words.append("none" if found is None else found.word)
                last = last if found is None else (file, found, without)
                said = () if found is None or not self._plan.is_peeled else found.words
                named = frozenset[str]().union(*(words_in(each, without) for each in said))
                if words[-1] == "refused" and self._plan.is_peeled:
                    named |= unclaimed(self._subject.features) - without
                if words[-1] not in ("told", "refused") or not named:
                    break
                without |= named
            if last is None:
                return Outcome(seed=seed, form=self._plan.form, words=tuple(words))
            file, found, without = last
            is_finding = words[-1] in FINDINGS
            name = f"{self._plan.form}-{seed}" if is_finding else ""
            if is_finding:
                self._write(name, file, found, functools.partial(self._draw, seed, without), Path(folder))
        return Outcome(
            seed=seed,
            form=self._plan.form,
            words=tuple(words),
            error=found.error,
            allowed=found.allowed,
            said=found.words,
            without=tuple(sorted(without - self._without)),
            finding=name,
        )

    def _write(
        self, name: str, file: RandomFile, found: FuzzVerdict, draw: Callable[[Tape], RandomFile], folder: Path
    ) -> None:
        """Shrink a finding, and write its configuration, its robot file, and the text of an issue."""

        def is_same(smaller: RandomFile) -> bool:
            verdict = judge(smaller, self._subject, folder)
            return verdict is not None and verdict.word == found.word

        seed = int(name.rpartition("-")[2])
        small = shrink(file, is_same) if file.suffix == ".xml" else shrink_drawn(draw, seed, is_same)
        verdict = judge(small, self._subject, folder) or found
        place = self._out / name
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}{file.suffix}").write_text(small.text, encoding="utf-8")
        if file.suffix != ".xml":
            (place / f"{name}-reference.xml").write_text(small.reference, encoding="utf-8")
        (place / f"{name}-drawn{file.suffix}").write_text(file.text, encoding="utf-8")
        model = mujoco.MjModel.from_xml_string(small.reference)
        config = overridden(tables(f"{name}{file.suffix}", model, self._plan.solver), self._plan.overrides)
        (place / f"{name}.toml").write_text(toml_text(config), encoding="utf-8")
        (place / "issue.md").write_text(self._issue(name, small, verdict), encoding="utf-8")

    def _issue(self, name: str, file: RandomFile, verdict: FuzzVerdict) -> str:
        """Return the text of an issue: the robot, the errors by step, and how to see it again."""
        solver, seconds = self._plan.solver, self._plan.seconds
        rows = "".join(f"| {1e3 * dt:g} | {error:.3g} |\n" for dt, error in verdict.errors.items())
        said = "The run has no note, and the solver claims all that the file has.\n" * (verdict.word == "SILENT")
        said += f"The run ends with an error: {'; '.join(verdict.words)}\n" * (verdict.word == "burst")
        kind = {".xml": "xml", ".urdf": "xml"}.get(file.suffix, "text")
        start = f" Joints start at the velocities of the keyframe in `{name}-reference.xml`, whose motors pull."
        return (
            f"# {solver}: a mechanism moves otherwise than in MuJoCo\n\n"
            f"```{kind}\n{file.text.strip()}\n```\n\n"
            f"After {seconds:g} s, the largest distance to MuJoCo's motion of the same file, with its engine in double"
            f" precision, is that of body `{verdict.body}`. {said}\n"
            f"| step [ms] | error [m, rad] |\n| --- | --- |\n{rows}\n"
            f"Allowed: {verdict.allowed:.3g}. To see it: `pippin run {name}.toml --duration {seconds:g}`."
            f"{start if file.suffix == '.urdf' else ''}\n"
        )


def fuzz(
    plan: Plan, seeds: Iterable[int], out: Path, *, processes: int = 1, progress: RunProgress | None = None
) -> list[Outcome]:
    """Return what seeds show on a solver. Seeds that the folder has already are not run again.

    Args:
        plan: What is drawn.
        seeds: The seeds.
        out: Folder of verdicts and findings; one of the same plan continues.
        processes: Number of processes.
        progress: Shows a live line.

    Raises:
        ConfigError: The folder has another plan, or an argument is wrong.
        PluginError: The solver is not installed, or broken.
    """
    if plan.form not in FORMS or importlib.util.find_spec(f"pippin_fuzz.{plan.form}") is None:
        raise ConfigError(f"--files: {plan.form!r} is not drawn; there are {', '.join(FORMS[1:])}")
    _refuse_unknown(plan)
    done = _resumed(plan, out)
    left = [seed for seed in seeds if seed not in done]
    wanted = [*dict.fromkeys([*done, *left])]
    for found in _outcomes(plan, left, out, min(processes, usable_cores(), max(len(left), 1))):
        done[found.seed] = found
        with (out / _STATE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(attrs.asdict(found)) + "\n")
        if progress is not None:
            counts = collections.Counter(each.word for each in done.values())
            progress.update(f"seed {found.seed}: {', '.join(f'{count} {word}' for word, count in counts.items())}")
    return [done[seed] for seed in wanted if seed in done]


def _refuse_unknown(plan: Plan) -> None:
    """Refuse a word that leaves nothing out of a hundred files."""
    form = importlib.import_module(f"pippin_fuzz.{plan.form}")
    known = {*getattr(form, "RARE", itertools.chain(*WORDS.values())), *getattr(form, "LATER", ()), "contact"}
    for word in plan.without:
        if all(form.draw(seed, frozenset({word})).text == form.draw(seed).text for seed in range(100)):
            raise ConfigError(
                f"--without: {word!r} leaves nothing out of {plan.form}; name elements, attributes, or one of"
                f" {', '.join(sorted(known))}{did_you_mean(word, known)}"
            )


def _outcomes(plan: Plan, seeds: Sequence[int], out: Path, processes: int) -> Iterable[Outcome]:
    if processes == 1:
        fuzzer = Fuzzer(plan, out)
        yield from map(fuzzer.outcome, seeds)
        return
    cure = "run the seed again with --processes 1"
    names = [f"process {index}" for index in range(processes)]
    with closing(WorkerPool(names, Fuzzer, [(plan, out)] * processes, cure=cure, threads=1)) as pool:
        for first in range(0, len(seeds), processes):
            chosen = seeds[first : first + processes]
            chosen = [*chosen, *[chosen[0]] * (processes - len(chosen))]
            yield from {found.seed: found for found in pool.call("outcome", each=[(seed,) for seed in chosen])}.values()


def _resumed(plan: Plan, out: Path) -> dict[int, Outcome]:
    """Return what a folder has, by seed, after its plan."""
    wanted: Mapping[str, Any] = json.loads(json.dumps(attrs.asdict(plan)))
    file = out / _STATE
    if not file.exists():
        out.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(wanted) + "\n", encoding="utf-8")
        return {}
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if lines[0] != wanted:
        differ = ", ".join(f"{key} {lines[0].get(key)!r}" for key in wanted if lines[0].get(key) != wanted[key])
        raise ConfigError(f"--out: '{out}' has seeds of another plan ({differ}); name a new folder")
    return {each.seed: each for each in map(_outcome, lines[1:])}


def _outcome(line: Mapping[str, Any]) -> Outcome:
    values: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in line.items()}
    return Outcome(**values)
