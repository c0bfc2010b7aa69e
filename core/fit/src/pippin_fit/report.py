"""Page of a fit: a verdict for each value, the signals before and after, and the iterations."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.console import new_table
from pippin.report import Axis, Chart, Line, Markup, element, folded, heading, section, table
from rich.table import Table

from .result import FitResult, Trace
from .verdicts import FitVerdict, is_explained, is_refuted, is_worse

_CHARTS = 24
"""Most charts of signals."""

_ALIKE = 1.05

_LINES = [Line(name="measured", color=0), Line(name="file", color=1, style="dotted"), Line(name="found", color=2)]


def fit_page(result: FitResult, file: Path) -> Iterator[Markup]:
    """Yield the parts of the page of a fit of a file."""
    spectra = residual_spectra(result.traces, result.joints, result.noise)
    tiles = {
        "identified": f"{sum(each.is_identified for each in result.verdicts)} of {len(result.verdicts)}",
        "residual, with the file": f"{result.costs[0]:.3g} σ",
        "residual, found": f"{result.costs[-1]:.3g} σ",
        "validation": "none" if result.validation is None else "{:.3g} → {:.3g} σ".format(*result.validation),
        "rollouts": str(result.rollouts),
        "wall time": f"{result.seconds:.1f} s",
    }
    yield heading(f"Fit of {file.name}", play_command(result), tiles)
    yield section("Parameters", element("p", _judgement(result)), table(HEADS, rows(result), numeric=2))
    groups = _groups(result.traces)
    shown = f"The first {_CHARTS} of {len(groups)}." if len(groups) > _CHARTS else "All signals of all logs."
    yield section("Signals", element("p", shown), [*_signals(groups)])
    texts = (element("p", text) for text in _left(spectra))
    yield section("What was left", *texts, [_spectrum(each) for each in spectra])
    yield section("How the values hang together", *_coupling(result))
    yield section("Iterations", [_iterations(result)], element("p", _ending(result)))


def play_command(result: FitResult) -> str:
    """Return the command that runs the file with the identified values."""
    return shlex.join(["pippin", "run", str(result.file)])


def _ending(result: FitResult) -> str:
    if not result.ends:
        return f"{result.ended}."
    alike = sum(end <= _ALIKE * result.ends[0] for end in result.ends)
    return f"{result.ended}. {alike} of {len(result.ends)} starts ended within 5 % of the lowest residual."


HEADS = ("parameter", "joint", "file", "found", "± 95 %", "by blocks", "verdict")
"""Heads of the table of parameters."""


def rows(result: FitResult) -> list[tuple[str, ...]]:
    """Return a row of texts for each value."""
    return [
        (
            each.key,
            each.name,
            f"{each.start:.5g}",
            f"{each.value:.5g}",
            f"{each.half_width:.2g}",
            "" if each.block_half_width is None else f"{each.block_half_width:.2g}",
            each.verdict + (f", coupled to {' and '.join(each.coupled)}" if each.coupled else ""),
        )
        for each in result.verdicts
    ]


_HINT = ' Windows start from measured states and their noise: fit.start = "estimated" tells whether that is it.'


def _judgement(result: FitResult) -> str:
    return _validated(result) if result.is_explained else f"{_unexplained(result)} {_validated(result)}"


def _validated(result: FitResult) -> str:
    if result.validation is None:
        return (
            "No window was left for validation: a small residual proves nothing by itself. Set fit.validation, or fit"
            " to more logs."
        )
    before, after = result.validation
    hint = _HINT if result.start == "measured" else ""
    if is_worse(result.validation):
        return (
            f"The windows that the fit did not see are met worse than before ({before:.3g} σ, now {after:.3g} σ): the"
            f" model lacks something, or the fit explains noise. Do not use these values.{hint}"
        )
    text = f"The windows that the fit did not see had a residual of {before:.3g} σ, and now have {after:.3g} σ."
    if not is_refuted(result.validation):
        return text
    return (
        f"{text} The validation fails: the model lacks something that is larger than the noise; half of what is left"
        f" lies {_bands(result)}.{hint}"
    )


def _bands(result: FitResult) -> str:
    spectra = residual_spectra(result.traces, result.joints, result.noise)
    return ", ".join(f"of {each.signal} between {each.band[0]:.3g} and {each.band[1]:.3g} Hz" for each in spectra)


def _unexplained(result: FitResult) -> str:
    text = f"The model does not explain the logs: a residual of {result.costs[-1]:.3g} σ is left, half of it lies"
    cure = "set fit.interpolation for commands between the samples, let signals.delay vary, or extend the model"
    if result.delay is not None:
        delay, residual = result.delay
        tried = f'with fit.interpolation = "linear" and signals.delay = {delay:.3g} s, the residual is {residual:.3g} σ'
        cure = f"{tried}; " + (
            "let signals.delay vary" if is_explained(residual) else "a delay is not it: the model lacks something"
        )
    hint = _HINT if result.start == "measured" and not is_refuted(result.validation) else ""
    return f"{text} {_bands(result)}. Do not use these values: {cure}.{hint}"


def _groups(traces: Sequence[Trace]) -> dict[tuple[str, str, str], list[Trace]]:
    groups: dict[tuple[str, str, str], list[Trace]] = {}
    for trace in traces:
        groups.setdefault((trace.log, trace.joint, trace.signal), []).append(trace)
    return groups


def _signals(groups: Mapping[tuple[str, str, str], list[Trace]]) -> Iterator[Chart]:
    for (log, joint, signal), own in list(groups.items())[:_CHARTS]:
        own.sort(key=lambda trace: trace.times[0])
        gap = np.full((1, 3), np.nan)
        values = np.concatenate([part for trace in own for part in (trace.values, gap)])[:-1]
        times = np.concatenate([part for trace in own for part in (trace.times, trace.times[-1:])])[:-1]
        unseen = [trace for trace in own if trace.is_validation]
        note = Path(log).name + (f"; validation from {unseen[0].times[0]:.3g} s" if unseen else "")
        yield Chart.of(f"{joint}: {signal}", dict(zip(_LINES, values.T, strict=True)), times, own[0].unit, note=note)


def _left(spectra: Sequence[ResidualSpectrum]) -> Iterator[str]:
    for each in spectra:
        low, high = each.band
        text = f"{each.signal}: half of what is left lies between {low:.3g} and {high:.3g} Hz."
        if each.is_white:
            yield f"{text} Neighbouring residuals share little: what is left looks like noise."
        else:
            yield (
                f"{text} Neighbouring residuals are alike (correlation {each.correlation:.2f}): the model lacks"
                " something there, and the interval ± 95 % is too narrow. Take the one by blocks."
            )


def _spectrum(spectrum: ResidualSpectrum) -> Chart:
    kept = slice(1, None)  # the mean is no oscillation
    power = np.maximum(spectrum.power[kept], 1e-12)
    return Chart.of(
        f"Spectrum of the residuals: {spectrum.signal}",
        dict(zip(_LINES[1:], power.T, strict=True)),
        Axis.of([f"{each:.3g} Hz" for each in spectrum.frequencies[kept]]),
        "1 is white noise as assumed",
        is_logarithmic=True,
    )


def _coupling(result: FitResult) -> Iterator[Any]:
    if not result.correlated:
        yield element("p", "No value was fitted.")
        return
    yield element("p", "The residuals would hardly notice if these changed together, the weakest direction first:")
    yield element("ul", *(element("li", each) for each in result.directions))
    numbers = [str(number + 1) for number in range(len(result.correlated))]
    cells = [
        (f"{number}: {name}", *(f"{each:.2f}" for each in row))
        for number, name, row in zip(numbers, result.correlated, result.correlations, strict=True)
    ]
    yield folded("Correlation of each value with each", table(("value", *numbers), cells, numeric=1))


def _iterations(result: FitResult) -> Chart:
    axis = Axis.of([str(number) for number in range(len(result.costs))])
    is_logarithmic = min(result.costs) > 0.0
    lines = {"residual": result.costs}
    return Chart.of("Residual before each iteration", lines, axis, "σ", is_logarithmic=is_logarithmic)


def summary_lines(result: FitResult) -> Iterator[str]:
    """Yield the lines that a terminal shows."""
    texts: list[tuple[Any, ...]] = [HEADS, *rows(result)]
    widths = [max(len(str(text[column])) for text in texts) for column in range(len(HEADS) - 1)]
    for text in texts:
        yield "  ".join([*(f"{cell:<{width}}" for cell, width in zip(text[:-1], widths, strict=True)), text[-1]])
    if result.ends:
        yield _ending(result)
    yield _judgement(result)


def expectations(verdicts: Iterable[FitVerdict]) -> Table:
    """Return a table of what logs can tell of each value."""
    shown = new_table("parameter", "joint", "file", "expected ± 95 %", "verdict")
    for each in verdicts:
        coupled = f", coupled to {' and '.join(each.coupled)}" if each.coupled else ""
        shown.add_row(each.key, each.name, f"{each.start:.5g}", f"{each.half_width:.2g}", each.verdict + coupled)
    return shown


_WHITE = 0.2
"""Correlation of neighbouring residuals from which on they are not white."""


@attrs.frozen(kw_only=True, eq=False)
class ResidualSpectrum:
    """Power of the residuals of a signal by frequency: white noise of the assumed size has 1 everywhere."""

    signal: str
    """`position` or `velocity`."""

    frequencies: np.ndarray
    """Frequencies [Hz], shape [frequencies]."""

    power: np.ndarray
    """Power with the values of the file, and with the found ones, shape [frequencies, 2]."""

    correlation: float
    """Mean correlation of neighbouring residuals, with the values that were found."""

    @property
    def is_white(self) -> bool:
        """Whether neighbouring residuals share little."""
        return abs(self.correlation) < _WHITE

    @property
    def band(self) -> tuple[float, float]:
        """The narrowest band from one frequency to another that has half of the power that was left [Hz]."""
        power = self.power[:, 1]
        sums = np.concatenate([[0.0], np.cumsum(power)])
        ends = np.searchsorted(sums, sums[:-1] + 0.5 * sums[-1] * (1.0 - 1e-9))
        widths = np.where(ends < len(sums), ends - np.arange(len(power)), len(sums))
        first = int(widths.argmin())
        return float(self.frequencies[first]), float(self.frequencies[first + widths[first] - 1])


def residual_spectra(
    traces: Sequence[Trace], joints: Sequence[str], noise: Mapping[str, Sequence[float]]
) -> list[ResidualSpectrum]:
    """Return the mean spectrum of each signal, over joints and windows of the same length, with Hann's window.

    The noise is the standard deviation of each joint, by signal.
    """
    found = []
    for signal in noise:
        own = [trace for trace in traces if trace.signal == signal]
        lengths = np.bincount([len(trace.times) for trace in own])
        length = int(lengths.argmax()) if len(lengths) else 0
        own = [trace for trace in own if len(trace.times) == length]
        if length < 8:
            continue
        sizes = np.array([noise[signal][joints.index(trace.joint)] for trace in own])
        values = np.stack([trace.values for trace in own])
        residuals = (values[:, :, 1:] - values[:, :, :1]) / sizes[:, None, None]
        taper = np.hanning(length + 2)[1:-1]
        power = np.abs(np.fft.rfft(residuals * taper[:, None], axis=1)) ** 2 / (taper**2).sum()
        last = residuals[:, :, 1] - residuals[:, :, 1].mean(axis=1, keepdims=True)
        shared = (last[:, 1:] * last[:, :-1]).sum() / max(float((last**2).sum()), 1e-300)
        period = float(np.median(np.diff(own[0].times)))
        found.append(
            ResidualSpectrum(
                signal=signal,
                frequencies=np.fft.rfftfreq(length, period),
                power=power.mean(axis=0),
                correlation=float(shared),
            )
        )
    return found
