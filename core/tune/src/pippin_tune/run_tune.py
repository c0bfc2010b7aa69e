"""The gains of a file, as a study: without a folder of its own, with a configuration in a folder that is named."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from pippin import ConfigError, SimulationConfig
from pippin.labels import name_of
from pippin.report import Markup, heading, noted, section, table
from pippin.studies import Overlay, RunFolder, RunProgress, Study, run_study

if TYPE_CHECKING:
    from .tuning import Gain, Proposal

CONFIGURATIONS = (".toml", ".yaml", ".yml", ".json")

GAIN_COLUMNS = ("joint", "inertia", "holds", "limit", "frequency", "damping", "kp", "kd", "sag")
"""Columns of a table of gains."""


@attrs.frozen(kw_only=True)
class ProposedGains:
    """Gains that are proposed for the groups of a file."""

    folder: Path
    proposals: Sequence[Proposal]

    notes: Sequence[str]
    """Axes that the step limits, efforts that are too small, and joints that start outside their limits."""

    @property
    def tables(self) -> dict[str, Any]:
        """The gains, as tables of a configuration."""
        from .gain_tables import group_table

        return {"actuators": {each.name: group_table(each) for each in self.proposals}}

    def groups(self) -> list[dict[str, Any]]:
        """Return the axes of each group as plain data."""
        return [_fields(each) for each in self.proposals]

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {"groups": self.groups(), "notes": list(self.notes)}


def propose_gains(
    file: str,
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    frequency: float = 5.0,
    sag: float = 0.05,
    is_implicit: bool = False,
    out: str | os.PathLike[str] | None = None,
) -> ProposedGains:
    """Return gains for the joints of a configuration, or of a robot file, as `tune` does.

    Args:
        file: The configuration, or a robot in MJCF, URDF or USD.
        overrides: Values on top of the file, as for `pippin.load`.
        frequency: Natural frequency of each axis [Hz].
        sag: Largest distance from the target at which a drive carries its load [m or rad].
        is_implicit: Whether a new group has implicit efforts.
        out: A folder, new or empty, for a configuration with the gains (`tuned.toml`), a summary and a page; by default
            nothing is written.

    Raises:
        ConfigError: The file is wrong, no group has gains, an axis has no inertia, or gains are tables that a
            configuration in `out` cannot replace.
    """
    return run_study(TuneStudy(file, frequency, sag, is_implicit, out is not None), file, overrides, out=out)


class TuneStudy(Study[ProposedGains]):
    """Gains of a file; the arguments are those of `propose_gains`."""

    kind = "gains"
    has_folder = False

    def __init__(self, file: str, frequency: float, sag: float, is_implicit: bool, is_written: bool) -> None:
        self._file, self._is_written = file, is_written
        self._wanted: dict[str, Any] = {"frequency": frequency, "sag": sag, "is_implicit": is_implicit}
        self._config: SimulationConfig
        self._model: Any = None
        self._found: list[Proposal] = []

    def base(self, folder: Path | None) -> Mapping[str, Any] | None:
        """Return a scene with the robot; None for a configuration."""
        if Path(self._file).suffix.lower() in CONFIGURATIONS:
            return None
        path = self._file  # without such a file, it begins in a package or in the cache of Newton
        if Path(path).exists():
            path = str(Path(path).absolute()) if folder is None else Path(os.path.relpath(path, folder)).as_posix()
        return {"simulation": {"dt": 0.002}, "scene": {"assets": [{"path": path}]}, "solver": {"type": "mujoco"}}

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return the configuration, if one that extends the file can have other gains."""
        for name, group in config.actuators.items():
            for key in ("kp", "kd"):
                if self._is_written and isinstance(getattr(group.config, key, None), Mapping):
                    raise ConfigError(
                        f"--out: actuators.{name}.{key} of '{file}' is a table, and a file that extends it cannot"
                        " replace tables; leave --out out, and put the printed tables into the file"
                    )
        return config

    def build(self, config: SimulationConfig, folder: RunFolder) -> None:
        """Build the model of the first world."""
        from pippin.assembly import first_world

        self._config, self._model = config, first_world(config)

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Propose the gains."""
        from .tuning import tune

        with progress.phase("tune"):
            self._found = tune(self._config, model=self._model, **self._wanted)

    def result(self, folder: Path) -> ProposedGains | None:
        """Return the gains; None before they are proposed."""
        from pippin.assembly import limit_notes

        from .gain_tables import gain_notes

        dt = self._config.simulation.dt
        notes = [note for each in self._found for note in gain_notes(each, dt)] + limit_notes(self._model)
        return ProposedGains(folder=folder, proposals=self._found, notes=notes) if self._found else None

    def overlay(self, result: ProposedGains) -> Overlay:
        """Return a configuration with the gains, which runs."""
        return Overlay(name="tuned.toml", tables=result.tables, notes=result.notes)

    def page(self, result: ProposedGains, file: Path) -> Iterator[Markup]:
        """Yield the axes of each group with their gains, then the notes."""
        run = shlex.join(["pippin", "run", str(result.folder / "tuned.toml")])
        yield heading(f"Gains of {file.name}", run, {"axes": str(sum(len(each.gains) for each in result.proposals))})
        for each in result.proposals:
            efforts = "implicit" if each.is_implicit else "explicit"
            rows = [gain_row(gain) for gain in each.gains]
            yield section(f"Group {each.name}, {efforts} efforts", table(GAIN_COLUMNS, rows, numeric=1))
        yield section("Notes", noted({"gains": result.notes}))


def gain_row(gain: Gain) -> tuple[str, ...]:
    """Return the texts of an axis in a table of gains."""
    load = gain.load
    limit = "" if math.isinf(load.effort_limit) else f"{load.effort_limit:.3g}"
    numbers = (gain.damping, gain.kp, gain.kd, gain.sag)
    loads = (f"{load.inertia:.3g}", f"{load.gravity:.3g}", limit, f"{gain.frequency:.3g} Hz")
    return (name_of(load.label), *loads, *(f"{number:.3g}" for number in numbers))


def _fields(proposal: Proposal) -> dict[str, Any]:
    gains = []
    for gain in proposal.gains:
        fields = attrs.asdict(gain.load)
        fields["effort_limit"] = None if math.isinf(gain.load.effort_limit) else gain.load.effort_limit
        own = {"frequency": gain.frequency, "damping": gain.damping, "kp": gain.kp, "kd": gain.kd, "sag": gain.sag}
        gains.append({**fields, **own, "is_limited": gain.is_limited, "is_too_weak": gain.is_too_weak})
    return {"group": proposal.name, "is_implicit": proposal.is_implicit, "gains": gains}
