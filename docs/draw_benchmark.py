"""Draw the diagrams of the page *Ten solvers in one diagram*, and write its table, from results of `pippin benchmark`.

`uv run --group dev python docs/draw_benchmark.py FOLDER...`, where later folders replace rows of earlier ones.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from pippin.catalog.entries import Catalog
from pippin.precision.benchmark import load_scene
from pippin.precision.diagram import diagram
from pippin.precision.result import Benchmark, BenchmarkRow
from pippin.runs.report.markup import Markup, element, joined

ROOT = Path(__file__).parent
PAGE = ROOT / "explanation" / "ten-solvers.md"

DRAWN = {
    "ten_solvers.svg": ("large-pendulum", "double-pendulum", "free-top", "four-bar", "sliding-block", "stack"),
    "ten_solvers_matter.svg": ("hanging-cloth", "quadruped-drop"),
}
"""Scenes of each image; one is drawn if the results have all of its scenes."""

COLORS = ("#2f6fd0", "#e0701a", "#2a9a4a", "#c9342f", "#8a55c4", "#8d5f4a", "#d0549f", "#6b7480", "#a8930a", "#1597a8")

WIDTH, HEIGHT, TITLE, LEGEND = 440, 300, 26, 22


def read(folders: list[Path]) -> Benchmark:
    """Return the results of the folders as one; the rows of a solver in a scene are those of the last folder."""
    rows: dict[tuple[str, str], list[BenchmarkRow]] = {}
    summaries = [json.loads((folder / "benchmark.json").read_text(encoding="utf-8")) for folder in folders]
    for summary in summaries:
        own: dict[tuple[str, str], list[BenchmarkRow]] = {}
        for row in summary["rows"]:
            among = {int(worlds): cost for worlds, cost in row["cost_among"].items()}
            made = BenchmarkRow(**{**row, "cost_among": among, "ignored": tuple(row["ignored"])})
            own.setdefault((made.solver, made.scene), []).append(made)
        rows |= own
    names = list(dict.fromkeys(scene for _, scene in rows))
    return Benchmark(
        rows=tuple(row for key in sorted(rows) for row in rows[key]),
        scenes={name: type(load_scene(name)) for name in names},
        machine=summaries[0]["machine"],
        seconds=sum(summary["seconds"] for summary in summaries),
        folder=folders[0],
    )


def drawing(found: Benchmark, scenes: Sequence[str]) -> Markup:
    """Return the diagrams side by side, with a legend, as one file."""
    lines = {
        scene: {
            each.name: [(row.cost, max(row.error, 1e-9)) for row in each.finished if row.cost and row.error is not None]
            for each in found.series(scene)
            if each.finished
        }
        for scene in scenes
    }
    names = sorted({name for each in lines.values() for name in each})
    colors = {name: index for index, name in enumerate(names)}
    parts = [element("style", style()), element("rect", width="100%", height="100%", fill="#ffffff")]
    for index, scene in enumerate(scenes):
        x, y = (index % 2) * WIDTH, (index // 2) * (HEIGHT + TITLE)
        unit = found.scenes[scene].unit
        drawn = diagram(
            lines[scene],
            colors,
            "cost of a simulated second [s]",
            "relative error" if unit == "1" else f"error [{unit}]",
        )
        placed = drawn.replace("<svg", f'<svg x="{x}" y="{y + TITLE}" width="{WIDTH}" height="{HEIGHT}"', 1)
        parts += [element("text", scene, x=x + 58, y=y + 18, class_="title"), Markup(placed)]
    top = (len(scenes) + 1) // 2 * (HEIGHT + TITLE) + 18
    for index, name in enumerate(names):
        x, y = 20 + (index % 4) * 215, top + (index // 4) * LEGEND
        parts += [
            element(
                "line",
                x1=x,
                x2=x + 24,
                y1=y - 4,
                y2=y - 4,
                stroke=f"var(--c{index % 10})",
                stroke_width=2.5,
                stroke_dasharray=("", "5 3", "2 3")[index // 10 % 3] or None,
            ),
            element("text", name, x=x + 30, y=y),
        ]
    height = top + (len(names) + 3) // 4 * LEGEND
    head = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {2 * WIDTH} {height}"}
    return element("svg", joined(parts), **head)


def style() -> Markup:
    """Return the style of the file."""
    variables = "".join(f"--c{index}:{color};" for index, color in enumerate(COLORS))
    return Markup(
        f"svg{{{variables}font:11px sans-serif}}text{{fill:#5f6b7d}}.grid{{stroke:#e9ecf1}}"
        ".title{font-weight:600;font-size:13px;fill:#1b2230}"
    )


def table(found: Benchmark) -> str:
    """Return the largest steps that hold, in milliseconds, a row for each scene and a column for each solver."""
    names = sorted({row.name for row in found.rows if row.outcome != "unable"})
    lines = [
        "| scene | " + " | ".join(f"`{name}`" for name in names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for scene in sorted(found.scenes):
        by_name = {each.name: each for each in found.series(scene)}
        cells = []
        for name in names:
            each = by_name.get(name)
            held = None if each is None else each.largest_step
            cells.append("" if each is None else each.outcome if held is None else f"{1e3 * held:g}")
        lines.append(f"| {scene} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(folders: list[Path]) -> None:
    """Write the images, and the table if the results have all of its scenes."""
    found = read(folders)
    for name, scenes in DRAWN.items():
        if found.scenes.keys() >= {*scenes}:
            (ROOT / "images" / name).write_text(drawing(found, scenes), encoding="utf-8")
    if not found.scenes.keys() >= {*Catalog.installed().names("scene")}:
        return
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- begin: held -->", "<!-- end: held -->"
    text = re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n\n{table(found)}\n\n{end}", page, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
