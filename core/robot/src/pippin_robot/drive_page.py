"""Files of a drive: its summary, and a page of what the robot did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from pippin import SimulationConfig
from pippin.config import dump_toml
from pippin.recording import Recording
from pippin.report import Chart, Line, Markup, element, folded, heading, noted, page, section, table
from pippin.studies import RunFolder

from .drive_result import DriveResult

_COLUMNS = 2000
"""Most columns of a chart."""


def write_drive(
    folder: RunFolder, name: str, config: SimulationConfig, facts: Mapping[str, Any], result: DriveResult
) -> None:
    """Write `summary.json` and `report.html` of a drive.

    Args:
        folder: The run folder, which has the recording.
        name: Name of the file.
        config: Its configuration.
        facts: What ran, as in the summary of a run.
        result: What the drive did.
    """
    folder.write_summary({**facts, "robot": result.summary()})
    with Recording(folder.path / "series.npz") as recording:
        body = [*_body(name, result, recording["joint_q"].units), *_charts(recording, config)]
    body.append(section("Settings", folded("config.toml, with every default", element("pre", dump_toml(config)))))
    folder.write_text("report.html", page(f"{name}: drive", body))


def _body(name: str, result: DriveResult, units: Sequence[str]) -> Iterator[Markup]:
    badge = ("bad", "stopped by safety") if result.is_stopped_by_safety else ("good", "finished")
    title = element("h1", name, element("span", badge[1], class_=f"badge {badge[0]}"))
    tiles = {
        "moved by": result.what,
        "time": f"{result.seconds:.1f} s",
        "rate": f"{result.rate:.2f} Hz",
        "late, p99.9": f"{1e3 * result.late.get('p99.9', 0.0):.2f} ms",
        "read and write, p50": f"{1e3 * result.round_trip.get('p50', 0.0):.2f} ms",
        "without a reading": str(result.lost),
        "scheduler": result.scheduler,
    }
    yield heading(title, f"the robot is left: {result.left}", tiles)
    if result.fault is not None:
        yield element("div", result.fault, class_="box bad" if result.is_stopped_by_safety else "box note")
    yield section("Notes", noted({"robot": list(result.notes)}) if result.notes else None, id="notes")
    rows = [(kind, joint, f"{count:,}") for kind, each in result.limited.items() for joint, count in each.items()]
    yield section("Limits that acted", table(["limit", "joint", "periods"], rows) if rows else None, id="limits")
    yield section("Driver", table(["number", "count"], [(key, str(value)) for key, value in result.counts.items()]))
    apart = [(name, f"{value:.4g} {unit}") for (name, value), unit in zip(result.residual.items(), units, strict=False)]
    yield section("Measured less expected", table(["joint", "RMS"], apart) if apart else None, id="shadow")


def _charts(recording: Recording, config: SimulationConfig) -> Iterator[Markup]:
    stride = max(1, -(-len(recording.time) // _COLUMNS))
    times, charts = np.asarray(recording.time)[::stride], []
    if len(times) < 2:
        return
    labels = recording["joint_q"].labels
    targets: dict[str, np.ndarray] = {}
    for name in recording:
        if name.endswith("/position_targets"):
            targets |= {each: recording[name].values[::stride, 0, k] for k, each in enumerate(recording[name].labels)}
    positions = recording["joint_q"].values[::stride, 0]
    for number, label in enumerate(labels):
        lines, values = [Line(name="measured", color=0), Line(name="target", color=1, style="dashed")], []
        values = [positions[:, number], targets[label]]
        if "shadow/position" in recording:
            lines.append(Line(name="expected", color=2, style="dotted"))
            values.append(recording["shadow/position"].values[::stride, 0, number])
        charts.append(_chart(label.rpartition("/")[2], recording["joint_q"].units[number], lines, times, values))
    late = [1e3 * recording[f"robot/{name}"].values[::stride, 0] for name in ("late", "round_trip")]
    lines = [Line(name="late", color=0), Line(name="read and write", color=1)]
    charts.append(_chart("periods", "ms", lines, times, late))
    for name in ("temperature", "voltage", "current"):
        values = recording[f"robot/{name}"].values[::stride, 0]
        if np.isfinite(values).any():
            own = [Line(name=each.rpartition("/")[2], color=k) for k, each in enumerate(labels)]
            charts.append(_chart(name, recording[f"robot/{name}"].units[0], own, times, list(values.T)))
    yield section("Series", *(each.figure() for each in charts), id="series")


def _chart(title: str, unit: str, lines: Any, times: np.ndarray, values: Any) -> Chart:
    whole = np.stack(values)[None, :, :, None].astype(np.float32)
    return Chart(
        title=title, unit=unit, lines=lines, times=times, values=whole, gaps=np.zeros((1, len(lines)), dtype=int)
    )
