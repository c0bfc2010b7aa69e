"""The course of a fit: the logs, the simulation of all candidates, the search, and the verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np
from pippin.closing import Closing
from pippin.config import SimulationConfig
from pippin.config.fit import FitConfig
from pippin.errors import ConfigError, SimulationError
from pippin.simulation import Simulation
from pippin.studies.progress import RunProgress

from .blocks import blocks_of
from .body_parameters import BodyNumbers
from .candidates import Candidates
from .checks import refuse_faults, say_faults
from .estimated_starts import EstimatedStarts, unseen_starts
from .evidence import Evidence
from .journal import FitState, Journal, Unheld, key_of
from .known_numbers import refuse_unclear
from .least_squares import DAMPING, DAMPINGS, STEP, LeastSquares, Point, Residuals, cost_of
from .log import log_paths, read_logs
from .log_playback import FitMaterial
from .motion_checks import align
from .parameter_kinds import find_parameters
from .parameters import FitParameter
from .replay_checks import SaturationWatch, contact_faults, gain_faults
from .result import FitResult, LogAlignment, Trace
from .robot_joints import robot_joints
from .rollouts import JUDGED
from .search import Evolution, SeveralStarts, latin_hypercube, population_of
from .verdicts import CONTRADICTED, IDENTIFIED, LOST, TIED, FitVerdict, is_refuted, is_worse, judge
from .windows import divide

_DIVERGES = "fit: the simulation diverges with the values of the file; shorten simulation.dt, or start from others"

_STOPPED = "it was stopped"

_FLOOR = 0.03
"""Residual in units of the noise that the logs show from which on a search would follow the rounding of numbers."""

_TOLD = 3.841
"""The 95 % quantile of χ² with one degree of freedom: a whole number is told if its neighbours cost more."""

_DEPENDS = 0.2
"""Change of a value per change of one that is held from which on it depends on that one."""


class FitCourse(Closing):
    """One fit: it reads the logs, builds the simulation, and lowers the cost."""

    def __init__(
        self,
        config: SimulationConfig,
        table: FitConfig,
        files: Sequence[str],
        journal: Path | None,
        processes: int | Literal["auto"] = 1,
    ) -> None:
        if not files:
            raise ConfigError("fit.logs: there is no log; name files there, or by --log")
        #: None if the course only looks.
        read = log_paths([*files, *table.validation_logs])
        self._journal = None if journal is None else Journal(journal, key_of(config, read))
        if not config.scene.has_equal_worlds:
            raise ConfigError(
                "fit: the worlds of the file differ, and a robot has one log; leave 'worlds' of assets out"
            )
        # An episode that ends would start a world anew in the middle of its window.
        config = attrs.evolve(config, task=None, policy=None)
        one = attrs.evolve(config.scene, worlds=1, first_world=0, total_worlds=None, settable_joints=True)
        with Simulation(attrs.evolve(config, scene=one)) as first:
            joints = robot_joints(first.model)
            logs = read_logs(files, table, joints)
            refuse_unclear(table, [log.name for log in logs])
            refuse_faults(logs, table, joints)
            say_faults(list(contact_faults(first.model, logs, joints, table)), table)
            if any(log.joints != logs[0].joints for log in logs):
                raise ConfigError("fit.logs: the logs have different joints, or in another order; give all the same")
            for log in logs:
                if missing := sorted((table.signals or logs[0].signals).keys() - log.signals.keys()):
                    raise ConfigError(f"fit.signals: {log.name} has no {missing[0]}; name signals that all logs have")
            windows, steps = divide(logs, table, first.control_dt)
            count = sum(each.count for each in find_parameters(table, first, logs[0].joints, BodyNumbers(first)))
        self._material = FitMaterial(
            config=attrs.evolve(config, scene=one), table=table, logs=logs, windows=windows, steps=steps
        )
        self._slot = count + len(DAMPINGS)  # a proposal, its neighbours, and the other dampings
        states = 2 * len(logs[0].joints) if table.start == "estimated" else 0
        #: The worlds of the least squares.
        self._processes: int | Literal["auto"] = processes
        self.candidates: Candidates = Candidates(self._material, self._slot + states, processes)
        self._starts: EstimatedStarts | None = None
        #: The simulation of the least squares.
        self.simulation: Simulation = self.candidates.simulation
        self._table, self._logs = table, logs
        self._parameters, self._rollouts = self.candidates.parameters, self.candidates.rollouts
        self._stated = [each.stated() for each in self._parameters]
        self._ends: tuple[float, ...] = ()
        firsts = [each.unknowns(values) for each, values in zip(self._parameters, self._stated, strict=True)]
        self._first_unknowns = np.concatenate(firsts)
        starts = [each.moved_inwards(first) for each, first in zip(self._parameters, firsts, strict=True)]
        self._unknowns = np.concatenate(starts)
        self._is_whole = self._spread([float(each.is_whole) for each in self._parameters]) > 0.0
        if self._is_whole.any() and table.method == "least-squares" and journal is not None:
            key = next(each.key for each in self._parameters if each.is_whole)
            raise ConfigError(
                f'fit.parameters.{key!r}: whole numbers have no derivative; set fit.method = "cmaes", or leave it out'
            )
        self._is_free = ~self._is_whole
        self._verdicts: dict[int, FitVerdict] = {}
        self._better: dict[int, float] = {}
        self._before: Unheld | None = None
        self._least, self._ended = np.inf, _STOPPED
        self._begun = time.perf_counter()
        self._state = None if self._journal is None else self._journal.last()
        #: Root mean square of the residuals so far.
        self.costs: list[float] = []
        if self._state is not None:
            self._unknowns, self._is_free = self._state.unknowns, self._state.is_free
            self._verdicts, self.costs = dict(self._state.verdicts), list(self._state.costs)
            self._ends, self._least, self._before = self._state.ends, self._state.least, self._state.before

    def close(self) -> None:
        """Close the simulations."""
        self.candidates.close()

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Lower the cost until the end. Values that the logs do not tell go back to those of the file, unless the logs
        contradict these, but for those that they tell then, and the others are fitted once more. If these cannot make
        up for it, the logs contradict the values of the file.
        """
        self._begun = time.perf_counter()
        watch = SaturationWatch(self.simulation, self._logs[0].joints, len(self._rollouts.parts[0].windows))
        if watch.is_needed:
            self._rollouts.roll_out(np.concatenate(self._stated)[None], watch.look)
            say_faults([("", fault) for fault in watch.faults()], self._table)
        if not self.costs:
            self._explore(progress, stop_if_asked)
        stepped: set[tuple[float, ...]] = set()
        while True:
            if self._is_free.any():
                self._minimise(progress, stop_if_asked)
            if self._is_whole.any():
                self._verdicts |= self._judge_whole(stop_if_asked, is_fitted=True)
                if self._takes_a_step(stepped):
                    continue
            if self._takes_back():
                continue
            is_moved = self._is_whole & (self._unknowns != self._first_unknowns)
            held = [number for number, each in self._verdicts.items() if is_moved[number] and not each.is_determined]
            self._verdicts |= {number: each for number, each in self._judged() if not each.is_determined}
            held += self._held()
            if not held:
                return
            as_found = {number for number, each in self._verdicts.items() if each.is_contradicted}
            back = [number for number in held if number not in as_found]
            self._before = Unheld(
                unknowns=self._unknowns.copy(), is_free=self._is_free.copy(), numbers=np.array(back, int)
            )
            self._unknowns[back] = self._first_unknowns[back]
            self._is_free[held] = False
            if not self._is_free.any():
                return

    def _takes_back(self) -> bool:
        """Let values that went back to those of the file have those that were found, if the others cannot make up for
        the difference, and tell whether. That they can is known of small differences only. Of several values, those of
        which nothing but that was known are taken back first.
        """
        if not self._is_free.any():
            return False
        before, self._before = self._before, None
        cost, rows = self._point.cost, len(self._point.residuals)
        least = self._least = min(self._least, cost)
        if before is None or not is_worse((np.sqrt(least), np.sqrt(cost))):
            return False
        if 2.0 * (cost - least) <= _TOLD * len(before.numbers) * max(2.0 * least / rows, 1.0):
            return False
        own = [number for number in before.numbers.tolist() if not self._is_whole[number]]
        lost = [number for number in own if self._verdicts[number].verdict == LOST]
        if not (wrong := [each for each in lost if not np.isfinite(self._verdicts[each].half_width)] or lost):
            return False
        self._unknowns, self._is_free = before.unknowns.copy(), before.is_free.copy()
        self._is_free[wrong] = False
        self._verdicts |= {each: attrs.evolve(self._verdicts[each], verdict=CONTRADICTED) for each in wrong}
        return True

    def _explore(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Look for a better start all over the ranges, as the table says."""
        if self._table.method == "least-squares" and self._table.starts == 1:
            return
        rows = self._residuals(self.candidates, stop_if_asked)(self._unknowns[None])[0]
        self.costs.append(float(np.sqrt(2.0 * cost_of(rows, is_robust=self._table.is_robust) / len(rows))))
        if self._table.method == "cmaes":
            self._evolve(progress, stop_if_asked)
        else:
            ends = self._start_often(progress, stop_if_asked)
            self._ends = tuple(float(np.sqrt(2.0 * cost / len(rows))) for cost, _ in ends)

    def _start_often(
        self, progress: RunProgress, stop_if_asked: Callable[[], None]
    ) -> Sequence[tuple[float, np.ndarray]]:
        """Search from several starts, and keep the end that is lowest; return cost and place of each end."""
        count, (low, high) = self._table.starts, self._ends_of()
        margin = 0.05 * (high - low)
        others = latin_hypercube(count - 1, low + margin, high - margin, self._table.seed)
        starts = np.concatenate([self._unknowns[None], others])
        earlier = None if self._journal is None else self._journal.starts()

        def make(damping: float, taken: int) -> LeastSquares:
            return self._method(self._residuals(self.candidates, stop_if_asked), damping, taken)

        several = SeveralStarts(make, starts, self._table.iterations, self._slot, earlier)

        def note() -> None:
            if self._journal is not None:
                self._journal.save_starts(several.state())
            progress.update(f"{several.running} of {count} starts, cost {several.cost:.4g}")

        if several.running:
            with Candidates(self._material, count * self._slot, self._processes) as candidates:
                several.run(self._residuals(candidates, stop_if_asked), note)
        if not (ends := several.ends()):
            raise SimulationError(_DIVERGES)
        self._unknowns = ends[0][1]
        return ends

    def _evolve(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Let generations of candidates look for the lowest cost."""
        low, high = self._ends_of()
        steps = self._is_whole / self._spread(
            [each.config.range[1] - each.config.range[0] for each in self._parameters]
        )
        population = population_of(len(low))
        method = Evolution(self._unknowns, low, high, steps, seed=self._table.seed, population=population)
        with Candidates(self._material, population, self._processes) as candidates:
            residuals = self._residuals(candidates, stop_if_asked)

            def costs(points: np.ndarray) -> np.ndarray:
                return np.array([cost_of(rows, is_robust=self._table.is_robust) for rows in residuals(points)])

            def note() -> None:
                if self._journal is not None:
                    self._journal.save_explored(method.history)
                progress.update(f"generation {len(method.history)}, cost {method.cost:.4g}")

            earlier = () if self._journal is None else self._journal.explored()
            method.run(costs, self._table.generations, note, earlier)
        self._unknowns = method.best

    def _judge_whole(self, stop_if_asked: Callable[[], None], *, is_fitted: bool) -> dict[int, FitVerdict]:
        """Return a verdict for each whole number: whether the logs tell it from its neighbours, of which each comes
        with the best other values.

        Args:
            stop_if_asked: Called before each rollout.
            is_fitted: Whether the present residuals are noise; otherwise it is that which the fit assumes.
        """
        residuals, free, found = self._residuals(self.candidates, stop_if_asked), np.flatnonzero(self._is_free), {}
        ahead = np.where(self._unknowns + STEP <= self._ends_of()[1], STEP, -STEP)[free]
        samples, self._better = len(self._rollouts.parts[0].window_of) * self._rollouts.width, {}
        for number in np.flatnonzero(self._is_whole).tolist():
            near = self._near(number)
            points = np.tile(self._unknowns, (1 + len(free) + len(near), 1))
            points[1 + np.arange(len(free)), free] += ahead
            points[1 + len(free) :, number] = near
            rows = residuals(points)
            present = rows[0] if is_fitted else np.zeros_like(rows[0])
            changes = rows[1:] - rows[0]
            changes[~np.isfinite(changes).all(axis=1)] = np.nan
            basis = np.linalg.qr(np.nan_to_num(changes[: len(free)]).T)[0]
            both = np.vstack([present, present + changes[len(free) :]]).T
            squares = ((both - basis @ (basis.T @ both)) ** 2).sum(axis=0)
            variance = squares[0] / max(samples - len(free), 1) if is_fitted else 1.0
            rise = np.nan_to_num(squares[1:] - squares[0], nan=np.inf)  # a neighbour that diverges is told apart
            found[number] = self._verdict_on_whole(number, is_told=bool((rise > _TOLD * variance).all()))
            if rise.min(initial=0.0) < -_TOLD * variance:
                self._better[number] = near[int(rise.argmin())]
        return found

    def _takes_a_step(self, stepped: set[tuple[float, ...]]) -> bool:
        """Let whole numbers have the neighbours that explain the logs better, if these were not tried yet."""
        stepped.add(tuple(self._unknowns[self._is_whole].tolist()))
        moved = self._unknowns.copy()
        for number, unknown in self._better.items():
            moved[number] = unknown
        if not self._better or tuple(moved[self._is_whole].tolist()) in stepped:
            return False
        self._unknowns = moved
        return True

    def _near(self, number: int) -> list[float]:
        """Return the unknowns of the neighbours of a whole number in its range."""
        low, high = self._owners()[number][0].config.range
        value = self._values(self._unknowns)[number]
        near = [each for each in (value - 1.0, value + 1.0) if low <= each <= high]
        return [(each - low) / (high - low) for each in near]

    def _verdict_on_whole(self, number: int, *, is_told: bool) -> FitVerdict:
        parameter, name = self._owners()[number]
        return FitVerdict(
            key=parameter.key,
            name=name,
            start=float(np.concatenate(self._stated)[number]),
            value=float(self._values(self._unknowns)[number]),
            half_width=0.5 if is_told else np.inf,
            verdict=IDENTIFIED if is_told else "not identifiable",
            collinearity=0.0,
        )

    def _owners(self) -> list[tuple[FitParameter, str]]:
        """Return the parameter and the name of each value."""
        return [(each, name) for each in self._parameters for name in each.names]

    def expect(self, *, is_right: bool) -> tuple[FitVerdict, ...]:
        """Return a verdict for each value as the logs determine it at the values of the file, after a few rollouts.

        Args:
            is_right: Whether these values explain the logs, and the residuals are noise. Otherwise the noise is that
                which the fit assumes.
        """
        self._point = self.look()
        self._refine(self._method(self._residuals_of_search(lambda: None, None)))
        if not is_right:
            noise = np.full(len(self._point.residuals), np.sqrt(self._share()))
            self._point = attrs.evolve(self._point, residuals=noise)
        found = dict(self._judged())
        found |= self._judge_whole(lambda: None, is_fitted=is_right)
        return tuple(found[number] for number in sorted(found))

    def alignments(self) -> tuple[LogAlignment, ...]:
        """Return what the logs have, and how their motions follow the commands."""
        found = []
        for log in self._logs:
            aligned = None if self._table.command == "feedforward" else align(log, self._table)
            lag, drift = (None, 0.0) if aligned is None else (aligned.lag, aligned.drift)
            rate = 1.0 / log.period
            alignment = LogAlignment(
                name=log.name, seconds=log.duration, rate=rate, lag=lag, drift=drift, notes=log.notes
            )
            found.append(alignment)
        return tuple(found)

    def look(self) -> Point:
        """Return the residuals of the values of the file and their derivatives, after one rollout.

        Raises:
            SimulationError: The simulation diverges.
        """
        self._unknowns = self._first_unknowns.copy()
        method = self._method(self._residuals_of_search(lambda: None, None))
        return next(_named(method.iterate(self._unknowns[self._is_free], 1)))

    def logs_of_rows(self) -> np.ndarray:
        """Return the index of the log of each residual that is fitted, shape [rows]."""
        part, width = self._rollouts.parts[0], len(self._rollouts.noise) * len(self._logs[0].joints)
        return np.repeat(np.array([window.log for window in part.windows])[part.window_of], width)

    def _minimise(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Lower the cost by the values that are free."""
        (earlier, self._state), self._ended = (self._state, None), _STOPPED
        residuals = self._residuals_of_search(stop_if_asked, earlier)
        method = self._method(residuals)
        if earlier is not None:
            method = self._method(residuals, earlier.damping, earlier.taken)
        is_over = earlier is not None and earlier.is_over(self._table.iterations)
        iterations = 0 if is_over else self._table.iterations
        for point in _named(method.iterate(self._unknowns[self._is_free], iterations)):
            self._point = point
            self._unknowns = self._unknowns.copy()
            self._unknowns[self._is_free] = point.x
            if earlier is None or method.taken > earlier.taken:
                self.costs.append(float(np.sqrt(2.0 * point.cost / len(point.residuals))))
                self._note(method, method.ended)
            progress.update(f"{method.taken} of {self._table.iterations}, residual {self.costs[-1]:.4g} σ")
        self._ended = earlier.ended if earlier is not None and is_over else method.ended
        self._note(method, self._ended)
        self._refine(method)

    def _refine(self, method: LeastSquares) -> None:
        """If values are hardly told apart, find by another rollout whether that is more than errors of derivatives."""
        if self._is_free.any() and self._evidence().is_coupled:
            self._point = method.refine(self._point)

    def _residuals_of_search(self, stop_if_asked: Callable[[], None], earlier: FitState | None) -> Residuals:
        """Return the residuals of unknowns that are free; windows start as the table says."""
        plain = self._residuals(self.candidates, stop_if_asked)
        if self._table.start == "measured":
            return plain
        is_free, before = self._is_free.copy(), None if self._starts is None else self._starts.best

        def whole(points: np.ndarray) -> np.ndarray:
            stop_if_asked()
            unknowns = np.tile(self._unknowns, (len(points), 1))
            unknowns[:, is_free] = points
            return self.candidates.values(unknowns)

        used = earlier.starts if earlier is not None else None if before is None else before.best
        self._starts = EstimatedStarts(
            self.candidates, whole, self._priors(), is_robust=self._table.is_robust, used=used
        )
        return self._starts

    def _residuals(self, candidates: Candidates, stop_if_asked: Callable[[], None]) -> Residuals:
        """Return a function of the residuals of unknowns, of all of them or of those that are free."""
        is_free, (means, weights) = self._is_free.copy(), self._priors()

        def residuals(unknowns: np.ndarray) -> np.ndarray:
            stop_if_asked()
            whole = unknowns
            if unknowns.shape[1] < len(is_free):
                whole = np.tile(self._unknowns, (len(unknowns), 1))
                whole[:, is_free] = unknowns
            return candidates.residuals(candidates.values(whole), means, weights)

        return residuals

    def _method(self, residuals: Residuals, damping: float = DAMPING, taken: int = 0) -> LeastSquares:
        """Return the method over the values that are free, perhaps as an earlier run left it."""
        is_free, (low, high) = self._is_free, self._ends_of()
        is_ratio = self._spread([float(each.is_ratio) for each in self._parameters]) > 0.0
        options: dict[str, Any] = {"is_robust": self._table.is_robust, "tolerance": self._table.tolerance}
        options |= {"is_ratio": is_ratio[is_free], "damping": damping, "taken": taken}
        if not any(signal.std for signal in self._table.signals.values()):
            options["floor"] = _FLOOR
        return LeastSquares(residuals, low[is_free], high[is_free], **options)

    def _note(self, method: LeastSquares, ended: str) -> None:
        """Write the state into the journal."""
        state = FitState(
            unknowns=self._unknowns,
            is_free=self._is_free,
            starts=np.zeros((0, 0)) if self._starts is None or self._starts.best is None else self._starts.best.used,
            damping=method.damping,
            taken=method.taken,
            costs=tuple(self.costs),
            ends=self._ends,
            ended=ended,
            verdicts=self._verdicts,
            least=self._least,
            before=self._before,
        )
        if self._journal is not None:
            self._journal.save(state)

    def _ends_of(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds of the unknowns."""
        ends = [each.unknowns(np.array(each.config.range)) for each in self._parameters]
        return self._spread([end[0] for end in ends]), self._spread([end[1] for end in ends])

    def _priors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of each value that was known before, and the inverse of its variance."""
        tables = [each.config.prior for each in self._parameters]
        means = [
            stated if table is None or table.mean is None else np.full_like(stated, table.mean)
            for table, stated in zip(tables, self._stated, strict=True)
        ]
        return np.concatenate(means), self._spread([0.0 if table is None else table.std**-2 for table in tables])

    def _spread(self, numbers: Sequence[float]) -> np.ndarray:
        """Return a number of each parameter for each of its values."""
        return np.repeat(np.array(numbers, dtype=float), [each.count for each in self._parameters])

    def _values(self, unknowns: np.ndarray) -> np.ndarray:
        return self.candidates.values(unknowns)

    def _held(self) -> list[int]:
        """Return the numbers of free values that have to be held, so that the logs tell all others: of values that are
        coupled, those with the least effect. With all of them at the values of the file, the others would take the
        error of their sum. Note which of the others depend on them.
        """
        if not self._is_free.any():
            return []
        left, evidence, sizes = self._is_free.copy(), self._evidence(), np.zeros(len(self._is_free))
        sizes[left] = np.linalg.norm(evidence.jacobian, axis=0)
        while lost := [number for number, each in self._judged(left) if not each.is_determined]:
            left[min(lost, key=lambda number: sizes[number])] = False
        is_held = ~left[self._is_free]
        shares, names = np.abs(evidence.followed(is_held)), np.array(evidence.names)[is_held]
        verdicts = dict(self._judged())
        for number, own in zip(np.flatnonzero(left).tolist(), shares, strict=True):
            if own.max(initial=0.0) > _DEPENDS:
                coupled = (str(names[own.argmax()]).replace(" ", ": ", 1),)
                self._verdicts[number] = attrs.evolve(verdicts[number], verdict=TIED, coupled=coupled)
        return np.flatnonzero(self._is_free & ~left).tolist()

    def _judged(self, chosen: np.ndarray | None = None) -> Iterator[tuple[int, FitVerdict]]:
        """Yield the number of each value that is free, and its verdict.

        Args:
            chosen: Whether each value is judged, and the others are held, shape [values]; by default all that are free.
        """
        free = np.flatnonzero(self._is_free if chosen is None else chosen)
        if not len(free):
            return
        columns = np.searchsorted(np.flatnonzero(self._is_free), free)
        evidence = self._evidence().of(columns)
        names, ranges = self._owners(), np.array([each.config.range for each, _ in self._owners()])
        values, (low, high) = self._values(self._unknowns), self._ends_of()
        verdicts = judge(
            [(names[number][0].key, names[number][1]) for number in free],
            np.concatenate(self._stated)[free],
            values[free],
            ranges[free],
            ((self._unknowns - low) / (high - low))[free],
            np.sqrt(np.diag(evidence.covariance)) * evidence.slopes,
            evidence.jacobian,
            evidence.priors,
            evidence.errors,
        )
        widths = evidence.block_widths() if chosen is None else [None] * len(free)
        for number, verdict, width in zip(free.tolist(), verdicts, widths, strict=True):
            earlier = self._verdicts.get(number)
            if earlier is not None and verdict.is_determined:  # thanks to one that is held
                verdict = attrs.evolve(verdict, verdict=TIED, coupled=earlier.coupled)
            yield number, attrs.evolve(verdict, block_half_width=width)

    def _evidence(self) -> Evidence:
        """Return what the rows at the present point tell of the values that are free."""
        point, free, part = self._point, np.flatnonzero(self._is_free), self._rollouts.parts[0]
        values = self._values(self._unknowns)
        rows = len(point.residuals) - len(values)
        parts = np.split(values, np.cumsum([each.count for each in self._parameters])[:-1])
        slopes = np.concatenate([each.slope(part) for each, part in zip(self._parameters, parts, strict=True)])[free]
        width, windows = self._rollouts.width, len(part.windows)
        blocks = blocks_of(part.window_of, width)
        states = self._rollouts.channels_of_states()[: (rows - len(blocks)) // max(windows, 1)]  # none if not estimated
        firsts = np.repeat(np.searchsorted(part.window_of, np.arange(windows)) * width, len(states))
        owners = [self._owners()[number] for number in free]
        return Evidence(
            names=tuple(f"{each.key} {name}" for each, name in owners),
            values=values[free],
            is_ratio=np.array([each.is_ratio for each, _ in owners], dtype=bool),
            slopes=slopes,
            priors=self._priors()[1][free] * slopes**2,
            jacobian=point.jacobian[:rows],
            residuals=point.residuals[:rows],
            errors=point.errors,
            blocks=np.concatenate([blocks, blocks[firsts]]),
            channels=np.concatenate([np.tile(np.arange(width), len(part.window_of)), np.tile(states, windows)]),
            share=self._share(),
        )

    def _evidence_of_all(self) -> Evidence | None:
        """Return what the rows tell of all values but whole numbers, also of those that are held; None if there is no
        value.
        """
        if (self._is_free | self._is_whole).all():
            return self._evidence() if self._is_free.any() else None
        free, starts, self._is_free = self._is_free, self._starts, ~self._is_whole
        method = self._method(self._residuals_of_search(lambda: None, None))
        point, self._point = self._point, next(_named(method.iterate(self._unknowns[self._is_free], 1)))
        self._refine(method)
        evidence = self._evidence()
        self._is_free, self._starts, self._point = free, starts, point
        return evidence

    def _share(self) -> float:
        """Return the share of the residuals of samples and starts that the unknowns have not used up."""
        rows = len(self._point.residuals) - len(self._unknowns)
        samples = len(self._rollouts.parts[0].window_of) * self._rollouts.width
        return max(samples - int(self._is_free.sum()), 1) / max(rows, 1)

    def result(self, folder: Path) -> FitResult:
        """Return what was found, after rollouts of the values of the file, and of those that are kept."""
        seconds, shifts = time.perf_counter() - self._begun, self._shifts()
        found, evidence = self._verdicts | dict(self._judged()), self._evidence_of_all()
        verdicts = tuple(found[number] for number in sorted(found))
        kept = np.array([each.value if each.is_kept else each.start for each in verdicts])
        judged = np.stack([np.concatenate(self._stated), kept])
        unseen = None if self._table.start == "measured" else unseen_starts(self._rollouts, judged, shifts)
        self._rollouts.roll_out(judged, shifts=shifts, unseen=unseen)
        validating = self._rollouts.residuals(self._rollouts.parts[1])
        errors = np.sqrt((validating**2).mean(axis=1)).tolist() if validating.shape[1] else None
        say_faults([("", fault) for fault in gain_faults(errors)], self._table)
        validation = None if errors is None else (errors[0], errors[1])
        return FitResult(
            correlated=() if evidence is None else evidence.names,
            correlations=() if evidence is None else evidence.correlations(),
            directions=() if evidence is None else evidence.directions(),
            folder=folder,
            verdicts=tuple(each.concluded(is_refuted=is_refuted(validation)) for each in verdicts),
            costs=tuple(self.costs),
            ends=self._ends,
            validation=validation,
            start=self._table.start,
            rollouts=self._rollouts.count,
            seconds=seconds,
            ended=self._ended,
            noise={kind: tuple(noise.tolist()) for kind, noise in self._rollouts.noise.items()},
            traces=tuple(self._traces()),
        )

    def _shifts(self) -> np.ndarray | None:
        """Return the shifts of the starts, of the values of the file and of those that were found."""
        if self._starts is None or self._starts.best is None:
            return None
        found = self._starts.best.best * self._rollouts.state_scales()[0]
        return np.stack([np.zeros_like(found), found])

    def _traces(self) -> Iterator[Trace]:
        """Yield the signals of the last rollout, of the values of the file and of those that were found."""
        for part in self._rollouts.parts:
            for kind, values in self._rollouts.signals(part).items():
                for window, samples in part.slices:
                    log = self._logs[window.log]
                    for column, joint in enumerate(log.joints):
                        both = values[:JUDGED, samples, column]
                        yield Trace(
                            log=log.name,
                            joint=joint,
                            signal=kind,
                            is_validation=window.is_validation,
                            times=log.times[window.samples],
                            values=np.stack([part.measured[kind][samples, column], *both], axis=1),
                        )

    def tables(self, result: FitResult) -> tuple[dict[str, Any], dict[tuple[Any, ...], str]]:
        """Return the tables of a file with the values that were identified, and a comment for each value."""
        tables: dict[str, Any] = {}
        comments: dict[tuple[Any, ...], str] = {}
        verdicts = {
            parameter: [each for each in result.verdicts if each.key == parameter.key] for parameter in self._parameters
        }
        for parameter, own in verdicts.items():
            kept = np.array([each.value if each.is_kept else each.start for each in own])
            parameter.write(np.tile(kept, (self.simulation.world_count, 1)))
        for parameter, own in verdicts.items():
            if any(each.is_kept for each in own):
                texts = [_comment(each) for each in own]
                parameter.write_tables(tables, comments, texts)
        return tables, comments


def _comment(verdict: FitVerdict) -> str:
    """Return what a file says of a value."""
    if verdict.is_identified:
        return f"± {verdict.half_width:.2g}"
    return ", ".join([verdict.verdict, *(f"coupled to {each}" for each in verdict.coupled)])


def _named(points: Iterator[Point]) -> Iterator[Point]:
    """Yield points; an error says what diverges."""
    try:
        yield from points
    except FloatingPointError as error:
        raise SimulationError(_DIVERGES) from error
